/** The first look: how good, how large, and what the rules speak about. */

import { useComputed } from "@preact/signals";
import { ClassChip, ClassMark } from "../components/ClassMark";
import { rowsShown } from "../lib/rows";
import { termKey } from "../lib/rules";
import type { FeatureUse } from "../lib/summary";
import { summaryOf } from "../lib/summary";
import { counted, describeTerm, formatLabel, grouped, MOST_CATEGORIES, percent, shortNumber } from "../lib/text";
import type { FrontierEntry } from "../payload";
import { useStore } from "../store";
import "./overview.css";

export function Overview() {
  const store = useStore();
  const summary = useComputed(() => summaryOf(store.rules.value)).value;
  const set = store.rules.value;
  const largest = Math.max(...summary.rulesPerClass, 1);
  const goTo = (filters: Readonly<Record<string, string>>) => showRules(store, filters);
  return (
    <div class="overview" data-ready>
      <Figures nTerms={summary.terms.length} nFeatures={summary.features.length} meanLength={summary.meanLength} />
      <section class="card" aria-labelledby="per-class">
        <h2 id="per-class">Rules per class</h2>
        <ul class="bars">
          {set.classes.map((label, index) => (
            <li key={index}>
              <button type="button" class="plain" onClick={() => goTo({ "rules.class": String(index) })} title={`Show the rules for ${formatLabel(label)}`}>
                <ClassChip index={index} />
              </button>
              <span class="bar-box" aria-hidden="true">
                <span class={`bar by-class class-${index % 8}`} style={{ width: `${(100 * summary.rulesPerClass[index]) / largest}%` }} />
              </span>
              <span class="number">{grouped(summary.rulesPerClass[index])}</span>
              {index === set.defaultIndex && <span class="badge">default</span>}
            </li>
          ))}
        </ul>
      </section>
      <section class="card" aria-labelledby="lengths">
        <h2 id="lengths">Terms per rule</h2>
        <Lengths lengths={summary.lengths} />
        <p class="quiet">Mean {summary.meanLength.toFixed(2)}. {counted(summary.terms.length, "different term")}.</p>
      </section>
      {store.payload.frontier !== undefined && (
        <section class="card wide" aria-labelledby="frontier">
          <h2 id="frontier">Fidelity by number of rules</h2>
          <Frontier frontier={store.payload.frontier} />
        </section>
      )}
      <section class={set.classes.length > 10 ? "card full" : "card wide"} aria-labelledby="feature-use">
        <h2 id="feature-use">Features in rules, by class</h2>
        <FeatureTable features={summary.features} goTo={goTo} />
      </section>
      <section class="card wide" aria-labelledby="top-terms">
        <h2 id="top-terms">Most used terms</h2>
        <ul class="bars terms-used">
          {summary.terms.slice(0, 12).map(({ term, nRules }) => {
            return (
              <li key={termKey(term)}>
                <button type="button" class="plain" onClick={() => goTo({ "rules.term": termKey(term) })} title="Show the rules with this term">
                  {describeTerm(term, set.features[term.feature], MOST_CATEGORIES)}
                </button>
                <span class="bar-box" aria-hidden="true">
                  <span class="bar" style={{ width: `${(100 * nRules) / summary.terms[0].nRules}%` }} />
                </span>
                <span class="number">{grouped(nRules)}</span>
              </li>
            );
          })}
        </ul>
        {summary.terms.length === 0 && <p class="quiet">No rule has a term.</p>}
      </section>
    </div>
  );
}

type Filters = Readonly<Record<string, string>>;

/** Go to the table of rules with these filters and no others. */
export function showRules(store: ReturnType<typeof useStore>, filters: Filters): void {
  store.address.step(() => {
    for (const name of ["q", "class", "feature", "term", "length", "support", "confidence", "layer", "fired"]) {
      store.address.param(`rules.${name}`).value = filters[`rules.${name}`] ?? "";
    }
    store.show("rules");
  });
}

// --- Figures ---

