/**
 * Rules × features: each term as the range of its feature that it accepts, over the feature's histogram.
 * Only visible cells are in the document, in both directions.
 */

import { useEffect } from "preact/hooks";
import { ConclusionChip } from "../../components/ClassMark";
import { TermStrip } from "../../components/TermStrip";
import { keepInSight, linesInSight, useViewport } from "../../components/viewport";
import { moved } from "../../components/VirtualTable";
import { axisOf } from "../../lib/axis";
import { describeCondition, describeTerm, formatName, MOST_CATEGORIES, shortNumber } from "../../lib/text";
import { useStore } from "../../store";

const [ROW, COLUMN, HEAD] = [32, 118, 58];
/** The column of rule numbers and classes. */
const [SIDE_WIDE, SIDE_NARROW] = [150, 104];
const MARGIN = 3;

interface Props {
  places: readonly number[];
  active: number;
  onActivate: (row: number) => void;
}

export function RuleMatrix({ places, active, onActivate }: Props) {
  const store = useStore();
  const set = store.rules.value;
  const { box, view, measure } = useViewport();
  useEffect(() => keepInSight(box.current, active, ROW, HEAD), [active, places.length]);

  const side = view.width < 500 ? SIDE_NARROW : SIDE_WIDE;
  // The features of the listed rules, the most tested first.
  const uses = new Map<number, number>();
  for (const place of places) for (const term of set.rules[place].terms) uses.set(term.feature, (uses.get(term.feature) ?? 0) + 1);
  const features = byUse(uses);
  const columnOf = new Map(features.map((feature, column) => [feature, column]));

  const firstColumn = Math.max(0, Math.floor(view.left / COLUMN) - 1);
  const lastColumn = Math.min(features.length, Math.ceil((view.left + view.width) / COLUMN) + 1);
  const isInSight = (column: number) => column >= firstColumn && column < lastColumn;

  const move = (event: KeyboardEvent) => {
    if (event.target !== box.current) return;
    const target = moved(event.key, active, places.length, Math.max(1, Math.floor((view.height - HEAD) / ROW) - 1));
    if (target === null) return;
    event.preventDefault();
    onActivate(target);
  };
  const rows = linesInSight(view, ROW, places.length, MARGIN);
  return (
    <div
      class="matrix"
      role="grid"
      aria-label="Rules by features"
      aria-rowcount={places.length + 1}
      aria-colcount={features.length + 1}
      tabIndex={0}
      {...(rows.includes(active) ? { "aria-activedescendant": `matrix-${active}` } : {})}
      ref={box}
      onScroll={measure}
      onKeyDown={move}
    >
      <div class="matrix-inner" role="presentation" style={{ width: `${side + features.length * COLUMN}px`, height: `${HEAD + places.length * ROW}px` }}>
        <div class="matrix-head" role="row" aria-rowindex={1} style={{ height: `${HEAD}px` }}>
          <div class="matrix-corner" role="columnheader" aria-colindex={1} style={{ width: `${side}px` }}>
            Rule
          </div>
          {features.slice(firstColumn, lastColumn).map((feature, i) => (
            <FeatureHead key={feature} feature={feature} column={firstColumn + i} left={side + (firstColumn + i) * COLUMN} nRules={uses.get(feature) ?? 0} />
          ))}
        </div>
        {rows.map((row) => {
          const rule = set.rules[places[row]];
          return (
            <div
              key={rule.id}
              id={`matrix-${row}`}
              role="row"
              aria-rowindex={row + 2}
              aria-selected={row === active}
              class={row === active ? "matrix-row is-active" : "matrix-row"}
              style={{ transform: `translateY(${HEAD + row * ROW}px)`, height: `${ROW}px` }}
              onClick={() => onActivate(row)}
            >
              <div class="matrix-side" role="rowheader" aria-colindex={1} style={{ width: `${side}px` }}>
                <span class="number">{places[row]}</span> <ConclusionChip rule={rule} />
              </div>
              {rule.terms.map((term) => {
                const column = columnOf.get(term.feature) ?? 0;
                if (!isInSight(column)) return null;
                const text = describeTerm(term, set.features[term.feature]);
                return (
                  <div key={term.feature} role="gridcell" aria-colindex={column + 2} class="matrix-cell" title={text} style={{ left: `${side + column * COLUMN}px`, width: `${COLUMN}px` }}>
                    <span class="visually-hidden">{describeCondition(term, set.features[term.feature], MOST_CATEGORIES)}</span>
                    <TermStrip term={term} classIndex={rule.classIndex} width={COLUMN - 10} height={ROW - 8} />
                  </div>
                );
              })}
            </div>
          );
        })}
      </div>
      {places.length === 0 && <p class="table-empty">No rule matches these filters.</p>}
    </div>
  );
}

/** Features by the number of rules that test them, most first. */
function byUse(uses: ReadonlyMap<number, number>): number[] {
  return [...uses.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([feature]) => feature);
}

function FeatureHead({ feature, column, left, nRules }: { feature: number; column: number; left: number; nRules: number }) {
  const store = useStore();
  const name = formatName(store.rules.value.features[feature].name);
  const axis = axisOf(store, feature);
  return (
    <div class="matrix-feature" role="columnheader" aria-colindex={column + 2} title={`${name}: in ${nRules} of these rules`} style={{ left: `${left}px`, width: `${COLUMN}px` }}>
      <span class="matrix-name">{name}</span>
      <TermStrip term={null} feature={feature} classIndex={null} width={COLUMN - 10} height={18} />
      {axis.kind === "numeric" && (
        <span class="matrix-range" aria-hidden="true">
          <span>{shortNumber(Number(axis.ends[0].toPrecision(3)))}</span>
          <span>{shortNumber(Number(axis.ends[1].toPrecision(3)))}</span>
        </span>
      )}
    </div>
  );
}
