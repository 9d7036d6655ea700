/** All rules: searched, filtered and sorted, as a table or as a matrix of rules × features. */

import { useComputed } from "@preact/signals";
import { chipWidth, ClassChip } from "../components/ClassMark";
import { type Sorting, type TableColumn, VirtualTable } from "../components/VirtualTable";
import { countBits, countCommon, hasBit } from "../lib/bits";
import { countLabelled } from "../lib/evaluate";
import { type Filter, filtered, sortedBy } from "../lib/filter";
import { whyTermsUnknown } from "../lib/leftOut";
import { type Rule, type RuleSet, termKey } from "../lib/rules";
import { readSelection, rowsOfCohort, type Selection, writeSelection } from "../lib/selection";
import { counted, describePremise, describeTerm, formatLabel, grouped, MOST_CATEGORIES, percent, shortNumber } from "../lib/text";
import { type Store, useStore } from "../store";
import { RuleMatrix } from "./RuleMatrix";
import "./rules.css";

export function Rules() {
  const store = useStore();
  const params = paramsOf(store);
  const places = useComputed(() => shownPlaces(store));
  const selected = store.selection.value;
  const active = selected?.kind === "rule" ? places.value.findIndex((place) => store.rules.value.rules[place].id === selected.id) : -1;
  const select = (row: number) => store.selectRule(store.rules.value.rules[places.value[row]].id);
  return (
    <>
      <Toolbar nShown={places.value.length} />
      {params.as.value === "matrix" ? (
        <RuleMatrix places={places.value} active={active} onActivate={select} />
      ) : (
        <RuleTable places={places.value} active={active} onActivate={select} />
      )}
    </>
  );
}

/** Everything that a link to this view brings back. */
function paramsOf(store: Store) {
  const param = (name: string, fallback = "") => store.address.param(`rules.${name}`, fallback);
  return {
    query: param("q"),
    classIndex: param("class"),
    feature: param("feature"),
    term: param("term"),
    length: param("length"),
    support: param("support"),
    confidence: param("confidence"),
    layer: param("layer"),
    sort: param("sort"),
    fired: param("fired"),
    as: param("as", "table"),
  };
}

function filterOf(store: Store): Filter {
  const params = paramsOf(store);
  const number = (text: string) => (text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text));
  const confidence = number(params.confidence.value);
  return {
    query: params.query.value,
    classIndex: number(params.classIndex.value),
    feature: number(params.feature.value),
    term: params.term.value === "" ? null : params.term.value,
    maxLength: number(params.length.value),
    minSupport: number(params.support.value),
    minConfidence: confidence === null ? null : confidence / 100,
    layer: params.layer.value === "" ? null : params.layer.value,
  };
}

/** The sorting in the address: "confidence", or "-confidence" for descending. */
function sortingOf(store: Store): Sorting | null {
  const text = paramsOf(store).sort.value;
  return text === "" ? null : { key: text.replace(/^-/, ""), isDescending: text.startsWith("-") };
}

function shownPlaces(store: Store): number[] {
  const set = store.rules.value;
  const nFired = firedOnRows(store, readSelection(paramsOf(store).fired.value));
  const places = filtered(set, filterOf(store)).filter((place) => nFired === null || nFired(place) > 0);
  const sorting = sortingOf(store);
  const value = sorting === null ? undefined : sortValue(store, sorting.key);
  return sorting === null || value === undefined ? places : sortedBy(places, value, sorting.isDescending);
}

function sortValue(store: Store, key: string): ((place: number) => number | string) | undefined {
  const set = store.rules.value;
  const of = (value: (rule: Rule) => number | string) => (place: number) => value(set.rules[place]);
  switch (key) {
    case "place":
      return (place) => place;
    case "class":
      return of((rule) => rule.classIndex);
    case "length":
      return of((rule) => rule.terms.length);
    case "confidence":
      return of((rule) => rule.confidence);
    case "support":
      return of((rule) => rule.cover);
    case "weight":
      return of((rule) => rule.weight);
    case "layer":
      return of((rule) => rule.origin?.layer ?? "");
    case "chosen":
      return firedOnRows(store, chosenRows(store)) ?? undefined;
    case "fires":
      return (place) => (whyUnknown(store, place) === null ? firesOn(store, place) : -1);
    case "agrees":
      return (place) => agreement(store, place) ?? -1;
    default:
      return undefined;
  }
}

/** Why it is not known on which rows a rule fires; null where it is. */
function whyUnknown(store: Store, place: number): string | null {
  const set = store.rules.value;
  return store.table === null ? null : whyTermsUnknown(set.rules[place].terms, set, store.table);
}

function firesOn(store: Store, place: number): number {
  const found = store.evaluation.value;
  return found === null ? 0 : countBits(found.covers[place]);
}

