/** How often the rules decide as the network and as the truth say, beside the baseline, on one axis; and per class. */

import { useSignal } from "@preact/signals";
import { ClassChip } from "../../components/ClassMark";
import { colourOf } from "../../lib/colours";
import type { Cohort } from "../../lib/selection";
import { intervalText } from "../../lib/intervals";
import { type Agreement, agreementBetween } from "../../lib/story";
import { counted, formatLabel, grouped, percent } from "../../lib/text";
import { type Store, useStore } from "../../store";

interface Bar {
  name: string;
  part: number;
  interval: readonly [number, number] | null;
  kind: "baseline" | "rules" | "network";
}

export function Agreements() {
  const store = useStore();
  if (store.whyUnknown.value !== null) return null;
  const asNetwork = agreementBetween(store, "network", "rules");
  const asTruth = agreementBetween(store, "truth", "rules");
  const network = agreementBetween(store, "truth", "network");
  if (asNetwork === null && asTruth === null) return null;
  const own = (found: Agreement): Bar[] => [
    { name: `always ${formatLabel(found.baselineClass)}`, part: found.baseline, interval: null, kind: "baseline" },
    { name: "rules", part: found.part, interval: found.interval, kind: "rules" },
  ];
  return (
    <section class="card" aria-labelledby="agreements">
      <h2 id="agreements">Baseline, rules{asTruth !== null && network !== null ? ", network" : ""}</h2>
      {asNetwork !== null && <Group title="decide as the network does" bars={[...own(asNetwork), ...(asTruth === null ? [whole] : [])]} />}
      {asTruth !== null && <Group title="are right by the true classes" bars={[...own(asTruth), ...(network === null ? [] : [{ name: "network", part: network.part, interval: network.interval, kind: "network" as const }])]} />}
      <p class="quiet">{basisOf(store, asNetwork ?? asTruth)}</p>
    </section>
  );
}

const whole: Bar = { name: "network", part: 1, interval: null, kind: "network" };

function basisOf(store: Store, found: Agreement | null): string {
  if (found === null) return "";
  const { table } = store;
  if (found.isOfAll || table === null) return `On all ${counted(found.nRows, "row")} given; whiskers are 95 % intervals.`;
  const before = store.payload.measures?.fidelity ?? store.payload.measures?.accuracy;
  const unedited = before == null ? "" : ` Before the edits: ${percent(before)} on all ${grouped(table.nTotal)} rows.`;
  return `With the edits, on the ${grouped(found.nRows)} rows in this page; whiskers are 95 % intervals.${unedited}`;
}

function Group({ title, bars }: { title: string; bars: readonly Bar[] }) {
  return (
    <figure class="agreements">
      <figcaption>{title}</figcaption>
      <ul>
        {bars.map(({ name, part, interval, kind }) => (
          <li key={kind}>
            <span class="agreement-name">{name}</span>
            <span class="agreement-axis" aria-hidden="true">
              <span class={`agreement-bar is-${kind}`} style={{ width: `${100 * part}%` }} />
              {interval !== null && <span class="whisker" style={{ left: `${100 * interval[0]}%`, width: `${100 * (interval[1] - interval[0])}%` }} />}
            </span>
            <span class="number">
              {percent(part)} {interval !== null && <span class="quiet">({intervalText(interval)})</span>}
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

// --- Per class ---

const MOST_CLASSES = 10;

export function ClassBars() {
  const store = useStore();
  const isOpen = useSignal(false);
  const found = store.whyUnknown.value !== null ? null : (agreementBetween(store, "network", "rules") ?? agreementBetween(store, "truth", "rules"));
  if (found === null) return null;
  const { a } = found;
  const names = [...store.original.classes, ...(store.table?.[a === "network" ? "network" : "truth"]?.names.slice(store.original.classes.length) ?? [])];
  // Of many classes the weakest are worth seeing.
  const sorted = found.classes.length > MOST_CLASSES ? [...found.classes].sort((x, y) => x.part - y.part || x.place - y.place) : found.classes;
  const shown = isOpen.value ? sorted : sorted.slice(0, MOST_CLASSES);
  const open = (cohort: Cohort) =>
    store.address.step(() => {
      store.address.param("dis.pair").value = `${a}-rules`;
      store.address.param("dis.cell").value = `missed.${a}.${cohort.kind === "missed" ? cohort.i : 0}.rules`;
      store.show("disagreement", { kind: "cohort", cohort });
    });
  return (
    <section class="card" aria-labelledby="per-class">
      <h2 id="per-class">Agreement per class{a === "network" ? " of the network" : ""}</h2>
      <ul class="bars class-bars">
        {shown.map(({ place, part, nRows, interval, label }) => (
          <li key={place}>
            <button type="button" class="plain" title={`Show the rows of ${formatLabel(label)} on which the rules differ`} onClick={() => open({ kind: "missed", a, i: place, b: "rules" })}>
              <ClassChip index={place} names={names} />
            </button>
            <span class="agreement-axis" aria-hidden="true">
              <span class={`bar by-class ${colourOf(place)}`} style={{ width: `${100 * part}%` }} />
              <span class="whisker" style={{ left: `${100 * interval[0]}%`, width: `${100 * (interval[1] - interval[0])}%` }} />
            </span>
            <span class="number">{percent(part)}</span>
            <span class="quiet number">{counted(nRows, "row")}</span>
          </li>
        ))}
      </ul>
      {sorted.length > MOST_CLASSES && (
        <button type="button" onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? "Only the weakest" : `All ${sorted.length} classes`}
        </button>
      )}
      <p class="quiet">A class opens the rows on which the rules differ.</p>
    </section>
  );
}
