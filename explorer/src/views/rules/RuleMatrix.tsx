/**
 * Rules × features: each term as the range of its feature that it accepts, over the feature's histogram, and what speaks
 * for the rule beside it. Only visible cells are in the document, in both directions.
 */

import { useEffect } from "preact/hooks";
import { ConclusionChip } from "../../components/ClassMark";
import { EvidenceBar } from "../../components/EvidenceBar";
import { TermStrip } from "../../components/TermStrip";
import { Tick } from "../../components/Tick";
import { keepInSight, linesInSight, useViewport } from "../../components/viewport";
import { moved } from "../../components/VirtualTable";
import { axisOf } from "../../lib/axis";
import { evidenceOf } from "../../lib/evidence";
import type { Rule } from "../../lib/rules";
import { describeCondition, describeTerm, featureName, MOST_CATEGORIES, percent, shortNumber } from "../../lib/text";
import { speaksAgainst, votesOf } from "../../lib/votes";
import { useStore } from "../../store";
import { paramsOf, sortBy, sortingOf } from "./listed";
import "../rules.css";

const [ROW, HEAD] = [40, 62];
const [LEAST_COLUMN, MOST_COLUMN] = [112, 230];
/** The column of rule numbers and classes, and those of the evidence. */
const [SIDE_WIDE, SIDE_NARROW, SUPPORT, WEIGHT] = [168, 118, 122, 70];
const MARGIN = 3;

interface Props {
  places: readonly number[];
  active: number;
  onActivate: (row: number) => void;
  label?: string;
  /** As high as its rows, without filters and ticks: a part of another view. */
  isPart?: boolean;
}

export function RuleMatrix({ places, active, onActivate, label = "Rules by features", isPart = false }: Props) {
  const store = useStore();
  const set = store.rules.value;
  const { box, view, measure } = useViewport();
  useEffect(() => keepInSight(box.current, active, ROW, HEAD), [active, places.length]);

  const isNarrow = view.width < 560;
  const side = isNarrow ? SIDE_NARROW : SIDE_WIDE;
  const first = side + (isNarrow ? 0 : SUPPORT + WEIGHT);
  // The features of the listed rules, the most tested first.
  const uses = new Map<number, number>();
  for (const place of places) for (const term of set.rules[place].terms) uses.set(term.feature, (uses.get(term.feature) ?? 0) + 1);
  const features = byUse(uses);
  const columnOf = new Map(features.map((feature, column) => [feature, column]));
  const COLUMN = Math.min(MOST_COLUMN, Math.max(LEAST_COLUMN, Math.floor((view.width - first) / Math.max(1, features.length))));

  const firstColumn = Math.max(0, Math.floor(view.left / COLUMN) - 1);
  const lastColumn = Math.min(features.length, Math.ceil((view.left + view.width - first) / COLUMN) + 1);
  const isInSight = (column: number) => column >= firstColumn && column < lastColumn;
  const toTheRight = (rule: Rule) => rule.terms.map((term) => columnOf.get(term.feature) ?? 0).filter((column) => first + (column + 0.6) * COLUMN > view.left + view.width);
  const scrollTo = (columns: readonly number[]) => {
    if (box.current !== null) box.current.scrollLeft = first + (Math.min(...columns) + 1) * COLUMN - view.width + 48;
  };

  const move = (event: KeyboardEvent) => {
    if (event.target !== box.current) return;
    if (event.key === " " && active >= 0 && !isPart) {
      const { id } = set.rules[places[active]];
      event.preventDefault();
      store.tick([id], !store.ticked.value.has(id));
      return;
    }
    const target = moved(event.key, active, places.length, Math.max(1, Math.floor((view.height - HEAD) / ROW) - 1));
    if (target === null) return;
    event.preventDefault();
    onActivate(target);
  };
  const rows = linesInSight(view, ROW, places.length, MARGIN);
  const evidence = new Map(rows.map((row) => [row, evidenceOf(store, places[row])]));
  const most = Math.max(1, ...Array.from(evidence.values(), (one) => one?.n ?? 0));
  const isWeighted = set.voting === "weights";
  return (
    <div
      class={isPart ? "matrix is-part" : "matrix"}
      role="grid"
      aria-label={label}
      aria-rowcount={places.length + 1}
      aria-colcount={features.length + 3}
      tabIndex={0}
      {...(rows.includes(active) ? { "aria-activedescendant": `${idOf(isPart)}-${active}` } : {})}
      {...(isPart ? { style: { height: `${HEAD + places.length * ROW + 18}px` } } : {})}
      ref={box}
      onScroll={measure}
      onKeyDown={move}
    >
      <div class="matrix-inner" role="presentation" style={{ width: `${first + features.length * COLUMN}px`, height: `${HEAD + places.length * ROW}px` }}>
        <div class="matrix-head" role="row" aria-rowindex={1} style={{ height: `${HEAD}px` }}>
          <div class="matrix-corner" role="columnheader" aria-colindex={1} style={{ width: `${side}px` }}>
            {isPart ? "Rule" : <SortButton sort="class" name="Rule" />}
          </div>
          {!isNarrow && (
            <>
              <div class="matrix-corner matrix-support" role="columnheader" aria-colindex={2} style={{ left: `${side}px`, width: `${SUPPORT}px` }}>
                {isPart ? "Support" : <SortButton sort={store.table === null ? "support" : "fires"} name="Support" />} <SortLegend isPart={isPart} />
              </div>
              <div class="matrix-corner matrix-weight" role="columnheader" aria-colindex={3} style={{ left: `${side + SUPPORT}px`, width: `${WEIGHT}px` }}>
                {isPart ? (isWeighted ? "Weight" : "Conf.") : <SortButton sort={isWeighted ? "weight" : "confidence"} name={isWeighted ? "Weight" : "Conf."} />}
              </div>
            </>
          )}
          {features.slice(firstColumn, lastColumn).map((feature, i) => (
            <FeatureHead key={feature} feature={feature} column={firstColumn + i} left={first + (firstColumn + i) * COLUMN} width={COLUMN} nRules={uses.get(feature) ?? 0} isPart={isPart} />
          ))}
        </div>
        {rows.map((row) => {
          const rule = set.rules[places[row]];
          const hidden = toTheRight(rule);
          return (
            <div
              key={rule.id}
              id={`${idOf(isPart)}-${row}`}
              role="row"
              aria-rowindex={row + 2}
              aria-selected={row === active}
              class={row === active ? "matrix-row is-active" : "matrix-row"}
              style={{ transform: `translateY(${HEAD + row * ROW}px)`, height: `${ROW}px` }}
              onClick={() => onActivate(row)}
            >
              <div class="matrix-side" role="rowheader" aria-colindex={1} style={{ width: `${side}px` }}>
                {!isPart && <Tick rule={rule} place={places[row]} />}
                <span class="number">{places[row]}</span> <ConclusionChip rule={rule} />
              </div>
              {!isNarrow && (
                <>
                  <div class="matrix-fact" role="gridcell" aria-colindex={2} style={{ left: `${side}px`, width: `${SUPPORT}px` }}>
                    <EvidenceBar evidence={evidence.get(row) ?? null} most={most} />
                  </div>
                  <div class="matrix-fact matrix-weight number" role="gridcell" aria-colindex={3} style={{ left: `${side + SUPPORT}px`, width: `${WEIGHT}px` }}>
                    {isWeighted ? shortNumber(votesOf(rule, set.voting)) : speaksAgainst(rule, set.voting) ? "–" : percent(rule.confidence)}
                  </div>
                </>
              )}
              {rule.terms.map((term) => {
                const column = columnOf.get(term.feature) ?? 0;
                if (!isInSight(column)) return null;
                const text = describeTerm(term, set.features[term.feature]);
                return (
                  <div key={term.feature} role="gridcell" aria-colindex={column + 4} class="matrix-cell" title={text} style={{ left: `${first + column * COLUMN}px`, width: `${COLUMN}px` }}>
                    <span class="matrix-text">{describeCondition(term, set.features[term.feature], MOST_CATEGORIES)}</span>
                    <TermStrip term={term} classIndex={rule.classIndex} width={COLUMN - 10} height={15} />
                  </div>
                );
              })}
              {hidden.length > 0 && (
                <span
                  class="matrix-more"
                  title={`${hidden.length} more to the right; click to see the next`}
                  style={{ left: `${view.left + view.width - 46}px` }}
                  onClick={(event) => {
                    event.stopPropagation();
                    scrollTo(hidden);
                  }}
                >
                  +{hidden.length} →
                </span>
              )}
            </div>
          );
        })}
      </div>
      {places.length === 0 && <p class="table-empty">No rule matches these filters.</p>}
    </div>
  );
}

