/** Rules deleted, changed and added by hand, with the effect on the rows of the report at once. */

import { computed, type ReadonlySignal, type Signal, signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useId } from "preact/hooks";
import { chipWidth, ClassChip } from "../components/ClassMark";
import { Effect, measured, type Measured, nDiffering } from "../components/Effect";
import { TermEditor } from "../components/TermEditor";
import { VirtualTable } from "../components/VirtualTable";
import { middleOf } from "../lib/axis";
import { withAdded, withNote, withoutRules, withReplaced, writeChanges } from "../lib/edits";
import { type Evaluation, measuresOf } from "../lib/evaluate";
import { searched } from "../lib/filter";
import { whyRulesUnknown } from "../lib/leftOut";
import { readRules, RuleTextError, writeRule } from "../lib/ruleText";
import { perStore } from "../lib/perStore";
import { writeRuleFile } from "../lib/ruleFile";
import type { NewRule, Rule, RuleSet, Term } from "../lib/rules";
import { download, fileName, ruleFileText } from "../lib/save";
import { askMeasures } from "../lib/served";
import { counted, describePremise, formatLabel, formatNumber, grouped, MOST_CATEGORIES, percent } from "../lib/text";
import type { ServedEntry } from "../payload";
import { type Store, useStore } from "../store";
import "./edit.css";

const PAUSE_MS = 200;
const LISTED_FEATURES = 200;

/** Texts by the id of their rule, or for a rule that is new. */
type Drafts = ReadonlyMap<number | "new", string>;

interface EditState {
  /** What is being written; kept until it is applied or given up. */
  drafts: Signal<Drafts>;
  /** The reasons written beside them. */
  notes: Signal<Drafts>;
  /** Measures and decisions of the rules as the report was made. */
  original: ReadonlySignal<Evaluation | null>;
  /** The rules that are in a file: those of the report, or those saved last. */
  saved: RuleSet;
}

const editStateOf = perStore((store): EditState => {
  const state: EditState = {
    drafts: signal<Drafts>(new Map()),
    notes: signal<Drafts>(new Map()),
    original: computed(() => store.evaluator?.evaluate(store.original) ?? null),
    saved: store.original,
  };
  // The browser asks before it closes a page with edits that are in no file, or with drafts that are not applied.
  window.addEventListener("beforeunload", (event) => {
    const isUnsaved = store.rules.value !== state.saved && store.isEdited.value;
    const hasDrafts = [...state.drafts.value.keys()].some((key) => key === "new" || store.placeOf.value.has(key));
    if (isUnsaved || hasDrafts) event.preventDefault();
  });
  return state;
});

export function Edit() {
  return (
    <div class="edit">
      <Effects />
      <RuleList />
      <section class="editor" aria-label="Editor">
        <Editor />
        <Changes />
      </section>
    </div>
  );
}

// --- Effects of all edits so far ---

function Effects() {
  const store = useStore();
  const state = editStateOf(store);
  const now = store.evaluation.value;
  const before = state.original.value;
  const { table } = store;
  return (
    <section class="effects" aria-label="Effect of all edits">
      <h2>As made → with all edits</h2>
      {now === null || before === null || table === null ? (
        <p class="quiet">The report holds no rows, so that effects on decisions cannot be shown.</p>
      ) : store.whyUnknown.value !== null ? (
        <p role="status">Not known here: {store.whyUnknown.value}, which the edited rules test.</p>
      ) : (
        <>
          <Effect
            label={`On the ${grouped(table.nRows)} rows in this report`}
            before={measured(measuresOf(before, table))}
            after={measured(measuresOf(now, table))}
            counts={[
              ["rules", store.original.rules.length, store.rules.value.rules.length],
              ["decided otherwise", 0, nDiffering(before, now)],
            ]}
          />
          <p class="quiet">
            on the {grouped(table.nRows)} rows in this report
            {table.nRows < table.nTotal ? `, drawn from ${grouped(table.nTotal)}` : ""}
          </p>
        </>
      )}
      {store.payload.served !== undefined && store.payload.served.n_total > 0 && <ServedEffects served={store.payload.served} />}
    </section>
  );
}

