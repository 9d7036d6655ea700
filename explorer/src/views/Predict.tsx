/** What the rules say about any row, why, and what would have to be different. */

import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { ClassChip } from "../components/ClassMark";
import { ValueField } from "../components/ValueField";
import { RuleButtons, VoteBars } from "../Inspector";
import { CounterfactualSearch, type Counterfactual } from "../lib/counterfactuals";
import { readCsvRow } from "../lib/csv";
import { evaluateRow, probabilitiesOf, type RowEvaluation, startOf, votesOf } from "../lib/evaluate";
import { nearMisses } from "../lib/explain";
import { questionOf, type RowDraft, rowDraftOf } from "../lib/rowDraft";
import { askNetwork, type NetworkAnswer } from "../lib/served";
import { counted, describeShortly, describeTerm, describeValue, formatLabel, formatName, grouped, MOST_CATEGORIES, percent, shortNumber } from "../lib/text";
import type { ServedEntry } from "../payload";
import { useStore } from "../store";
import "./predict.css";

const FIELDS_AT_ONCE = 12;
const NEAR_AT_ONCE = 6;
/** Questions wait until nothing has been changed for so long. */
const PAUSE_MS = 150;
/** So long a search may hold the page. */
const SLICE_MS = 10;

export function Predict() {
  const store = useStore();
  const draft = rowDraftOf(store);
  const search = useComputed(() => new CounterfactualSearch(store.rules.value, store.table));
  const found = useComputed(() => evaluateRow(store.rules.value, draft.values.value));
  const notice = useSignal("");
  const take = (text: string) => {
    try {
      const { values, notes } = readCsvRow(text, store.original);
      draft.setValues(new Map(values.map((value, feature) => [feature, value])));
      notice.value = `Row taken.${notes.length > 0 ? ` Note: ${notes.join("; ")}.` : ""}`;
    } catch (error) {
      notice.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <div
      class="predict"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        const file = event.dataTransfer?.files[0];
        if (file !== undefined) void file.slice(0, 2 ** 20).text().then(take);
        else take(event.dataTransfer?.getData("text") ?? "");
      }}
    >
      <Verdict found={found} draft={draft} />
      <section class="predict-form" aria-label="Values of the row">
        <Start draft={draft} />
        <Paste onText={take} notice={notice.value} />
        <Fields draft={draft} search={search} />
      </section>
      <section class="predict-answer" aria-label="Answer">
        <Answer draft={draft} found={found} search={search} />
      </section>
    </div>
  );
}

// --- The row ---

function Start({ draft }: { draft: RowDraft }) {
  const store = useStore();
  const { table } = store;
  const row = draft.base.value;
  const nChanged = draft.changed.value.size;
  const step = (by: number) => {
    if (table !== null && row !== null) draft.setBase((row + by + table.nRows) % table.nRows);
  };
  return (
    <div class="controls">
      {table !== null && (
        <>
          <label>
            Row{" "}
            <input
              class="row-number"
              inputMode="numeric"
              value={row === null ? "typical" : String(table.numbers[row])}
              onChange={(event) => {
                const wanted = Number(event.currentTarget.value);
                const place = table.numbers.indexOf(wanted);
                if (place >= 0) draft.setBase(place);
                else event.currentTarget.value = row === null ? "typical" : String(table.numbers[row]);
              }}
            />
          </label>
          <button type="button" aria-label="Row before" disabled={row === null} onClick={() => step(-1)}>
            ‹
          </button>
          <button type="button" aria-label="Next row" disabled={row === null} onClick={() => step(1)}>
            ›
          </button>
          <SelectedRow draft={draft} />
        </>
      )}
      {row !== null && (
        <button type="button" onClick={() => draft.setBase(null)}>
          Typical row
        </button>
      )}
      {row === null && table !== null && (
        <button type="button" onClick={() => draft.setBase(0)}>
          First row
        </button>
      )}
      {nChanged > 0 && (
        <button type="button" onClick={() => draft.reset()}>
          Undo {counted(nChanged, "change")}
        </button>
      )}
    </div>
  );
}

function SelectedRow({ draft }: { draft: RowDraft }) {
  const store = useStore();
  const selection = store.selection.value;
  if (selection?.kind !== "row" || selection.row === draft.base.value) return null;
  return (
    <button type="button" onClick={() => draft.setBase(selection.row)}>
      Take the selected row
    </button>
  );
}

