/** The rate of differences per bin of each feature, as small multiples on one scale; the features that deviate most first. */

import { useComputed, useSignal } from "@preact/signals";
import { type Rates, ratesGiven, ratesHere } from "../../lib/failures";
import type { Cohort, Judge } from "../../lib/selection";
import { counted, featureName, grouped, percent } from "../../lib/text";
import { useStore } from "../../store";

const AT_ONCE = 8;
const MOST_BINS = 16;
/** The rate of a bin with fewer rows says little. */
const FEW_ROWS = 20;

interface Props {
  pair: readonly [Judge, Judge];
  isOfAll: boolean;
  onChoose: (cohort: Cohort) => void;
}

export function FailureMap({ pair: [a, b], isOfAll, onChoose }: Props) {
  const store = useStore();
  const isOpen = useSignal(false);
  const { differences } = store.payload;
  const { table } = store;
  const isGiven = isOfAll && differences?.against === a && b === "rules" && !store.isEdited.value;
  const { features } = store.original;
  const here = useComputed(() => (differences === undefined || table === null ? [] : ratesHere(differences, features, table, store.rowsOf({ kind: "differ", a, b }))));
  if (differences === undefined || table === null) return null;
  const rates = (isGiven ? ratesGiven(differences, features) : here.value).filter((one) => one.bins.length > 1);
  const shown = rates.slice(0, isOpen.value ? rates.length : AT_ONCE);
  const all = rates[0]?.bins ?? [];
  const nRows = all.reduce((sum, bin) => sum + bin.nRows, 0);
  const common = nRows === 0 ? 0 : all.reduce((sum, bin) => sum + bin.nDiffer, 0) / nRows;
  const highest = Math.max(common, 1e-9, ...shown.flatMap((one) => drawn(one).filter((bin) => bin.nRows >= FEW_ROWS).map((bin) => bin.nDiffer / bin.nRows)));
  if (common === 0) return null;
  return (
    <section aria-labelledby="failure-map">
      <h2 id="failure-map">Differences by feature</h2>
      <div class="multiples">
        {shown.map((one) => (
          <Multiple key={one.feature} rates={one} common={common} highest={highest} onBin={(bin) => onChoose({ kind: "bin", feature: one.feature, bin, a, b })} />
        ))}
      </div>
      <p class="quiet">
        Fraction of rows that differ, per bin with about equally many rows or per category; all on one scale, up to {percent(highest, 0)}. Dashed: {percent(common)} of {counted(nRows, "row")}
        {isGiven || table.nRows === table.nTotal ? "" : " in this page"}. Grey: fewer than {FEW_ROWS} rows. A bar opens the rows that differ.
      </p>
      {rates.length > AT_ONCE && (
        <button type="button" onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? "Fewer features" : `${grouped(rates.length - AT_ONCE)} more features`}
        </button>
      )}
    </section>
  );
}

/** The bins that are drawn: of many categories those with most rows. */
function drawn({ bins }: Rates): Rates["bins"] {
  return bins.length <= MOST_BINS ? bins : [...bins].sort((x, y) => y.nRows - x.nRows).slice(0, MOST_BINS);
}

function Multiple({ rates, common, highest, onBin }: { rates: Rates; common: number; highest: number; onBin: (bin: number) => void }) {
  const name = featureName(useStore().original.features[rates.feature]);
  const bins = drawn(rates);
  const width = 1 / bins.length;
  const sure = bins.filter((bin) => bin.nRows >= FEW_ROWS);
  const worst = [...(sure.length > 0 ? sure : bins)].sort((x, y) => y.nDiffer / y.nRows - x.nDiffer / x.nRows)[0];
  const text = (bin: Rates["bins"][number]) => `${bin.name}: ${percent(bin.nDiffer / bin.nRows)} differ (${grouped(bin.nDiffer)} of ${counted(bin.nRows, "row")})`;
  return (
    <figure class="multiple">
      <figcaption title={name}>{name}</figcaption>
      <svg viewBox="0 0 1 1" preserveAspectRatio="none" role="img" aria-label={`${name}: most at ${text(worst)}`}>
        {bins.map((bin, i) => {
          const height = Math.min(1, bin.nDiffer / bin.nRows / highest);
          return (
            <g key={bin.name} onClick={() => onBin(bin.bin)}>
              <title>{text(bin)}</title>
              <rect class="rate-back" x={i * width} width={width} height="1" />
              <rect class={bin.nRows < FEW_ROWS ? "rate-few" : "rate"} x={(i + 0.08) * width} width={0.84 * width} y={1 - height} height={height} />
            </g>
          );
        })}
        <line class="rate-line" x1="0" x2="1" y1={1 - common / highest} y2={1 - common / highest} />
      </svg>
      <p class="quiet">
        <button type="button" class="plain" title={`${text(worst)}; show these rows`} onClick={() => onBin(worst.bin)}>
          {worst.name}: {percent(worst.nDiffer / worst.nRows, 0)}
        </button>
      </p>
    </figure>
  );
}
