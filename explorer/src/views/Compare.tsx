/** Two rule sets side by side: rules that came, went or changed, and rows whose decision flips. */

import { type Signal, signal, useComputed, useSignal } from "@preact/signals";
import { ClassChip } from "../components/ClassMark";
import { Effect, measured } from "../components/Effect";
import { VirtualTable } from "../components/VirtualTable";
import { compareRules, type Comparison, evaluateForeign, type Flips, flipsOf } from "../lib/compare";
import { type Evaluation, measuresOf } from "../lib/evaluate";
import { writeRule } from "../lib/ruleText";
import { MAX_FILE_BYTES, openRules } from "../lib/opened";
import { perStore } from "../lib/perStore";
import { readRuleFile } from "../lib/ruleFile";
import type { Rule, RuleSet } from "../lib/rules";
import { counted, describePremise, formatLabel, grouped, MOST_CATEGORIES, percent, shortNumber } from "../lib/text";
import type { Scalar } from "../payload";
import { type Store, useStore } from "../store";
import "./compare.css";

/** A rule set that can be chosen. */
interface Source {
  /** In the address. */
  id: string;
  title: string;
  set: RuleSet;
}

interface CompareState {
  embedded: readonly Source[];
  opened: Signal<readonly Source[]>;
}

const compareStateOf = perStore(
  (store): CompareState => ({
    embedded: (store.payload.compare ?? []).map(({ title, rules }, i) => ({ id: `embedded.${i}`, title, set: readRuleFile(rules) })),
    opened: signal<readonly Source[]>([]),
  }),
);