function Paste({ onText, notice }: { onText: (text: string) => void; notice: string }) {
  const text = useSignal("");
  return (
    <details class="paste">
      <summary>Paste or drop a row of CSV</summary>
      <p>
        <textarea
          rows={3}
          aria-label="A row of CSV"
          placeholder={"names, if you like\nand one line of values"}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </p>
      <p class="row-buttons">
        <button type="button" onClick={() => onText(text.value)}>
          Take this row
        </button>
        <label class="file-button">
          Open a file
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file !== undefined) void file.slice(0, 2 ** 20).text().then(onText);
              // Chosen again, the same file may hold another row.
              event.currentTarget.value = "";
            }}
          />
        </label>
      </p>
      <p role="status">{notice}</p>
    </details>
  );
}

function Fields({ draft, search }: { draft: RowDraft; search: ReadonlySignal<CounterfactualSearch> }) {
  const store = useStore();
  const query = store.address.param("predict.q", "");
  const nShown = useSignal(FIELDS_AT_ONCE);
  const set = store.rules.value;
  const listed = useComputed(() => {
    const nUses = new Uint32Array(set.features.length);
    for (const rule of store.rules.value.rules) for (const term of rule.terms) nUses[term.feature]++;
    const wanted = query.value.trim().toLowerCase();
    const places = [...set.features.keys()].filter((place) => set.features[place].name.toLowerCase().includes(wanted));
    return places.sort((a, b) => nUses[b] - nUses[a] || a - b);
  }).value;
  const values = draft.values.value;
  const nMore = listed.length - nShown.value;
  return (
    <>
      {set.features.length > FIELDS_AT_ONCE && (
        <p>
          <label>
            Features{" "}
            <input
              type="search"
              value={query.value}
              placeholder="part of a name"
              onInput={(event) => {
                query.value = event.currentTarget.value;
                nShown.value = FIELDS_AT_ONCE;
              }}
            />
          </label>{" "}
          <span class="quiet" role="status">
            {grouped(listed.length)}, those that most rules test first
          </span>
        </p>
      )}
      <div class="fields">
        {listed.slice(0, nShown.value).map((feature) => (
          <ValueField
            key={feature}
            feature={feature}
            value={values[feature]}
            isChanged={draft.changed.value.has(feature)}
            isLeftOut={draft.leftOut.value.has(feature)}
            thresholds={search.value.thresholds(feature)}
            onValue={(value) => draft.setValues(new Map([[feature, value]]))}
          />
        ))}
      </div>
      {nMore > 0 && (
        <p>
          <button type="button" onClick={() => (nShown.value += 4 * FIELDS_AT_ONCE)}>
            {nMore <= 4 * FIELDS_AT_ONCE ? `Show the other ${nMore}` : `Show ${4 * FIELDS_AT_ONCE} more of ${grouped(nMore)}`}
          </button>
        </p>
      )}
    </>
  );
}

// --- The answer ---

interface AnswerProps {
  draft: RowDraft;
  found: ReadonlySignal<RowEvaluation>;
  search: ReadonlySignal<CounterfactualSearch>;
}

function Answer({ draft, found, search }: AnswerProps) {
  const store = useStore();
  const set = store.rules.value;
  const { scores, decision, fired, isPriority } = found.value;
  const list = Array.from(scores);
  const change = useSmallestChange(draft, search);
  // Those for the decision first, and of these the ones with most votes.
  const votes = (place: number) => votesOf(set.rules[place], set.voting);
  const isFor = (place: number) => (set.rules[place].classIndex === decision ? 1 : 0);
  const listed = [...fired].sort((a, b) => isFor(b) - isFor(a) || votes(b) - votes(a) || a - b);
  return (
    <>
      <NetworkVerdict draft={draft} change={change.found.value} />
      <h2>Votes ({set.voting})</h2>
      <VoteBars scores={list} decision={decision} />
      <SmallestChange draft={draft} change={change} />
      <h2>{counted(fired.length, "rule")} fired</h2>
      <RuleButtons
        places={listed}
        most={8}
        note={(place) => (set.rules[place].priority === isPriority ? `· ${shortNumber(votes(place))} votes` : "· overruled by rules with priority")}
      />
      <NearMisses draft={draft} search={search} />
    </>
  );
}

