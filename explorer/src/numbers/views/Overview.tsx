/** The first view: how well the rules do, where they are off, and which of them matter. */

import { GuaranteeCard } from "../../components/GuaranteeCard";
import { axisOf } from "../../lib/axis";
import { counted, describePremise, grouped, MOST_CATEGORIES, percent } from "../../lib/text";
import { FrontierChart } from "../../views/overview/Frontier";
import "../../views/overview.css";
import { ErrorBars } from "../components/ErrorBars";
import { JudgeChoice } from "../components/JudgeChoice";
import { Parity } from "../components/Parity";
import { SignedBar } from "../components/SignedBar";
import { numberReadingCost } from "../lib/rules";
import { givenErrors, headline, JUDGES, rounded, standingOf, strongest } from "../lib/story";
import { countedValue } from "../lib/sums";
import { amount, describeLimits, describeLinear, responseName, short, shortSigned, signed } from "../lib/text";
import { type NumberStore, useNumberStore } from "../store";

const MOST_RULES = 12;

export function Overview() {
  const store = useNumberStore();
  const { frontier, guarantee } = store.payload;
  const set = store.rules.value;
  const judge = store.judge.value;
  return (
    <div class="overview">
      <p class="headline">{headline(store)}</p>
      <JudgeChoice />
      {guarantee !== undefined && <GuaranteeCard guarantee={guarantee} isEdited={store.isEdited.value} />}
      <div class="number-cards">
        <section class="card strongest" aria-labelledby="strongest">
          <h2 id="strongest">The rules that matter most</h2>
          <Strongest />
        </section>
        <div class="card-stack">
          {judge !== null && (
            <section class="card" aria-labelledby="parity">
              <h2 id="parity">Rules and {JUDGES.get(judge)?.name}, row by row</h2>
              <Parity />
            </section>
          )}
          {set.linear.length > 0 && (
            <section class="card" aria-labelledby="linear">
              <h2 id="linear">Added to every row</h2>
              <Linear />
            </section>
          )}
        </div>
        <div class="card-stack">
          {judge !== null && (
            <section class="card" aria-labelledby="errors">
              <h2 id="errors">How far they are off</h2>
              <ErrorBars />
              <Figures />
            </section>
          )}
          {frontier !== undefined && (
            <section class="card" aria-labelledby="frontier">
              <h2 id="frontier">What more rules would explain</h2>
              <FrontierChart frontier={frontier} own={ownPoint(store)} what="The explained fraction" />
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

function ownPoint(store: NumberStore): { size: number; fidelity: number } | null {
  const { frontier } = store.payload;
  // Sizes are chosen on the network's numbers, or on the true ones if there is no network; R² only can be compared.
  const found = frontier?.measure === "R²" ? standingOf(store, store.network === null ? "truth" : "network") : null;
  const set = store.rules.value;
  return found === null || Number.isNaN(found.rSquared) ? null : { size: frontier?.by === "rules" ? set.rules.length : numberReadingCost(set), fidelity: found.rSquared };
}

/** The rules as signed bars, with where sums start. */
function Strongest() {
  const store = useNumberStore();
  const set = store.rules.value;
  const found = store.evaluation.value;
  const shown = strongest(store).slice(0, MOST_RULES);
  const largest = Math.max(...shown.map((place) => Math.abs(set.rules[place].addition)));
  const selected = store.selectedRule.value?.place;
  return (
    <>
      <p>
        Start at <strong>{amount(set.base)}</strong>; each rule that holds adds its number{set.link === "log" ? `, and ${responseName(set)} is e to the power of the sum` : ""}.
      </p>
      <ol class="signed-rules">
        {shown.map((place) => {
          const rule = set.rules[place];
          return (
            <li key={rule.id} class={selected === place ? "is-selected" : ""}>
              <button type="button" class="plain" onClick={() => store.selectRule(rule.id)} title={describePremise(rule, set.features)}>
                {describePremise(rule, set.features, MOST_CATEGORIES)}
              </button>
              <SignedBar value={rule.addition} largest={largest} />
              <strong class="number">{signed(rule.addition)}</strong>
              <span class="number quiet">{shareText(store, place)}</span>
            </li>
          );
        })}
      </ol>
      {set.rules.length === 0 && <p class="quiet">There are no rules.</p>}
      {set.rules.length > MOST_RULES && (
        <p>
          <button type="button" onClick={() => store.show("rules")}>
            All {grouped(set.rules.length)} rules
          </button>
        </p>
      )}
      {found !== null && set.rules.length > 0 && <p class="quiet">The last column is the share of the rows in this page on which the rule holds. First come those that move the numbers most.</p>}
    </>
  );
}

/** The share of rows on which a rule holds, or how many they were when it was learnt. */
function shareText(store: NumberStore, place: number): string {
  const { cover } = store.rules.value.rules[place];
  const found = store.evaluation.value;
  if (found === null || store.table === null) return cover > 0 ? counted(cover, "row") : "";
  const n = found.nCovered[place];
  return n === null ? "not known" : percent(n / Math.max(1, store.table.nRows), 0);
}

function Linear() {
  const store = useNumberStore();
  const set = store.rules.value;
  const effects = set.linear.map((term) => {
    const [low, high] = axisOf(store, term.feature).ends;
    return set.features[term.feature].kind === "binary" ? [countedValue(term, 0), countedValue(term, 1)] : [countedValue(term, low), countedValue(term, high)];
  });
  const spans = set.linear.map((term, i) => term.coefficient * (effects[i][1] - effects[i][0]));
  const largest = Math.max(...spans.map(Math.abs));
  return (
    <>
      <ul class="signed-rules">
        {set.linear.map((term, i) => (
          <li key={term.feature}>
            <span title={describeLimits(term)}>
              {describeLinear(term, set)} <span class="quiet">{describeLimits(term) === "" ? "" : `(${describeLimits(term)})`}</span>
            </span>
            <SignedBar value={spans[i]} largest={largest} />
            <strong class="number">{shortSigned(spans[i])}</strong>
            <span class="number quiet" />
          </li>
        ))}
      </ul>
      <p class="quiet">The bar shows how much more the highest value of the feature adds than the lowest.</p>
    </>
  );
}

function Figures() {
  const store = useNumberStore();
  const judge = store.judge.value;
  const given = judge === null ? null : givenErrors(store, judge);
  if (given === null || store.isEdited.value) return null;
  const byNetwork = judge === "truth" ? store.payload.measures?.network_to_truth : null;
  const whole = (number: number | null) => (number === null ? "–" : short(rounded(number)));
  const parts = [
    `${percent(given.within, 0)} of rows are off by at most ${short(given.tolerance)}`,
    `the largest error is ${given.largest === null ? "–" : short(given.largest)}, on row ${given.largest_row}`,
    ...(byNetwork == null ? [] : [`the network itself is off by ${whole(byNetwork.mean_absolute)} on average`]),
  ];
  return (
    <p class="quiet">
      On all {counted(store.payload.measures?.n_rows ?? 0, "row")} given: {parts.join("; ")}.
    </p>
  );
}
