/** Sizes, lengths and what the rules test, for whoever asks: closed until then. */

import { useComputed } from "@preact/signals";
import { ClassChip, ClassMark } from "../../components/ClassMark";
import { colourOf } from "../../lib/colours";
import { termKey } from "../../lib/rules";
import { type FeatureUse, summaryOf } from "../../lib/summary";
import { counted, describeTerm, featureName, formatLabel, grouped, MOST_CATEGORIES } from "../../lib/text";
import { useStore } from "../../store";
import { Figures } from "./Figures";
import { type Filters, showRules } from "./filters";

export function Sizes() {
  const store = useStore();
  const isOpen = store.address.param("overview.sizes");
  return (
    <details class="card full sizes" open={isOpen.value !== ""} onToggle={(event) => (isOpen.value = event.currentTarget.open ? "1" : "")}>
      <summary>Sizes, lengths and what the rules test</summary>
      {isOpen.value !== "" && <Opened />}
    </details>
  );
}

function Opened() {
  const store = useStore();
  const summary = useComputed(() => summaryOf(store.rules.value)).value;
  const set = store.rules.value;
  const largest = Math.max(...summary.rulesPerClass, 1);
  const goTo = (filters: Filters) => showRules(store, filters);
  return (
    <div class="overview">
      <Figures nTerms={summary.terms.length} nFeatures={summary.features.length} meanLength={summary.meanLength} />
      <section class="card" aria-labelledby="rules-per-class">
        <h2 id="rules-per-class">Rules per class</h2>
        <ul class="bars">
          {set.classes.map((label, index) => (
            <li key={index}>
              <button type="button" class="plain" onClick={() => goTo({ class: String(index) })} title={`Show the rules for ${formatLabel(label)}`}>
                <ClassChip index={index} />
              </button>
              <span class="bar-box" aria-hidden="true">
                <span class={`bar by-class ${colourOf(index)}`} style={{ width: `${(100 * summary.rulesPerClass[index]) / largest}%` }} />
              </span>
              <span class="number">{grouped(summary.rulesPerClass[index])}</span>
              <span>
                {summary.againstPerClass[index] > 0 && <span class="quiet">{grouped(summary.againstPerClass[index])} against it</span>}{" "}
                {index === set.defaultIndex && <span class="badge">default</span>}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section class="card" aria-labelledby="lengths">
        <h2 id="lengths">Terms per rule</h2>
        <Lengths lengths={summary.lengths} />
        <p class="quiet">Mean {summary.meanLength.toFixed(2)}. {counted(summary.terms.length, "different term")}.</p>
      </section>
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
                <button type="button" class="plain" onClick={() => goTo({ term: termKey(term) })} title="Show the rules with this term">
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
                <button type="button" class="plain" onClick={() => goTo({ feature: String(use.feature) })} title={`Show the rules that test ${featureName(set.features[use.feature])}`}>
                  {featureName(set.features[use.feature])}
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