function Verdict({ found, draft }: { found: ReadonlySignal<RowEvaluation>; draft: RowDraft }) {
  const set = useStore().rules.value;
  const { scores, decision, fired } = found.value;
  const probability = probabilitiesOf(scores, set)[decision];
  const hasBase = startOf(set).some((votes) => votes !== 0);
  const unknown = [...draft.leftOut.value].find((feature) => set.rules.some((rule) => rule.terms.some((term) => term.feature === feature)));
  return (
    <div class="verdict" role="status">
      <span class="quiet">The rules say</span> <ClassChip index={decision} />{" "}
      <span class="quiet">
        {fired.length > 0 ? `with a probability of ${percent(probability, 0)}` : hasBase ? "by the base votes: no rule fires" : "by default: no rule fires"}
        {unknown !== undefined && `, if rules that test ${formatName(set.features[unknown].name)} do not fire: the report holds no value of it`}
      </span>
    </div>
  );
}

function NearMisses({ draft, search }: { draft: RowDraft; search: ReadonlySignal<CounterfactualSearch> }) {
  const store = useStore();
  const set = store.rules.value;
  const values = draft.values.value;
  const misses = nearMisses(set, values, search.value.units);
  const missAt = new Map(misses.map((miss) => [miss.place, miss]));
  const noteOf = (place: number): string => {
    const miss = missAt.get(place);
    if (miss === undefined) return "";
    const feature = set.features[miss.failing.feature];
    return `· but not ${describeTerm(miss.failing, feature, MOST_CATEGORIES)}: it is ${describeShortly(values[miss.failing.feature], feature)}`;
  };
  return (
    <>
      <h2 title="Rules with one term that fails, the nearest first">{counted(misses.length, "near miss", "near misses")}</h2>
      <RuleButtons places={misses.map((miss) => miss.place)} most={NEAR_AT_ONCE} note={noteOf} />
    </>
  );
}

// --- The smallest change ---

interface ChangeState {
  found: ReadonlySignal<Counterfactual | null>;
  isSearching: ReadonlySignal<boolean>;
}