/** In served mode, on all rows behind the page. */
function ServedEffects({ served }: { served: ServedEntry }) {
  const store = useStore();
  const answer = useSignal<{ n: number; measured: Measured } | string>("");
  const isAsking = useSignal(true);
  useSignalEffect(() => {
    const file = writeRuleFile(store.rules.value);
    const stop = new AbortController();
    // What was said is about other rules, until the answer is there.
    isAsking.value = true;
    const take = (said: { n: number; measured: Measured } | string) => {
      answer.value = said;
      isAsking.value = false;
    };
    const timer = setTimeout(() => {
      askMeasures(served, file, stop.signal).then(
        ({ n_rows, fidelity, accuracy, coverage }) => take({ n: n_rows, measured: { fidelity, accuracy, coverage } }),
        (error: unknown) => {
          if (!stop.signal.aborted) take(`The server did not answer: ${error instanceof Error ? error.message : String(error)}`);
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  });
  const said = isAsking.value ? `Measuring on all ${counted(served.n_total, "row")} …` : answer.value;
  const before = store.payload.measures;
  if (typeof said === "string") return <p role="status">{said}</p>;
  return (
    <div role="status">
      <Effect label={`On all ${grouped(said.n)} rows`} before={before ?? said.measured} after={said.measured} />
      <p class="quiet">on all {grouped(said.n)} rows</p>
    </div>
  );
}

// --- The rules ---

function RuleList() {
  const store = useStore();
  const state = editStateOf(store);
  const query = store.address.param("edit.q", "");
  const isNew = store.address.param("edit.new", "");
  const set = store.rules.value;
  const places = useComputed(() => searched(store.rules.value, query.value)).value;
  const selected = isNew.value === "" ? (store.selectedRule.value?.place ?? -1) : -1;
  return (
    <section class="edit-rules" aria-label="Rules">
      <div class="controls">
        <label>
          Find{" "}
          <input type="search" value={query.value} placeholder="feature, value or class" onInput={(event) => (query.value = event.currentTarget.value)} />
        </label>
        <button type="button" class={isNew.value === "" ? "" : "is-on"} aria-pressed={isNew.value !== ""} onClick={() => (isNew.value = isNew.value === "" ? "1" : "")}>
          New rule
        </button>
        <button type="button" disabled={!store.canUndo.value} onClick={() => store.undo()}>
          Undo edit
        </button>
        <button type="button" disabled={!store.canRedo.value} onClick={() => store.redo()}>
          Redo edit
        </button>
      </div>
      <VirtualTable
        label="Rules to edit"
        nRows={places.length}
        active={places.indexOf(selected)}
        onActivate={(row) => {
          isNew.value = "";
          store.selectRule(set.rules[places[row]].id);
        }}
        empty="No rule matches."
        columns={[
          { key: "place", title: "#", width: 52, align: "end", cell: (row) => places[row] },
          { key: "class", title: "Class", width: chipWidth(set.classes), cell: (row) => <ClassChip index={set.rules[places[row]].classIndex} /> },
          {
            key: "premise",
            title: "If",
            cell: (row) => {
              const rule = set.rules[places[row]];
              return (
                <span class="clip" title={describePremise(rule, set.features)}>
                  {state.drafts.value.has(rule.id) && <span class="badge">draft</span>} {rule.priority && <span class="badge">priority</span>}{" "}
                  {isOriginal(store, rule) ? "" : <span class="badge">{rule.id < store.original.rules.length ? "changed" : "new"}</span>}{" "}
                  {describePremise(rule, set.features, MOST_CATEGORIES)}
                </span>
              );
            },
          },
        ]}
      />
    </section>
  );
}

function isOriginal(store: Store, rule: Rule): boolean {
  return store.original.rules[rule.id] === rule;
}

// --- One rule ---

function Editor() {
  const store = useStore();
  const isNew = store.address.param("edit.new", "");
  const found = store.selectedRule.value;
  if (isNew.value !== "") return <DraftEditor key="new" target={null} />;
  if (found !== null) return <DraftEditor key={found.rule.id} target={found} />;
  return (
    <div class="draft">
      <h2>Edit</h2>
      <p>Choose a rule to change or delete it, or write a new one.</p>
      <button type="button" onClick={() => (isNew.value = "1")}>
        Write a new rule
      </button>
    </div>
  );
}

/** What the text of a draft says: rules, or what is wrong with it. */
type Reading = { rules: NewRule[] } | { error: RuleTextError } | null;

function readingOf(text: string, set: RuleSet): Reading {
  if (text.trim() === "") return null;
  try {
    return { rules: readRules(text, set) };
  } catch (error) {
    if (error instanceof RuleTextError) return { error };
    throw error;
  }
}

interface Target {
  rule: Rule;
  place: number;
}

function DraftEditor({ target }: { target: Target | null }) {
  const store = useStore();
  const state = editStateOf(store);
  const isNew = store.address.param("edit.new", "");
  const id = useId();
  const set = store.rules.value;
  const key = target === null ? "new" : target.rule.id;
  const asIs = target === null ? "" : writeRule(target.rule, set);
  const drafts = state.drafts.value;
  const text = drafts.get(key) ?? asIs;
  const reading = readingOf(text, set);
  const write = (next: string) => (state.drafts.value = withText(drafts, key, next === asIs ? null : next));
  const note = state.notes.value.get(key) ?? "";
  const writeNote = (next: string) => (state.notes.value = withText(state.notes.value, key, next === "" ? null : next));
  const rules = reading === null || "error" in reading ? [] : reading.rules;
  const next = applied(set, target, rules, note, () => -1);
  const tooMany = target !== null && rules.length > 1;
  const canApply = next !== null && next !== set;
  const done = (edited: RuleSet) => {
    write(asIs);
    writeNote("");
    store.edit(edited);
    // The button is gone or disabled, the text is another; from the list one goes on, and Ctrl + Z undoes the edit.
    document.querySelector<HTMLElement>('.edit-rules [role="grid"]')?.focus();
  };
  const apply = () => {
    const edited = canApply ? applied(set, target, rules, note, () => store.newId()) : null;
    if (edited === null) return;
    done(edited);
    if (target === null) {
      isNew.value = "";
      store.selectRule(edited.rules[edited.rules.length - 1].id);
    }
  };
  return (
    <div class="draft">
      <h2>{target === null ? "New rule" : `Rule ${target.place}`}</h2>
      <label class="draft-label" for={id}>
        In the rule language
      </label>
      <textarea
        id={id}
        rows={Math.min(8, 3 + Math.floor(text.length / 60))}
        spellcheck={false}
        value={text}
        placeholder={placeholder(set)}
        aria-invalid={reading !== null && "error" in reading}
        aria-describedby={`${id}-error`}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) apply();
        }}
      />
      <div id={`${id}-error`} role="status" class="draft-error">
        {reading !== null && "error" in reading && <Problem text={text} error={reading.error} />}
        {tooMany && <p>These are several rules; to change one rule, write one. New rule takes several.</p>}
      </div>
      {(reading === null || "rules" in reading) && <RuleForm reading={reading} onRule={(rule) => write(writeRule(rule, set))} />}
      <div class="draft-end">
        {next !== null && canApply && <Preview next={next} />}
        <label class="draft-label" for={`${id}-note`}>
          Reason, for the list of changes
        </label>
        <input id={`${id}-note`} value={note} placeholder="why, if you like" onInput={(event) => writeNote(event.currentTarget.value)} />
        <p class="row-buttons draft-buttons">
          <button type="button" class="primary" disabled={!canApply} title="Ctrl + Enter in the text" onClick={apply}>
            {target === null ? "Add" : "Change the rule"}
          </button>
          {text !== asIs && (
            <button type="button" onClick={() => write(asIs)}>
              {target === null ? "Clear" : "As it was"}
            </button>
          )}
          {target !== null && (
            <>
              <button
                type="button"
                onClick={() => {
                  state.drafts.value = new Map([...drafts, ["new", text]]);
                  isNew.value = "1";
                }}
              >
                Copy as a new rule
              </button>
              <button type="button" class="danger" onClick={() => remove(store, target.place, note, done)}>
                Delete the rule
              </button>
            </>
          )}
        </p>
      </div>
    </div>
  );
}

function withText(texts: Drafts, key: number | "new", text: string | null): Drafts {
  const next = new Map(texts);
  if (text === null) next.delete(key);
  else next.set(key, text);
  return next;
}

/** A rule set with a draft applied; null if it cannot be. */
function applied(set: RuleSet, target: Target | null, rules: readonly NewRule[], note: string, newId: () => number): RuleSet | null {
  if (target !== null) return rules.length === 1 ? withReplaced(set, target.place, rules[0], note) : null;
  const added = rules.map((rule) => ({ ...rule, id: newId() }));
  return added.length === 0 ? null : withAdded(set, added, note);
}

function remove(store: Store, place: number, note: string, done: (edited: RuleSet) => void): void {
  const edited = withoutRules(store.rules.value, [place], note);
  const next = edited.rules[Math.min(place, edited.rules.length - 1)];
  done(edited);
  // On to the rule that took its place, so that several can be deleted one after the other.
  if (next === undefined) store.select(null);
  else store.selectRule(next.id);
}

function placeholder(set: RuleSet): string {
  const example: NewRule = {
    terms: set.features.length > 0 ? [{ feature: 0, low: -Infinity, high: 1, codes: set.features[0].categories === null ? null : [0] }] : [],
    classIndex: 0,
    confidence: 1,
    cover: 0,
    correct: 0,
    weight: 1,
    priority: true,
    origin: null,
  };
  return writeRule(example, set);
}

/** The problem, and below the line of the text a mark at its place. */
function Problem({ text, error }: { text: string; error: RuleTextError }) {
  const line = text.split("\n")[error.line - 1] ?? "";
  const letters = Array.from(line);
  const from = Math.max(0, error.column - 1 - 30);
  const shown = letters.slice(from, error.column + 19).join("");
  return (
    <>
      <p>
        {text.includes("\n") ? `Line ${error.line}, column` : "Column"} {error.column}: {error.problem}
          {error.problem.endsWith("?") ? "" : "."}
      </p>
      <pre aria-hidden="true">
        {`${from > 0 ? "…" : ""}${shown}\n${" ".repeat(error.column - 1 - from + (from > 0 ? 1 : 0))}▲`}
      </pre>
    </>
  );
}

// --- The same rule as a form ---

function RuleForm({ reading, onRule }: { reading: { rules: NewRule[] } | null; onRule: (rule: NewRule) => void }) {
  const store = useStore();
  const set = store.rules.value;
  if (reading !== null && reading.rules.length !== 1) return <p class="quiet">{counted(reading.rules.length, "rule")}</p>;
  const rule: NewRule = reading?.rules[0] ?? {
    terms: [],
    classIndex: set.defaultIndex,
    confidence: 1,
    cover: 0,
    correct: 0,
    weight: 1,
    priority: false,
    origin: null,
  };
  const change = (part: Partial<NewRule>) => onRule({ ...rule, ...part });
  // Counts of the rule as it was say nothing of one with other terms or another class.
  const changeMeaning = (part: Partial<NewRule>) => change({ cover: 0, correct: 0, ...part });
  const withTerm = (term: Term) => changeMeaning({ terms: rule.terms.map((other) => (other.feature === term.feature ? term : other)) });
  return (
    <div class="rule-form">
      {rule.terms.map((term) => (
        <TermEditor
          key={term.feature}
          term={term}
          classIndex={rule.classIndex}
          onTerm={withTerm}
          onRemove={() => changeMeaning({ terms: rule.terms.filter((other) => other !== term) })}
        />
      ))}
      <AddTerm rule={rule} onTerm={(term) => changeMeaning({ terms: [...rule.terms, term].sort((a, b) => a.feature - b.feature) })} />
      <div class="rule-says">
        <label>
          Then{" "}
          <select value={String(rule.classIndex)} onChange={(event) => changeMeaning({ classIndex: Number(event.currentTarget.value) })}>
            {set.classes.map((label, c) => (
              <option key={c} value={String(c)}>
                {formatLabel(label)}
              </option>
            ))}
          </select>
        </label>
        <NumberField label="Confidence" value={rule.confidence} isValid={(number) => number >= 0 && number <= 1} onNumber={(confidence) => change({ confidence })} />
        {(set.voting === "weights" || rule.weight !== 1) && <NumberField label="Weight" value={rule.weight} isValid={Number.isFinite} onNumber={(weight) => change({ weight })} />}
        <label title="Where a rule with priority fires, only rules with priority vote.">
          <input type="checkbox" checked={rule.priority} onChange={(event) => change({ priority: event.currentTarget.checked })} /> Priority
        </label>
      </div>
    </div>
  );
}

interface NumberProps {
  label: string;
  value: number;
  isValid: (number: number) => boolean;
  onNumber: (number: number) => void;
}

function NumberField({ label, value, isValid, onNumber }: NumberProps) {
  return (
    <label>
      {label}{" "}
      <input
        class="short-number"
        inputMode="decimal"
        value={formatNumber(value)}
        onChange={(event) => {
          const number = Number(event.currentTarget.value);
          if (event.currentTarget.value.trim() !== "" && isValid(number)) onNumber(number + 0);
          else event.currentTarget.value = formatNumber(value);
        }}
      />
    </label>
  );
}

function AddTerm({ rule, onTerm }: { rule: NewRule; onTerm: (term: Term) => void }) {
  const store = useStore();
  const id = useId();
  const name = useSignal("");
  const { features } = store.original;
  const tested = new Set(rule.terms.map((term) => term.feature));
  const free = [...features.keys()].filter((place) => !tested.has(place));
  const chosen = free.find((place) => features[place].name === name.value);
  const add = () => {
    if (chosen === undefined) return;
    onTerm(firstTerm(store, chosen));
    name.value = "";
  };
  if (free.length === 0) return null;
  return (
    <p class="row-buttons">
      <label>
        Term on{" "}
        <input
          list={id}
          value={name.value}
          placeholder="feature"
          onInput={(event) => (name.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") add();
          }}
        />
      </label>
      <datalist id={id}>
        {free
          .filter((place) => features[place].name.toLowerCase().includes(name.value.toLowerCase()))
          .slice(0, LISTED_FEATURES)
          .map((place) => (
            <option key={place} value={features[place].name} />
          ))}
      </datalist>
      <button type="button" disabled={chosen === undefined} onClick={add}>
        Add a term
      </button>
    </p>
  );
}

/** A term to start from: the lower half, false, or the first category. */
function firstTerm(store: Store, feature: number): Term {
  const open: Term = { feature, low: -Infinity, high: Infinity, codes: null };
  const { kind } = store.original.features[feature];
  if (kind === "categorical") return { ...open, codes: [0] };
  if (kind === "binary") return { ...open, low: 0 };
  return { ...open, high: middleOf(store, feature) };
}

/** What a draft would do to the rules as they are now. */
function Preview({ next }: { next: RuleSet }) {
  const store = useStore();
  const { table, evaluator } = store;
  const now = store.evaluation.value;
  const measures = store.measures.value;
  if (table === null || evaluator === null || now === null || measures === null) return null;
  const why = whyRulesUnknown(next, table) ?? store.whyUnknown.value;
  if (why !== null) {
    return (
      <p class="preview" role="status">
        What this edit would give is not known here: {why}.
      </p>
    );
  }
  const found = evaluator.evaluate(next, now);
  const n = nDiffering(now, found);
  return (
    <div class="preview" role="status">
      <h3>This edit would give</h3>
      <Effect label="Effect of this edit" before={measured(measures)} after={measured(measuresOf(found, table))} />
      <p class="quiet">
        {counted(n, "row")} decided otherwise{table.nRows > 0 && n > 0 ? ` (${percent(n / table.nRows)})` : ""}
      </p>
    </div>
  );
}

// --- What was changed ---

function Changes() {
  const store = useStore();
  const state = editStateOf(store);
  const set = store.rules.value;
  const { title } = store.payload;
  const nBefore = store.original.changes.length;
  const { changes } = set;
  return (
    <section class="changes" aria-label="List of changes">
      <h2>{changes.length === 0 ? "Nothing has been changed" : counted(changes.length, "change")}</h2>
      <p class="row-buttons">
        <button
          type="button"
          onClick={() => {
            download(`${fileName(title, "rules")}.json`, ruleFileText(writeRuleFile(set)), "application/json");
            state.saved = set;
          }}
        >
          Save the rules
        </button>
        <button type="button" disabled={changes.length === 0} onClick={() => download(`${fileName(title, "changes")}.txt`, writeChanges(changes), "text/plain")}>
          Save the list of changes
        </button>
        {store.isEdited.value && (
          <>
            <button type="button" onClick={() => store.show("compare")}>
              Compare
            </button>
            <button type="button" onClick={() => store.edit(store.original)}>
              Discard all
            </button>
          </>
        )}
      </p>
      <ol class="change-list" reversed>
        {[...changes.keys()].reverse().map((i) => {
          const { action, rule, before, after, note } = changes[i];
          return (
            <li key={i}>
              <span>
                {action} rule {rule}
                {i < nBefore && <span class="quiet"> · before this report</span>}
              </span>
              {before !== undefined && <code class="gone">− {before}</code>}
              {after !== undefined && <code class="come">+ {after}</code>}
              {i < nBefore ? (
                note !== undefined && <span class="quiet">{note}</span>
              ) : (
                <input
                  aria-label={`Reason for change ${i + 1}`}
                  placeholder="reason"
                  value={note ?? ""}
                  onChange={(event) => store.edit(withNote(set, i, event.currentTarget.value))}
                />
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