function Figures({ nTerms, nFeatures, meanLength }: { nTerms: number; nFeatures: number; meanLength: number }) {
  const store = useStore();
  const { measures: given } = store.payload;
  const set = store.rules.value;
  const here = store.measures.value;
  const isEdited = store.isEdited.value;
  const why = store.whyUnknown.value;
  const shown = why !== null ? null : isEdited || given === undefined ? here : { ...given, nUncovered: given.n_uncovered, nRows: given.n_rows };
  const basis =
    why !== null
      ? `edited rules: how they decide is not known here, as ${why}, which they test`
      : shown === null
        ? "without data: only what the rules say is shown"
        : isEdited
          ? `edited rules on the ${grouped(shown.nRows)} rows in this report`
          : `on all ${counted(shown.nRows, "row")} given; ${rowsShown(store.table)} are in this report`;
  return (
    <section class="figures" aria-label="Figures">
      {shown?.fidelity != null && <Figure name="Fidelity to the network" value={percent(shown.fidelity)} />}
      {shown?.accuracy != null && <Figure name="Accuracy of the rules" value={percent(shown.accuracy)} />}
      {!isEdited && given?.network_accuracy != null && <Figure name="Accuracy of the network" value={percent(given.network_accuracy)} />}
      <Figure name="Rules" value={grouped(set.rules.length)} />
      <Figure name="Terms per rule" value={meanLength.toFixed(1)} />
      <Figure name="Different terms" value={grouped(nTerms)} />
      <Figure name="Features tested" value={`${grouped(nFeatures)} of ${grouped(set.features.length)}`} />
      {shown !== null && (
        <Figure
          name="Rows without a rule"
          value={`${grouped(shown.nUncovered)} (${percent(1 - shown.coverage)})`}
          {...(here !== null && here.nUncovered > 0 ? { onClick: () => store.select({ kind: "cohort", cohort: { kind: "uncovered" } }) } : {})}
        />
      )}
      {!isEdited && given !== undefined && <Figure name="Rows with opposed rules" value={percent(given.conflict)} />}
      <p class="basis quiet">
        {basis}. Voting: {VOTING_NOTES[set.voting]}
      </p>
    </section>
  );
}

const VOTING_NOTES = {
  confidence: "each rule that fires adds its confidence (per mille).",
  majority: "each rule that fires has one vote.",
  share: "rules that fire ÷ all rules of the class.",
  weights: "base votes plus the weights of the rules that fire.",
} as const;

function Figure({ name, value, onClick }: { name: string; value: string; onClick?: () => void }) {
  return (
    <div class="figure">
      <span class="figure-name">{name}</span>
      {onClick === undefined ? (
        <span class="figure-value">{value}</span>
      ) : (
        <button type="button" class="plain figure-value" title="Show those in this report" onClick={onClick}>
          {value}
        </button>
      )}
    </div>
  );
}

// --- Charts ---

function Lengths({ lengths }: { lengths: readonly number[] }) {
  const largest = Math.max(...lengths, 1);
  const first = Math.max(0, lengths.findIndex((n) => n > 0));
  const bars = lengths.slice(first);
  return (
    <ul class="columns" aria-label="Number of rules by number of terms">
      {bars.map((n, i) => (
        <li key={i} title={`${counted(n, "rule")} with ${counted(first + i, "term")}`}>
          <span class="column-count">{n > 0 ? grouped(n) : ""}</span>
          <span class="column-bar" style={{ height: `${(70 * n) / largest}px` }} />
          <span class="column-name">{first + i}</span>
        </li>
      ))}
    </ul>
  );
}

const MOST_FEATURES = 30;