/** Searches a while after the last change of values, in slices between which the page answers. */
function useSmallestChange(draft: RowDraft, search: ReadonlySignal<CounterfactualSearch>): ChangeState {
  const store = useStore();
  const to = store.address.param("predict.to", "");
  const most = store.address.param("predict.most", "2");
  const found = useSignal<Counterfactual | null>(null);
  const isSearching = useSignal(true);
  useSignalEffect(() => {
    const wish = { to: /^\d+$/.test(to.value) ? Number(to.value) : null, maxFeatures: most.value === "1" ? (1 as const) : (2 as const) };
    const steps = search.value.smallest(draft.values.value, wish);
    isSearching.value = true;
    const slice = () => {
      const end = performance.now() + SLICE_MS;
      while (performance.now() < end) {
        const step = steps.next();
        if (step.done === true) {
          found.value = step.value;
          isSearching.value = false;
          return;
        }
      }
      timer = setTimeout(slice);
    };
    let timer = setTimeout(slice, PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return { found, isSearching };
}

function SmallestChange({ draft, change }: { draft: RowDraft; change: ChangeState }) {
  const store = useStore();
  const set = store.rules.value;
  const to = store.address.param("predict.to", "");
  const most = store.address.param("predict.most", "2");
  const found = change.found.value;
  return (
    <div class="flip">
      <h2>Smallest change that flips the decision</h2>
      <div class="controls">
        <label>
          To{" "}
          <select value={to.value} onChange={(event) => (to.value = event.currentTarget.value)}>
            <option value="">any other class</option>
            {set.classes.map((label, c) => (
              <option key={c} value={String(c)}>
                {formatLabel(label)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Changing{" "}
          <select value={most.value} onChange={(event) => (most.value = event.currentTarget.value)}>
            <option value="1">one value</option>
            <option value="2">one or two values</option>
          </select>
        </label>
      </div>
      <div class={change.isSearching.value ? "flip-found is-waiting" : "flip-found"} role="status">
        {change.isSearching.value ? <p class="quiet">Searching …</p> : found === null ? <p>None: no such change leads to another decision.</p> : <FoundChange draft={draft} found={found} />}
      </div>
    </div>
  );
}

function FoundChange({ draft, found }: { draft: RowDraft; found: Counterfactual }) {
  const store = useStore();
  const { features } = store.rules.value;
  if (found.changes.length === 0) return <p>None needed: this is the decision already.</p>;
  const unit = store.table === null ? "of the range of thresholds" : "standard deviations";
  return (
    <>
      <ul>
        {found.changes.map(({ feature, before, after }) => (
          <li key={feature}>
            {features[feature].name} <span class="quiet">{describeShortly(before, features[feature])} →</span> <strong>{describeValue(after, features[feature])}</strong>
          </li>
        ))}
      </ul>
      <p>
        becomes <ClassChip index={found.becomes} />{" "}
        <span class="quiet">
          · distance {shortNumber(found.distance)} {unit}
        </span>
      </p>
      <button type="button" onClick={() => draft.setValues(new Map(found.changes.map(({ feature, after }) => [feature, after])))}>
        Make this change
      </button>
    </>
  );
}

// --- The network ---

function NetworkVerdict({ draft, change }: { draft: RowDraft; change: Counterfactual | null }) {
  const store = useStore();
  const { table, payload } = store;
  if (payload.served?.has_network === true) return <AskedNetwork served={payload.served} draft={draft} change={change} />;
  const row = draft.base.value;
  if (table === null || row === null || (table.network === null && table.truth === null)) return null;
  if (draft.changed.value.size > 0) {
    return table.network === null ? null : <p class="quiet">The network is not in this file; `clausewise explore` serves the page with it.</p>;
  }
  return (
    <p class="recorded">
      {table.network !== null && (
        <>
          <span class="quiet">Network</span> <ClassChip index={table.network.codes[row]} names={table.network.names} />{" "}
          <RecordedProbability row={row} />
        </>
      )}
      {table.truth !== null && (
        <>
          <span class="quiet">{table.network !== null && " · "}Truth</span> <ClassChip index={table.truth.codes[row]} names={table.truth.names} />
        </>
      )}
    </p>
  );
}

/** What the network gave the class that it decided for; not known of a label that the rules do not know. */
function RecordedProbability({ row }: { row: number }) {
  const { table, original } = useStore();
  const code = table?.network?.codes[row];
  const nClasses = original.classes.length;
  if (table?.networkProba == null || code === undefined || code >= nClasses) return null;
  return <span class="quiet">{percent(table.networkProba[row * nClasses + code], 0)}</span>;
}

/** Served pages ask the network itself, about this row and about the row with the smallest change. */
function AskedNetwork({ served, draft, change }: { served: ServedEntry; draft: RowDraft; change: Counterfactual | null }) {
  const store = useStore();
  const answer = useSignal<NetworkAnswer | string>("Asking the network …");
  const isAsking = useSignal(true);
  const changed = useSignal<Counterfactual | null>(change);
  changed.value = change;
  useSignalEffect(() => {
    const more = new Map((changed.value?.changes ?? []).map(({ feature, after }) => [feature, after]));
    const asked = questionOf(store, draft, new Map());
    const other = questionOf(store, draft, more);
    const stop = new AbortController();
    // What was said is about another row, until the answer is there.
    isAsking.value = true;
    const take = (said: NetworkAnswer | string) => {
      answer.value = said;
      isAsking.value = false;
    };
    const timer = setTimeout(() => {
      if (typeof asked === "string") return take(asked);
      askNetwork(served, typeof other === "string" ? [asked] : [asked, other], stop.signal).then(take, (error: unknown) => {
        if (!stop.signal.aborted) take(`The network did not answer: ${error instanceof Error ? error.message : String(error)}`);
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  });
  const said = isAsking.value ? "Asking the network …" : answer.value;
  if (typeof said === "string") {
    return (
      <p class="recorded quiet" role="status">
        {said}
      </p>
    );
  }
  const classes = store.original.classes;
  const names = [...classes, ...said.labels.filter((label) => !classes.includes(label))];
  const proba = said.probabilities?.[0];
  const place = said.classes.indexOf(said.labels[0]);
  return (
    <p class="recorded" role="status">
      <span class="quiet">The network says</span> <ClassChip index={names.indexOf(said.labels[0])} names={names} />{" "}
      {proba !== undefined && place >= 0 && <span class="quiet">{percent(proba[place], 0)}</span>}
      {change !== null && change.changes.length > 0 && said.labels.length > 1 && (
        <>
          <br />
          <span class="quiet">with the smallest change</span> <ClassChip index={names.indexOf(said.labels[1])} names={names} />
          {said.labels[0] === said.labels[1] && <span class="quiet"> as before</span>}
        </>
      )}
    </p>
  );
}
