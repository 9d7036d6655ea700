/** A prediction as a sum, step by step: the start, each rule that holds, the linear terms, the total. */

import type { Signal } from "@preact/signals";
import { counted, describePremise, describeShortly, featureName, MOST_CATEGORIES } from "../../lib/text";
import type { NumberRules } from "../lib/rules";
import { countedValue, type RowSum } from "../lib/sums";
import { amount, responseName, short, signed } from "../lib/text";
import { useNumberStore } from "../store";

const MOST_STEPS = 40;

/** What a rule (by its place) or a linear term (in words) adds. */
interface Step {
  key: string;
  added: number;
  source: number | string;
}

/** `lit` is the id of the rule that is pointed at; its terms light up on the sliders. */
export function Waterfall({ set, sum, values, lit }: { set: NumberRules; sum: RowSum; values: readonly number[]; lit?: Signal<number | null> }) {
  const store = useNumberStore();
  const fired = [...sum.fired].sort((a, b) => Math.abs(set.rules[b].addition) - Math.abs(set.rules[a].addition) || a - b);
  const steps: Step[] = [
    ...fired.map((place) => ({ key: `rule ${set.rules[place].id}`, added: set.rules[place].addition, source: place })),
    ...set.linear.map((term, i) => ({ key: `linear ${i}`, added: sum.products[i], source: linearText(set, i, values[term.feature]) })),
  ];
  let at = set.base;
  const spans = steps.map(({ added }) => ({ from: at, to: (at += added) }));
  const ends = [0, set.base, sum.sum, ...spans.map((span) => span.to)].filter(Number.isFinite);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = (number: number) => (high === low ? 0 : (100 * (number - low)) / (high - low));
  const bar = (from: number, to: number, kind: string) => (
    <span class="fall" aria-hidden="true">
      <span class="fall-zero" style={{ left: `${x(0)}%` }} />
      <span class={`fall-bar ${kind}`} style={{ left: `${x(Math.min(from, to))}%`, width: `${x(Math.max(from, to)) - x(Math.min(from, to))}%` }} />
    </span>
  );
  const isLog = set.link === "log";
  return (
    <section aria-label="The sum">
      <ol class="waterfall number-fall">
        <li class="fall-step">
          <span class="fall-name">Start</span>
          {bar(0, set.base, "is-whole")}
          <span class="number">{amount(set.base)}</span>
        </li>
        {steps.slice(0, MOST_STEPS).map(({ key, added, source }, i) => {
          const rule = typeof source === "number" ? set.rules[source] : null;
          const point = (id: number | null) => () => {
            if (lit !== undefined) lit.value = id;
          };
          return (
            <li key={key} class={rule !== null && lit?.value === rule.id ? "fall-step is-lit" : "fall-step"} onMouseEnter={point(rule?.id ?? null)} onMouseLeave={point(null)}>
              {rule === null ? (
                <span class="fall-name">{source}</span>
              ) : (
                <button type="button" class="plain fall-name" title={describePremise(rule, set.features)} onFocus={point(rule.id)} onBlur={point(null)} onClick={() => store.selectRule(rule.id)}>
                  <span class="number quiet">{source}</span> {describePremise(rule, set.features, MOST_CATEGORIES)}
                </button>
              )}
              {bar(spans[i].from, spans[i].to, added < 0 ? "is-down" : "is-up")}
              <span class="number">
                {signed(added)}
                {isLog && <span class="quiet"> × {short(Math.exp(added))}</span>}
              </span>
            </li>
          );
        })}
        {steps.length > MOST_STEPS && <li class="quiet">… and {counted(steps.length - MOST_STEPS, "more step")}</li>}
        {sum.fired.length === 0 && <li class="quiet">No rule holds.</li>}
        <li class="fall-step fall-total">
          <strong class="fall-name">{isLog ? "Sum" : `= ${responseName(set)}`}</strong>
          {bar(0, sum.sum, "is-whole")}
          <strong class="number">{amount(sum.sum)}</strong>
        </li>
        {isLog && (
          <li class="fall-step">
            <strong class="fall-name">{responseName(set)} = e to the power of the sum</strong>
            <span />
            <strong class="number">{amount(sum.response)}</strong>
          </li>
        )}
      </ol>
    </section>
  );
}

/** `0.21 × income = 6`, with what the value counts as, where that is another number. */
function linearText(set: NumberRules, i: number, value: number): string {
  const term = set.linear[i];
  const about = set.features[term.feature];
  const used = countedValue(term, value);
  const as = used === value ? "" : `, counted as ${amount(used)}`;
  return `${amount(term.coefficient)} × ${featureName(about)} (${about.kind === "numeric" || value !== value ? describeShortly(value, about) : amount(value)}${as})`;
}