/** The row or cohort that the rules are seen against: the one selected, else the one that they are filtered by. */
function chosenRows(store: Store): Selection | null {
  const selection = store.selection.value;
  if (store.table === null) return null;
  return selection?.kind === "row" || selection?.kind === "cohort" ? selection : readSelection(paramsOf(store).fired.value);
}

/** By place of a rule, on how many rows of a row or cohort it fires; null where none is given. */
function firedOnRows(store: Store, rows: Selection | null): ((place: number) => number) | null {
  const { table } = store;
  const found = store.evaluation.value;
  if (found === null || table === null || rows === null || rows.kind === "rule") return null;
  if (rows.kind === "row") return (place) => (rows.row < found.nRows && hasBit(found.covers[place], rows.row) ? 1 : 0);
  const bits = rowsOfCohort(rows.cohort, table, found);
  return (place) => countCommon(found.covers[place], bits);
}

/** Of the rows on which a rule fires, the part whose reference label (network, else truth) is its class. */
function agreement(store: Store, place: number): number | null {
  const found = store.evaluation.value;
  const reference = store.table?.network ?? store.table?.truth;
  if (found === null || reference == null) return null;
  const n = firesOn(store, place);
  return n === 0 ? null : countLabelled(found.covers[place], reference.codes, store.rules.value.rules[place].classIndex) / n;
}

// --- Filters ---

function Toolbar({ nShown }: { nShown: number }) {
  const store = useStore();
  const params = paramsOf(store);
  const set = store.rules.value;
  const tested = useComputed(() => [...new Set(store.rules.value.rules.flatMap((rule) => rule.terms.map((term) => term.feature)))].sort((a, b) => a - b)).value;
  const layers = useComputed(() => [...new Set(store.rules.value.rules.map((rule) => rule.origin?.layer ?? ""))].filter((layer) => layer !== "")).value;
  const { query, classIndex, feature, term, length, support, confidence, layer } = params;
  const filters = [query, classIndex, feature, term, length, support, confidence, layer, params.fired];
  // The rows are kept by name, so that the rules can be gone through one by one.
  const firedRows = readSelection(params.fired.value);
  const rows = firedRows ?? chosenRows(store);
  const isSelection = rows !== null && writeSelection(rows) === writeSelection(store.selection.value);
  const isFiltered = filters.some((filter) => filter.value !== "");
  return (
    <div class="toolbar" role="search" aria-label="Filter the rules">
      <input type="search" placeholder="Search: age nurse …" aria-label="Words in the rule" value={query.value} onInput={(event) => (query.value = event.currentTarget.value)} />
      <Choice label="Class" value={classIndex.value} onChange={(value) => (classIndex.value = value)} options={set.classes.map((name, index) => [String(index), formatLabel(name)])} />
      <Choice label="Feature" value={feature.value} onChange={(value) => (feature.value = value)} options={tested.map((place) => [String(place), set.features[place].name])} />
      {term.value !== "" && <Choice label="Term" value={term.value} onChange={(value) => (term.value = value)} options={[[term.value, termText(set, term.value)]]} />}
      {layers.length > 0 && <Choice label="Layer" value={layer.value} onChange={(value) => (layer.value = value)} options={layers.map((name) => [name, name])} />}
      <Bound label="Terms ≤" value={length.value} onInput={(value) => (length.value = value)} />
      <Bound label="Support ≥" value={support.value} onInput={(value) => (support.value = value)} />
      <Bound label="Confidence % ≥" value={confidence.value} onInput={(value) => (confidence.value = value)} />
      {rows !== null && (
        <label class="bound">
          <input type="checkbox" checked={firedRows !== null} onChange={(event) => (params.fired.value = event.currentTarget.checked ? writeSelection(rows) : "")} />
          <span>Only rules that fire on {isSelection ? "the selection" : `“${store.describeSelection(rows)}”`}</span>
        </label>
      )}
      <button type="button" disabled={!isFiltered} onClick={() => filters.forEach((filter) => (filter.value = ""))}>
        Clear
      </button>
      <span class="spacer" />
      <span aria-live="polite">{nShown === set.rules.length ? counted(nShown, "rule") : `${grouped(nShown)} of ${counted(set.rules.length, "rule")}`}</span>
      <span class="switch" role="group" aria-label="Shown as">
        {(["table", "matrix"] as const).map((kind) => (
          <button key={kind} type="button" aria-pressed={params.as.value === kind} class={params.as.value === kind ? "is-on" : ""} onClick={() => (params.as.value = kind)}>
            {kind === "table" ? "Table" : "Matrix"}
          </button>
        ))}
      </span>
    </div>
  );
}

/** A term by its key, as the rules that have it say it. */
function termText(set: RuleSet, key: string): string {
  for (const rule of set.rules) {
    const found = rule.terms.find((term) => termKey(term) === key);
    if (found !== undefined) return describeTerm(found, set.features[found.feature]);
  }
  return "one that no rule has now";
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)} class={value === "" ? "" : "is-on"}>
      <option value="">{label}: all</option>
      {options.map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  );
}

