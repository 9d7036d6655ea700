/** Figures before and after an edit, side by side. */

import { changeText, type Figure, figureText } from "../lib/figures";

interface Props {
  label: string;
  before: readonly Figure[];
  after: readonly Figure[];
}

export function Effect({ label, before, after }: Props) {
  return (
    <dl class="effect" aria-label={label}>
      {after.map((newer) => {
        const old = before.find((figure) => figure.name === newer.name);
        if (old === undefined) return null;
        return (
          <div key={newer.name}>
            <dt>{newer.name}</dt>
            <dd>
              {!Object.is(old.value, newer.value) && <span class="quiet">{figureText(old)} → </span>}
              <strong>{figureText(newer)}</strong> {newer.better !== 0 && <Difference before={old} after={newer} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** The difference, shown by sign and words, not by colour alone; shares in percentage points. */
function Difference({ before, after }: { before: Figure; after: Figure }) {
  const { by, text } = changeText(before, after);
  if (!(Number(text.replaceAll(",", "")) > 0)) return <span class="quiet">{by === 0 || Number.isNaN(by) ? "unchanged" : "about the same"}</span>;
  return <span class={by * after.better > 0 ? "better" : "worse"}>{by > 0 ? `▲ +${text}` : `▼ −${text}`}</span>;
}
