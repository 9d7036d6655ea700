/** The votes on the row as a waterfall: the lead of the decided class, rule by rule. */

import type { ReadonlySignal, Signal } from "@preact/signals";
import { ClassChip, ConclusionChip } from "../../components/ClassMark";
import { colourOf } from "../../lib/colours";
import type { RowEvaluation } from "../../lib/evaluateRow";
import { counted, describePremise, formatLabel, MOST_CATEGORIES, shortNumber } from "../../lib/text";
import { waterfallOf } from "../../lib/waterfall";
import { useStore } from "../../store";

const MOST_STEPS = 40;

/** `lit` is the id of the rule that is pointed at; its terms light up on the sliders. */
export function Waterfall({ found, lit }: { found: ReadonlySignal<RowEvaluation>; lit: Signal<number | null> }) {
  const store = useStore();
  const set = store.rules.value;
  const { decision, runnerUp, base, start, steps, totals, lead } = waterfallOf(set, found.value);
  const ends = [0, start, lead, ...steps.map((step) => step.to)];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const at = (votes: number) => (high === low ? 0 : (100 * (votes - low)) / (high - low));
  const bar = (from: number, to: number, name: string) => (
    <span class="fall" aria-hidden="true">
      <span class="fall-zero" style={{ left: `${at(0)}%` }} />
      <span class={`fall-bar ${name}`} style={{ left: `${at(Math.min(from, to))}%`, width: `${at(Math.max(from, to)) - at(Math.min(from, to))}%` }} />
    </span>
  );
  const hasBase = base.some((votes) => votes !== 0);
  const perClass = (votes: readonly number[]) =>
    [...votes.keys()]
      .filter((c) => votes[c] !== 0)
      .sort((a, b) => votes[b] - votes[a])
      .slice(0, 5)
      .map((c) => `${formatLabel(set.classes[c])} ${shortNumber(rounded(votes[c]))}`)
      .join(", ") || "none";
  return (
    <section aria-label="Votes">
      <h2>
        Votes ({set.voting}): the lead of <ClassChip index={decision} />
        {runnerUp !== decision && (
          <>
            {" "}
            over <ClassChip index={runnerUp} />
          </>
        )}
      </h2>
      <ol class="waterfall">
        {hasBase && (
          <li class="fall-step">
            <span class="fall-name">Base votes</span>
            {bar(0, start, colourOf(start >= 0 ? decision : runnerUp))}
            <span class="number" title={perClass(base)}>
              {perClass(base)}
            </span>
          </li>
        )}
        {steps.slice(0, MOST_STEPS).map(({ place, classIndex, votes, from, to, isOverruled }) => {
          if (place === null) return null;
          const rule = set.rules[place];
          const point = (id: number | null) => () => (lit.value = id);
          return (
            <li key={rule.id} class={lit.value === rule.id ? "fall-step is-lit" : "fall-step"} onMouseEnter={point(rule.id)} onMouseLeave={point(null)}>
              <button type="button" class="plain fall-name" title={describePremise(rule, set.features)} onFocus={point(rule.id)} onBlur={point(null)} onClick={() => store.selectRule(rule.id)}>
                <span class="number quiet">{place}</span> {describePremise(rule, set.features, MOST_CATEGORIES)} <span class="quiet">→</span> <ConclusionChip rule={rule} />
              </button>
              {bar(from, to, colourOf(classIndex))}
              <span class="number">{isOverruled ? "overruled" : `${signed(votes)} ${formatLabel(set.classes[classIndex])}`}</span>
            </li>
          );
        })}
        {steps.length > MOST_STEPS && <li class="quiet">… and {counted(steps.length - MOST_STEPS, "more rule")} with fewer votes</li>}
        {steps.length === 0 && <li class="quiet">{hasBase ? "No rule fires: the base votes decide." : `No rule fires: the default, ${formatLabel(set.classes[set.defaultIndex])}, is taken.`}</li>}
        <li class="fall-step fall-total">
          <strong class="fall-name">Total</strong>
          {bar(0, lead, colourOf(decision))}
          <strong class="number" title={perClass(totals)}>
            {perClass(totals)}
          </strong>
        </li>
      </ol>
    </section>
  );
}

/** Sums of weights have tiny errors, which are not worth showing. */
function rounded(votes: number): number {
  return Number(votes.toPrecision(12));
}

function signed(votes: number): string {
  const shown = shortNumber(rounded(votes));
  return votes > 0 ? `+${shown}` : shown.replace("-", "−");
}