function idOf(isPart: boolean): string {
  return isPart ? "strongest" : "matrix";
}

/** Features by the number of rules that test them, most first. */
function byUse(uses: ReadonlyMap<number, number>): number[] {
  return [...uses.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([feature]) => feature);
}

function SortButton({ sort, name }: { sort: string; name: string }) {
  const store = useStore();
  const now = sortingOf(store);
  const mark = now?.key !== sort ? "" : now.isDescending ? " ▼" : " ▲";
  return (
    <button type="button" class="plain" title={`Sort by ${name.toLowerCase()}`} onClick={() => sortBy(store, sort)}>
      {name}
      {mark}
    </button>
  );
}

function SortLegend({ isPart }: { isPart: boolean }) {
  const { table } = useStore();
  const who = table?.network != null ? "network" : table?.truth != null ? "truth" : null;
  return (
    <span class="matrix-legend">
      {who === null ? "training rows" : isPart ? `${who} agrees · differs` : <SortButton sort="agrees" name={`${who} agrees`} />}
    </span>
  );
}

interface HeadProps {
  feature: number;
  column: number;
  left: number;
  width: number;
  nRules: number;
  isPart: boolean;
}

function FeatureHead({ feature, column, left, width, nRules, isPart }: HeadProps) {
  const store = useStore();
  const name = featureName(store.rules.value.features[feature]);
  const axis = axisOf(store, feature);
  const filter = paramsOf(store).feature;
  const isFiltered = filter.value === String(feature);
  const toggle = () =>
    store.address.step(() => {
      filter.value = isFiltered ? "" : String(feature);
      paramsOf(store).sort.value = isFiltered ? "" : `bound.${feature}`;
    });
  return (
    <div class={isFiltered && !isPart ? "matrix-feature is-on" : "matrix-feature"} role="columnheader" aria-colindex={column + 4} title={`${name}: in ${nRules} of these rules`} style={{ left: `${left}px`, width: `${width}px` }}>
      {isPart ? (
        <span class="matrix-name">{name}</span>
      ) : (
        <button type="button" class="plain matrix-name" aria-pressed={isFiltered} title={isFiltered ? "Show all rules again" : `Only rules that test ${name}, by their bounds`} onClick={toggle}>
          {name}
        </button>
      )}
      <TermStrip term={null} feature={feature} classIndex={null} width={width - 10} height={18} />
      {axis.kind === "numeric" && (
        <span class="matrix-range" aria-hidden="true">
          <span>{shortNumber(Number(axis.ends[0].toPrecision(3)))}</span>
          <span>{shortNumber(Number(axis.ends[1].toPrecision(3)))}</span>
        </span>
      )}
    </div>
  );
}