function FeatureTable({ features, goTo }: { features: readonly FeatureUse[]; goTo: (filters: Filters) => void }) {
  const set = useStore().rules.value;
  const most = Math.max(1, ...features.map((use) => Math.max(...use.perClass)));
  const isWide = set.classes.length > 10;
  if (features.length === 0) return <p class="quiet">No rule tests a feature.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rules per feature and class">
      <table class={isWide ? "heat is-dense" : "heat"}>
        <thead>
          <tr>
            <th scope="col">Feature</th>
            <th scope="col" class="end">Rules</th>
            {set.classes.map((label, index) => (
              <th key={index} scope="col" title={formatLabel(label)}>
                {isWide ? (
                  <span class="stacked">
                    <ClassMark index={index} />
                    <span class="chip-text">{formatLabel(label)}</span>
                  </span>
                ) : (
                  <ClassChip index={index} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {features.slice(0, MOST_FEATURES).map((use) => (
            <tr key={use.feature}>
              <th scope="row">
                <button type="button" class="plain" onClick={() => goTo({ "rules.feature": String(use.feature) })} title={`Show the rules that test ${set.features[use.feature].name}`}>
                  {set.features[use.feature].name}
                </button>
              </th>
              <td class="end">{grouped(use.nRules)}</td>
              {use.perClass.map((n, index) => (
                <td key={index} class="heat-cell" style={{ "--share": String(n / most) }}>
                  {n > 0 ? grouped(n) : ""}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {features.length > MOST_FEATURES && <p class="quiet">… and {counted(features.length - MOST_FEATURES, "more feature")}; the Rules view lists them all.</p>}
    </div>
  );
}

/** The last number and, from it downwards, those whose texts do not touch the one before. */
function apart(numbers: readonly number[], x: (number: number) => number): number[] {
  const kept: number[] = [];
  for (const number of [...numbers].reverse()) {
    const next = kept[0];
    // About 6.5 units per digit, and a gap.
    const room = next === undefined ? 0 : 3.3 * (String(number).length + String(next).length) + 8;
    if (next === undefined || x(next) - x(number) >= room) kept.unshift(number);
  }
  return kept;
}

function Frontier({ frontier }: { frontier: FrontierEntry }) {
  const { budgets, fidelity, spread, knee } = frontier;
  const [width, height, left, bottom, top, right] = [560, 200, 56, 34, 10, 12];
  // A mean less or more its deviation may leave what a fidelity can be.
  const below = fidelity.map((f, i) => Math.max(0, f - spread[i]));
  const above = fidelity.map((f, i) => Math.min(1, f + spread[i]));
  const low = Math.min(...below);
  const high = Math.max(...above);
  const span = high - low || 1;
  const x = (budget: number) => left + ((width - left - right) * (budget - budgets[0])) / (budgets[budgets.length - 1] - budgets[0] || 1);
  const y = (value: number) => top + (height - top - bottom) * (1 - (value - low) / span);
  const line = budgets.map((budget, i) => `${i === 0 ? "M" : "L"}${x(budget).toFixed(1)} ${y(fidelity[i]).toFixed(1)}`).join("");
  const upper = budgets.map((budget, i) => `${x(budget).toFixed(1)} ${y(above[i]).toFixed(1)}`);
  const lower = budgets.map((budget, i) => `${x(budget).toFixed(1)} ${y(below[i]).toFixed(1)}`).reverse();
  const kneePlace = budgets.indexOf(knee);
  const ticks = [low, (low + high) / 2, high];
  const last = budgets[budgets.length - 1];
  const xTicks = apart([...new Set([budgets[0], ...[2, 4, 8, 16, 32, 64, 128, 256].filter((b) => b > budgets[0] && b < last), last])], x);
  const label = `Fidelity on rows held back rises from ${percent(fidelity[0])} with ${counted(budgets[0], "rule")} to ${percent(fidelity[fidelity.length - 1])} with ${last}; ${counted(knee, "rule")} recommended (${percent(fidelity[kneePlace])}).`;
  return (
    <figure class="frontier">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid-line" x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} />
            <text x={left - 6} y={y(tick) + 4} text-anchor="end">{percent(tick)}</text>
          </g>
        ))}
        {xTicks.map((tick) => (
          <text key={tick} x={x(tick)} y={height - bottom + 16} text-anchor="middle">{tick}</text>
        ))}
        <text x={(left + width - right) / 2} y={height - 2} text-anchor="middle">rules</text>
        <path class="band" d={`M${[...upper, ...lower].join("L")}z`} />
        <path class="curve" d={line} />
        {kneePlace >= 0 && <circle class="knee" cx={x(knee)} cy={y(fidelity[kneePlace])} r="4.5" />}
      </svg>
      <figcaption class="quiet">
        On rows held back, ± one standard deviation. ● recommended: {counted(knee, "rule")}, {kneePlace >= 0 ? percent(fidelity[kneePlace]) : shortNumber(NaN)}.
      </figcaption>
    </figure>
  );
}
