/** What is selected, in full: a rule, a row or a cohort. It stands beside every view. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { type Bits, countBits, rowsOf } from "./lib/bits";
import { countLabelled, firedOn, scoresOf, votesOf } from "./lib/evaluate";
import { whyTermsUnknown } from "./lib/leftOut";
import { judgeOf, type Misled, misleading } from "./lib/misled";
import { rowDraftOf } from "./lib/rowDraft";
import type { Rule, Term } from "./lib/rules";
import type { Cohort, Selection } from "./lib/selection";
import { counted, describePremise, describeTerm, describeValue, formatName, grouped, MOST_CATEGORIES, percent, shortNumber } from "./lib/text";
import { ClassChip } from "./components/ClassMark";
import { TermStrip } from "./components/TermStrip";
import { type Store, useStore } from "./store";

export function Inspector() {
  const store = useStore();
  const selection = store.selection.value;
  const panel = useRef<HTMLElement>(null);
  store.view.value; // some buttons are there in some views only
  // A button that selects something else is gone with what it stood in; the focus stays in the panel.
  const hadFocus = panel.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (hadFocus && panel.current !== null && !panel.current.contains(document.activeElement)) panel.current.focus();
  });
  if (selection === null) return null;
  return (
    <aside class="inspector" aria-label="Selection" tabIndex={0} ref={panel}>
      <div class="inspector-head">
        <h2>{capital(store.describeSelection(selection))}</h2>
        <button type="button" aria-label="Clear the selection" onClick={() => clearSelection(store)}>
          ✕
        </button>
      </div>
      <Body selection={selection} />
    </aside>
  );
}

/** With the panel its button goes: the focus moves on to the view. */
export function clearSelection(store: Store): void {
  const hadFocus = document.activeElement?.closest(".inspector") != null;
  store.select(null);
  if (hadFocus) document.getElementById("view")?.focus();
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Body({ selection }: { selection: Selection }) {
  const store = useStore();
  switch (selection.kind) {
    case "rule": {
      const found = store.selectedRule.value;
      return found === null ? <p>It is not among the rules now.</p> : <RuleDetails rule={found.rule} place={found.place} />;
    }
    case "row":
      return <RowDetails row={selection.row} />;
    case "cohort":
      return <CohortDetails cohort={selection.cohort} />;
  }
}

// --- A rule ---

function RuleDetails({ rule, place }: { rule: Rule; place: number }) {
  const store = useStore();
  const set = store.rules.value;
  const why = store.table === null ? null : whyTermsUnknown(rule.terms, set, store.table);
  const cover = why === null ? (store.evaluation.value?.covers[place] ?? null) : null;
  return (
    <>
      <p class="rule-then">
        {rule.priority && <span class="badge">priority</span>} THEN <ClassChip index={rule.classIndex} />
      </p>
      <ul class="terms" aria-label="Terms, all of which must hold">
        {rule.terms.length === 0 && <li>anything: it fires on every row</li>}
        {rule.terms.map((term) => (
          <li key={term.feature}>
            <TermText term={term} />
            <TermStrip term={term} classIndex={rule.classIndex} />
          </li>
        ))}
      </ul>
      <dl class="facts">
        <Fact name="Confidence" value={percent(rule.confidence)} />
        <Fact name="Votes where it fires" value={shortNumber(votesOf(rule, set.voting))} />
        {set.voting !== "weights" && rule.weight !== 1 && <Fact name="Weight" value={shortNumber(rule.weight)} />}
        <Fact name="Covered when made" value={`${grouped(rule.cover)}, right on ${grouped(rule.correct)}`} />
        {cover !== null && <CoverFacts rule={rule} cover={cover} />}
        {why !== null && <Fact name="Fires here on" value={`not known here: ${why}`} />}
        {rule.origin?.layer != null && <Fact name="Layer" value={rule.origin.layer} />}
        {rule.origin?.clause != null && <Fact name="Clause" value={rule.origin.clause} />}
      </dl>
      <p class="row-buttons">
        {cover !== null && (
          <button type="button" onClick={() => store.select({ kind: "cohort", cohort: { kind: "covered", rule: rule.id } })}>
            Show its rows
          </button>
        )}
        {store.view.value !== "edit" && (
          <button
            type="button"
            onClick={() =>
              store.address.step(() => {
                store.address.param("edit.new").value = "";
                store.show("edit");
              })
            }
          >
            Edit it
          </button>
        )}
      </p>
    </>
  );
}

/** A term in words; one with very many categories in short, and in full when it is opened. */
function TermText({ term }: { term: Term }) {
  const feature = useStore().rules.value.features[term.feature];
  if ((term.codes?.length ?? 0) <= MOST_CATEGORIES) return <span class="term-text">{describeTerm(term, feature)}</span>;
  return (
    <details class="term-text">
      <summary>{describeTerm(term, feature, MOST_CATEGORIES)}</summary>
      {describeTerm(term, feature)}
    </details>
  );
}

function CoverFacts({ rule, cover }: { rule: Rule; cover: Bits }) {
  const table = useStore().table;
  const n = countBits(cover);
  const judged = (codes: ArrayLike<number> | undefined) =>
    codes === undefined || n === 0 ? null : percent(countLabelled(cover, codes, rule.classIndex) / n);
  const asNetwork = judged(table?.network?.codes);
  const asTruth = judged(table?.truth?.codes);
  return (
    <>
      <Fact name="Fires here on" value={counted(n, "row")} />
      {asNetwork !== null && <Fact name="… network agrees" value={asNetwork} />}
      {asTruth !== null && <Fact name="… right" value={asTruth} />}
    </>
  );
}

export function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

// --- A row ---

function RowDetails({ row }: { row: number }) {
  const store = useStore();
  const { table } = store;
  const found = store.evaluation.value;
  if (table === null || found === null || row >= table.nRows) return <p>The report does not hold this row.</p>;
  const set = store.rules.value;
  const decision = found.decisions[row];
  // Those for the decision first, and of these the ones with most votes.
  const rank = (place: number) => (set.rules[place].classIndex === decision ? 0 : 1);
  const fired = firedOn(found, row).sort(
    (a, b) => rank(a) - rank(b) || votesOf(set.rules[b], set.voting) - votesOf(set.rules[a], set.voting) || a - b,
  );
  const tested = new Set(set.rules.flatMap((rule) => rule.terms.map((term) => term.feature)));
  const features = set.features.map((_, place) => place).filter((place) => tested.has(place));
  const scores = Array.from(scoresOf(found, row));
  return (
    <>
      <UnknownDecisions />
      <dl class="facts">
        <div>
          <dt>Rules</dt>
          <dd>
            <ClassChip index={found.decisions[row]} />
          </dd>
        </div>
        {table.network !== null && (
          <div>
            <dt>Network</dt>
            <dd>
              <ClassChip index={table.network.codes[row]} names={table.network.names} />
            </dd>
          </div>
        )}
        {table.truth !== null && (
          <div>
            <dt>Truth</dt>
            <dd>
              <ClassChip index={table.truth.codes[row]} names={table.truth.names} />
            </dd>
          </div>
        )}
      </dl>
      <h3>Votes</h3>
      <VoteBars scores={scores} decision={found.decisions[row]} />
      <h3>{counted(fired.length, "rule")} fired</h3>
      <RuleButtons places={fired} note={(place) => `· ${shortNumber(votesOf(set.rules[place], set.voting))}`} />
      {store.view.value !== "predict" && (
        <p>
          <button
            type="button"
            onClick={() =>
              store.address.step(() => {
                rowDraftOf(store).setBase(row);
                store.show("predict");
              })
            }
          >
            Try other values
          </button>
        </p>
      )}
      <h3>Values that rules test</h3>
      <dl class="facts">
        {features.map((place) => {
          const column = table.columns[place];
          const value = column === null ? "not in this report" : describeValue(column.values[column.codes[row]], set.features[place]);
          return <Fact key={place} name={formatName(set.features[place].name)} value={value} />;
        })}
      </dl>
    </>
  );
}

/** Says so where rules test what the report left out: they are taken not to fire. */
function UnknownDecisions() {
  const why = useStore().whyUnknown.value;
  return why === null ? null : <p role="status">What the edited rules decide is not known here: {why}. Rules that test it are left aside.</p>;
}

/** The classes with votes, most votes first. */
export function VoteBars({ scores, decision }: { scores: readonly number[]; decision: number }) {
  const largest = Math.max(...scores.map(Math.abs), 1e-12);
  const listed = scores.map((_, c) => c).filter((c) => scores[c] !== 0 || c === decision);
  listed.sort((a, b) => scores[b] - scores[a] || a - b);
  return (
    <ul class="votes">
      {listed.slice(0, 8).map((c) => (
        <li key={c}>
          <ClassChip index={c} />
          <span class="bar-box" aria-hidden="true">
            <span class={scores[c] < 0 ? "bar is-negative" : "bar"} style={{ width: `${(100 * Math.abs(scores[c])) / largest}%` }} />
          </span>
          <span class="number">{shortNumber(scores[c])}</span>
        </li>
      ))}
      {listed.length > 8 && <li class="quiet">… and {listed.length - 8} more classes</li>}
    </ul>
  );
}

/** Rules that can be clicked to select them, by their places. */
export function RuleButtons({ places, most = 12, note }: { places: readonly number[]; most?: number; note?: (place: number) => string }) {
  const store = useStore();
  const set = store.rules.value;
  return (
    <ul class="rule-buttons">
      {places.slice(0, most).map((place) => {
        const rule = set.rules[place];
        if (rule === undefined) return null;
        return (
          <li key={rule.id}>
            <button type="button" class="plain" onClick={() => store.selectRule(rule.id)}>
              <span class="number quiet">{place}</span> {describePremise(rule, set.features, MOST_CATEGORIES)} <span class="quiet">→</span> <ClassChip index={rule.classIndex} />
              {note !== undefined && <span class="quiet"> {note(place)}</span>}
            </button>
          </li>
        );
      })}
      {places.length > most && <li class="quiet">… and {grouped(places.length - most)} more</li>}
      {places.length === 0 && <li class="quiet">none</li>}
    </ul>
  );
}

// --- A cohort ---

function CohortDetails({ cohort }: { cohort: Cohort }) {
  const store = useStore();
  const bits = store.selectedRows.value;
  const { table } = store;
  if (bits === null || table === null) return <p>The report holds no rows.</p>;
  const rows = rowsOf(bits);
  const found = store.evaluation.value;
  const judge = judgeOf(cohort, table);
  const misled = found === null ? [] : misleading(found, table, rows, judge);
  return (
    <>
      <p>
        {counted(rows.length, "row")} of the {grouped(table.nRows)} in this report
        {table.nRows > 0 && ` (${percent(rows.length / table.nRows)})`}
      </p>
      {cohort.kind === "covered" && <BackToRule store={store} id={cohort.rule} />}
      <UnknownDecisions />
      {table[judge] !== null && (
        <>
          <h3>Rules that misled</h3>
          <p class="quiet">They fired, their class won, and the {judge} says another.</p>
          <MisleadingRules misled={misled} />
        </>
      )}
      <h3>Rows</h3>
      <RowButtons rows={rows} />
    </>
  );
}

function BackToRule({ store, id }: { store: Store; id: number }) {
  return (
    <p>
      <button type="button" onClick={() => store.selectRule(id)}>
        Back to the rule
      </button>
    </p>
  );
}

function RowButtons({ rows, most = 24 }: { rows: Uint32Array; most?: number }) {
  const store = useStore();
  return (
    <p class="row-buttons">
      {Array.from(rows.slice(0, most)).map((row) => (
        <button key={row} type="button" onClick={() => store.select({ kind: "row", row })}>
          {store.table?.numbers[row] ?? row}
        </button>
      ))}
      {rows.length > most && <span class="quiet">… and {grouped(rows.length - most)} more</span>}
    </p>
  );
}

/** The rules that misled, with the number of rows. */
export function MisleadingRules({ misled, most }: { misled: readonly Misled[]; most?: number }) {
  const nRows = new Map(misled.map(({ place, nRows }) => [place, nRows]));
  return <RuleButtons places={misled.map(({ place }) => place)} most={most ?? 12} note={(place) => `· ${counted(nRows.get(place) ?? 0, "row")}`} />;
}