export function Compare() {
  const store = useStore();
  const state = compareStateOf(store);
  const [first, second] = [store.address.param("compare.before", ""), store.address.param("compare.after", "")];
  const notice = useSignal("");
  const sources = useComputed(() => sourcesOf(store, state));
  const chosen = useComputed(() => {
    const list = sources.value;
    const others = [...state.opened.value, ...state.embedded];
    const fallback = others.length > 0 && !store.isEdited.value ? others[others.length - 1].id : "now";
    const pick = (id: string, other: string) => list.find((source) => source.id === id) ?? list.find((source) => source.id === other) ?? list[0];
    return [pick(first.value, "made"), pick(second.value, fallback)] as const;
  });
  const comparison = useComputed(() => compareRules(chosen.value[0].set, chosen.value[1].set));
  const answers = useComputed(() => chosen.value.map((source) => answersOf(store, source)));
  const open = (file: File | undefined) => {
    if (file === undefined) return;
    opened(file).then(
      (set) => {
        const source = { id: `file.${state.opened.value.length}`, title: file.name, set };
        state.opened.value = [...state.opened.value, source];
        second.value = source.id;
        notice.value = `Opened ${file.name}: ${counted(set.rules.length, "rule")}.`;
      },
      (error: unknown) => (notice.value = `${file.name} cannot be opened: ${error instanceof Error ? error.message : String(error)}.`),
    );
  };
  const [before, after] = chosen.value;
  const choice = (label: string, current: Source, param: Signal<string>) => (
    <label>
      {label}{" "}
      <select value={current.id} onChange={(event) => (param.value = event.currentTarget.value)}>
        {sources.value.map(({ id, title, set }) => (
          <option key={id} value={id}>
            {title} ({grouped(set.rules.length)})
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div
      class="compare"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        open(event.dataTransfer?.files[0]);
      }}
    >
      <div class="controls">
        {choice("Before", before, first)}
        {choice("After", after, second)}
        <button
          type="button"
          onClick={() => {
            [first.value, second.value] = [after.id, before.id];
          }}
        >
          Swap
        </button>
        <label class="file-button">
          Open a rule file
          <input
            type="file"
            accept=".json,application/json"
            onChange={(event) => {
              open(event.currentTarget.files?.[0]);
              event.currentTarget.value = "";
            }}
          />
        </label>
        <span class="quiet">or drop one here</span>
        <span role="status">{notice.value}</span>
      </div>
      <Summary comparison={comparison.value} before={before} after={after} answers={answers.value} />
      <div class="compare-parts">
        <Differences comparison={comparison.value} before={before.set} after={after.set} isNow={after.id === "now"} />
        <FlipList answers={answers.value} />
      </div>
    </div>
  );
}

function sourcesOf(store: Store, state: CompareState): Source[] {
  return [
    { id: "made", title: "As the report was made", set: store.original },
    { id: "now", title: store.isEdited.value ? "With the edits" : "With the edits (none yet)", set: store.rules.value },
    ...state.embedded,
    ...state.opened.value,
  ];
}

async function opened(file: File): Promise<RuleSet> {
  if (file.size > MAX_FILE_BYTES) throw new Error(`it has ${grouped(Math.round(file.size / 2 ** 20))} MB; rule files have at most ${MAX_FILE_BYTES / 2 ** 20}`);
  return openRules(await file.text());
}

/** What a rule set decides on the rows of the report; a text says why not. */
function answersOf(store: Store, source: Source): Evaluation | string {
  const { table, evaluator } = store;
  if (table === null || evaluator === null) return "the report holds no rows";
  if (source.id === "now") return store.whyUnknown.value ?? store.evaluation.value ?? "the report holds no rows";
  return source.id === "made" ? evaluator.evaluate(source.set) : evaluateForeign(source.set, store.original, table, evaluator);
}

// --- In short ---

interface SummaryProps {
  comparison: Comparison;
  before: Source;
  after: Source;
  answers: readonly (Evaluation | string)[];
}

function Summary({ comparison, before, after, answers }: SummaryProps) {
  const { table, original } = useStore();
  const { added, removed, changed, nSame, settings } = comparison;
  const isSame = added.length + removed.length + changed.length + settings.length === 0;
  const [old, young] = answers;
  const isMeasured = table !== null && typeof old !== "string" && typeof young !== "string";
  return (
    <section aria-label="In short" class="compare-summary">
      <p role="status">
        <strong>{grouped(added.length)}</strong> added, <strong>{grouped(removed.length)}</strong> removed, <strong>{grouped(changed.length)}</strong> changed, {counted(nSame, "rule")} the same.
        {isSame && " Nothing differs: edit rules, or open a second rule file."}
      </p>
      {isMeasured && (
        <Effect
          label="On the rows in this report"
          before={measured(measuresOf(relabelled(old, original), table))}
          after={measured(measuresOf(relabelled(young, original), table))}
          counts={[["rules", before.set.rules.length, after.set.rules.length]]}
        />
      )}
      {settings.length > 0 && (
        <dl class="facts compare-settings">
          {settings.map((one) => (
            <div key={one.name}>
              <dt>{one.name}</dt>
              <dd>
                <span class="quiet">{one.before} →</span> {one.after}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** Decisions as places in the report's classes, so that they compare with its labels; unknown classes match none. */
function relabelled(found: Evaluation, original: RuleSet): Evaluation {
  if (found.set.classes === original.classes) return found;
  const places = found.set.classes.map((label) => original.classes.indexOf(label)).map((place) => (place < 0 ? 0xffff : place));
  return { ...found, decisions: found.decisions.map((decision) => places[decision]) };
}

// --- Rules ---

type Kind = "added" | "removed" | "changed";

interface Difference {
  kind: Kind;
  before: number | null;
  after: number | null;
}

const SIGNS: Readonly<Record<Kind, string>> = { added: "+", removed: "−", changed: "~" };

interface DifferencesProps {
  comparison: Comparison;
  before: RuleSet;
  after: RuleSet;
  /** Whether the later rules are those that can be selected. */
  isNow: boolean;
}

function Differences({ comparison, before, after, isNow }: DifferencesProps) {
  const store = useStore();
  const kind = store.address.param("compare.kind", "");
  const at = useSignal(-1);
  const all: Difference[] = [
    ...comparison.removed.map((place): Difference => ({ kind: "removed", before: place, after: null })),
    ...comparison.changed.map(([old, young]): Difference => ({ kind: "changed", before: old, after: young })),
    ...comparison.added.map((place): Difference => ({ kind: "added", before: null, after: place })),
  ];
  const shown = all.filter((one) => kind.value === "" || one.kind === kind.value);
  const current = shown[at.value];
  const names = [...store.original.classes];
  const chip = (set: RuleSet, rule: Rule) => chipOf(names, set.classes[rule.classIndex]);
  return (
    <section aria-label="Rules that differ" class="compare-rules">
      <div class="controls">
        <h2>Rules that differ</h2>
        <label>
          Show{" "}
          <select
            value={kind.value}
            onChange={(event) => {
              kind.value = event.currentTarget.value;
              at.value = -1;
            }}
          >
            <option value="">all ({grouped(all.length)})</option>
            {(["added", "removed", "changed"] as const).map((one) => (
              <option key={one} value={one}>
                {one} ({grouped(comparison[one].length)})
              </option>
            ))}
          </select>
        </label>
      </div>
      <VirtualTable
        label="Rules that differ"
        nRows={shown.length}
        active={shown.length > at.value ? at.value : -1}
        onActivate={(row) => {
          at.value = row;
          const place = shown[row].after;
          if (isNow && place !== null) store.selectRule(after.rules[place].id);
        }}
        minWidth={520}
        empty="No rule differs."
        columns={[
          { key: "kind", title: "Change", width: 92, cell: (row) => `${SIGNS[shown[row].kind]} ${shown[row].kind}` },
          { key: "before", title: "Before", width: 60, align: "end", cell: (row) => shown[row].before ?? "" },
          { key: "after", title: "After", width: 60, align: "end", cell: (row) => shown[row].after ?? "" },
          {
            key: "rule",
            title: "Rule",
            cell: (row) => {
              const { before: old, after: young } = shown[row];
              const [set, rule] = young === null ? [before, before.rules[old ?? 0]] : [after, after.rules[young]];
              const difference = old === null || young === null ? "" : whatDiffers(before, before.rules[old], after, after.rules[young]);
              return (
                <span class="clip" title={describePremise(rule, set.features)}>
                  {chip(set, rule)} {difference !== "" && <strong>{difference}</strong>} {describePremise(rule, set.features, MOST_CATEGORIES)}
                </span>
              );
            },
          },
        ]}
      />
      <div class="compare-texts" role="status">
        {current?.before != null && <code class="gone">− {writeRule(before.rules[current.before], before)}</code>}
        {current?.after != null && <code class="come">+ {writeRule(after.rules[current.after], after)}</code>}
      </div>
    </section>
  );
}

/** `then no → yes, confidence 0.9 → 0.6`, for rules with the same premise. */
function whatDiffers(before: RuleSet, old: Rule, after: RuleSet, young: Rule): string {
  const parts: string[] = [];
  const [was, is] = [before.classes[old.classIndex], after.classes[young.classIndex]];
  if (was !== is) parts.push(`then ${formatLabel(was)} → ${formatLabel(is)}`);
  for (const name of ["confidence", "weight", "cover", "correct"] as const) {
    if (old[name] !== young[name]) parts.push(`${name} ${shortNumber(old[name])} → ${shortNumber(young[name])}`);
  }
  if (old.priority !== young.priority) parts.push(young.priority ? "now with priority" : "no longer with priority");
  if (old.origin?.layer !== young.origin?.layer || old.origin?.clause !== young.origin?.clause) parts.push("another origin");
  return parts.join(", ");
}

/** A class of either rule set, marked as in the report if it is known there. */
function chipOf(names: Scalar[], label: Scalar) {
  if (!names.includes(label)) names.push(label);
  return <ClassChip index={names.indexOf(label)} names={names} />;
}

// --- Rows ---

const ROWS_AT_ONCE = 60;

function FlipList({ answers }: { answers: readonly (Evaluation | string)[] }) {
  const store = useStore();
  const { table } = store;
  const way = useSignal("");
  const [before, after] = answers;
  if (typeof before === "string" || typeof after === "string" || table === null) {
    const reason = [before, after].find((answer) => typeof answer === "string");
    return (
      <section aria-label="Rows that flip" class="compare-flips">
        <h2>Rows that flip</h2>
        <p>Decisions cannot be compared: {typeof reason === "string" ? reason : "the report holds no rows"}.</p>
      </section>
    );
  }
  const flips = flipsOf(before, after);
  const ways = waysOf(flips);
  const names = [...store.original.classes];
  const chosen = ways.find((one) => one.key === way.value);
  const rows = chosen?.rows ?? flips.rows;
  return (
    <section aria-label="Rows that flip" class="compare-flips">
      <h2>Rows that flip</h2>
      <p role="status">
        {grouped(flips.rows.length)} of {counted(table.nRows, "row")} in this report ({percent(table.nRows === 0 ? 0 : flips.rows.length / table.nRows, 2)})
      </p>
      {(["network", "truth"] as const).map((judge) => {
        const labels = table[judge];
        if (labels === null || flips.rows.length === 0) return null;
        const agrees = (label: Scalar, row: number) => labels.names[labels.codes[row]] === label;
        const nBefore = flips.rows.filter((row, i) => agrees(flips.before[i], row)).length;
        const nAfter = flips.rows.filter((row, i) => agrees(flips.after[i], row)).length;
        return (
          <p key={judge} class="quiet">
            {judge === "network" ? "As the network" : "Right"}: {grouped(nBefore)} before, {grouped(nAfter)} after
          </p>
        );
      })}
      <ul class="ways">
        {ways.slice(0, 30).map(({ key, from, to, rows: own }) => (
          <li key={key}>
            <button type="button" class={way.value === key ? "is-on" : ""} aria-pressed={way.value === key} onClick={() => (way.value = way.value === key ? "" : key)}>
              <span class="number">{grouped(own.length)}</span> {chipOf(names, from)} → {chipOf(names, to)}
            </button>
          </li>
        ))}
        {ways.length > 30 && <li class="quiet">… and {grouped(ways.length - 30)} more ways</li>}
      </ul>
      <p class="row-buttons">
        {rows.slice(0, ROWS_AT_ONCE).map((row) => (
          <button key={row} type="button" aria-label={`Row ${table.numbers[row]}`} onClick={() => store.select({ kind: "row", row })}>
            {table.numbers[row]}
          </button>
        ))}
        {rows.length > ROWS_AT_ONCE && <span class="quiet">… and {grouped(rows.length - ROWS_AT_ONCE)} more</span>}
      </p>
    </section>
  );
}

interface Way {
  key: string;
  from: Scalar;
  to: Scalar;
  rows: number[];
}

/** Flips by both decisions, the most common first. */
function waysOf(flips: Flips): Way[] {
  const ways = new Map<string, Way>();
  flips.rows.forEach((row, i) => {
    const [from, to] = [flips.before[i], flips.after[i]];
    const key = JSON.stringify([from, to]);
    const known = ways.get(key);
    if (known === undefined) ways.set(key, { key, from, to, rows: [row] });
    else known.rows.push(row);
  });
  return [...ways.values()].sort((a, b) => b.rows.length - a.rows.length);
}