function Bound({ label, value, onInput }: { label: string; value: string; onInput: (value: string) => void }) {
  return (
    <label class="bound">
      <span>{label}</span>
      <input type="number" min="0" step="any" value={value} onInput={(event) => onInput(event.currentTarget.value)} />
    </label>
  );
}

// --- Table ---

interface ListProps {
  places: readonly number[];
  active: number;
  onActivate: (row: number) => void;
}

function RuleTable({ places, active, onActivate }: ListProps) {
  const store = useStore();
  const set = store.rules.value;
  const ruleAt = (row: number) => set.rules[places[row]];
  const sort = (key: string) => {
    const now = sortingOf(store);
    // Numbers are wanted largest first; a second click turns the order round, a third one ends it.
    const isText = key === "place" || key === "class" || key === "layer";
    const order = isText ? [key, `-${key}`, ""] : [`-${key}`, key, ""];
    const at = now?.key === key ? order.indexOf(now.isDescending ? `-${key}` : key) : -1;
    paramsOf(store).sort.value = order[at + 1] ?? "";
  };
  const classWidth = chipWidth(set.classes);
  const columns: TableColumn[] = [
    { key: "place", title: "#", hint: "Position in the rule set, from 0", width: 52, align: "end", isSortable: true, cell: (row) => places[row] },
    { key: "class", title: "THEN", width: classWidth, isSortable: true, cell: (row) => <ClassChip index={ruleAt(row).classIndex} /> },
    { key: "premise", title: "IF", cell: (row) => <Premise rule={ruleAt(row)} /> },
    { key: "length", title: "Terms", width: 66, align: "end", isSortable: true, cell: (row) => ruleAt(row).terms.length },
    { key: "confidence", title: "Conf.", hint: "Confidence, as estimated when the rule was made", width: 76, align: "end", isSortable: true, cell: (row) => percent(ruleAt(row).confidence) },
    { key: "support", title: "Support", hint: "Rows covered when the rule was made", width: 82, align: "end", isSortable: true, cell: (row) => grouped(ruleAt(row).cover) },
  ];
  if (set.voting === "weights") {
    columns.push({ key: "weight", title: "Weight", width: 84, align: "end", isSortable: true, cell: (row) => shortNumber(ruleAt(row).weight) });
  }
  if (store.table !== null) {
    columns.push({ key: "fires", title: "Fires", hint: "Rows in this report on which it fires", width: store.whyUnknown.value === null ? 64 : 88, align: "end", isSortable: true, cell: (row) => <Fires place={places[row]} /> });
    if (store.table.network !== null || store.table.truth !== null) {
      columns.push({
        key: "agrees",
        title: store.table.network !== null ? "Agrees" : "Right",
        hint: store.table.network !== null ? "Where it fires, the network decides for its class" : "Where it fires, its class is the true one",
        width: 78,
        align: "end",
        isSortable: true,
        cell: (row) => {
          const part = agreement(store, places[row]);
          return part === null ? "–" : percent(part);
        },
      });
    }
  }
  const chosen = chosenRows(store);
  const nFired = firedOnRows(store, chosen);
  if (nFired !== null) {
    const isRow = chosen?.kind === "row";
    columns.push({
      key: "chosen",
      title: isRow ? "On row" : "On rows",
      hint: isRow ? "Whether it fires on the row selected" : "On how many of the rows selected it fires",
      width: 84,
      align: "end",
      isSortable: true,
      cell: (row) => {
        const n = nFired(places[row]);
        return isRow ? (n > 0 ? "fires" : "–") : grouped(n);
      },
    });
  }
  if (set.rules.some((rule) => rule.origin?.layer != null)) {
    columns.push({ key: "layer", title: "Layer", width: 86, isSortable: true, cell: (row) => <span class="clip">{ruleAt(row).origin?.layer ?? ""}</span> });
  }
  return (
    <VirtualTable
      label="Rules"
      nRows={places.length}
      columns={columns}
      active={active}
      onActivate={onActivate}
      sorting={sortingOf(store)}
      onSort={sort}
      minWidth={classWidth + 640 + (nFired !== null ? 84 : 0)}
      empty="No rule passes these filters."
    />
  );
}

function Fires({ place }: { place: number }) {
  const store = useStore();
  const why = whyUnknown(store, place);
  if (why === null) return <>{grouped(firesOn(store, place))}</>;
  return <span title={`Not known here: ${why}`}>not known</span>;
}

function Premise({ rule }: { rule: Rule }) {
  const { features } = useStore().rules.value;
  return (
    <span class="clip" title={describePremise(rule, features)}>
      {rule.priority && <span class="badge">priority</span>} {describePremise(rule, features, MOST_CATEGORIES)}
    </span>
  );
}
