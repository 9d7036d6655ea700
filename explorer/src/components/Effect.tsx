/** Measures before and after an edit, side by side. */

import type { Measured } from "../lib/measures";
import { grouped, percent } from "../lib/text";

interface Props {
  label: string;
  before: Measured;
  after: Measured;
  /** Further counts, such as rules: name, before, after. */
  counts?: readonly (readonly [string, number, number])[];
}

export function Effect({ label, before, after, counts = [] }: Props) {
  const shares = (["fidelity", "accuracy", "coverage"] as const).flatMap((name) => {
    const [old, newer] = [before[name], after[name]];
    return old === null || newer === null ? [] : [[name, old, newer] as const];
  });
  return (
    <dl class="effect" aria-label={label}>
      {shares.map(([name, old, newer]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {old !== newer && <span class="quiet">{percent(old, 2)} → </span>}
            <strong>{percent(newer, 2)}</strong> <Difference by={100 * (newer - old)} />
          </dd>
        </div>
      ))}
      {counts.map(([name, old, newer]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {old !== newer && <span class="quiet">{grouped(old)} → </span>}
            <strong>{grouped(newer)}</strong>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The difference in percentage points, shown by sign and words, not by colour alone. */
function Difference({ by }: { by: number }) {
  const shown = by.toFixed(2);
  if (Number(shown) === 0) return <span class="quiet">{by === 0 ? "unchanged" : "about the same"}</span>;
  return <span class={by > 0 ? "better" : "worse"}>{by > 0 ? `▲ +${shown}` : `▼ −${shown.slice(1)}`}</span>;
}
