/** The filters of the list of rules. */

import { useComputed } from "@preact/signals";
import { layerName } from "../../lib/origin";
import { type RuleSet, termKey } from "../../lib/rules";
import { readSelection, writeSelection } from "../../lib/selection";
import { counted, describeTerm, featureName, formatLabel, grouped } from "../../lib/text";
import { useStore } from "../../store";
import { chosenRows, clearFilters, nFilters, paramsOf } from "./listed";

export function Toolbar({ nShown }: { nShown: number }) {
  const store = useStore();
  const params = paramsOf(store);
  const set = store.rules.value;
  const tested = useComputed(() => [...new Set(store.rules.value.rules.flatMap((rule) => rule.terms.map((term) => term.feature)))].sort((a, b) => a - b)).value;
  const layers = useComputed(() => [...new Set(store.rules.value.rules.map((rule) => rule.origin?.layer ?? ""))].filter((layer) => layer !== "")).value;
  const { query, classIndex, feature, term, length, support, confidence, layer } = params;
  // The filter names its rows, so it stays when rules are selected one by one.
  const firedRows = readSelection(params.fired.value, store.table);
  const rows = firedRows ?? chosenRows(store);
  const isSelection = rows !== null && writeSelection(rows, store.table) === writeSelection(store.selection.value, store.table);
  const isFiltered = nFilters(store) > 0;
  return (
    <div class="toolbar" role="search" aria-label="Filter the rules">
      <input type="search" placeholder="Search: age nurse …" aria-label="Words in the rule" value={query.value} onInput={(event) => (query.value = event.currentTarget.value)} />
      <Choice label="Class" value={classIndex.value} onChange={(value) => (classIndex.value = value)} options={set.classes.map((name, index) => [String(index), formatLabel(name)])} />
      <Choice label="Feature" value={feature.value} onChange={(value) => (feature.value = value)} options={tested.map((place) => [String(place), featureName(set.features[place])])} />
      {term.value !== "" && <Choice label="Term" value={term.value} onChange={(value) => (term.value = value)} options={[[term.value, termText(set, term.value)]]} />}
      {layers.length > 0 && <Choice label="Layer" value={layer.value} onChange={(value) => (layer.value = value)} options={layers.map((name) => [name, layerName(name)])} />}
      <Bound label="Terms ≤" value={length.value} onInput={(value) => (length.value = value)} />
      <Bound label="Support ≥" value={support.value} onInput={(value) => (support.value = value)} />
      <Bound label="Confidence % ≥" value={confidence.value} onInput={(value) => (confidence.value = value)} />
      {rows !== null && (
        <label class="bound">
          <input type="checkbox" checked={firedRows !== null} onChange={(event) => (params.fired.value = event.currentTarget.checked ? writeSelection(rows, store.table) : "")} />
          <span>Only rules that fire on {isSelection ? "the selection" : `“${store.describeSelection(rows)}”`}</span>
        </label>
      )}
      <button type="button" disabled={!isFiltered} onClick={() => clearFilters(store)}>
        Clear
      </button>
      <span class="spacer" />
      <span aria-live="polite">{nShown === set.rules.length ? counted(nShown, "rule") : `${grouped(nShown)} of ${counted(set.rules.length, "rule")}`}</span>
      <span class="switch" role="group" aria-label="Shown as">
        {(["matrix", "table"] as const).map((kind) => (
          <button key={kind} type="button" aria-pressed={params.as.value === kind} class={params.as.value === kind ? "is-on" : ""} onClick={() => (params.as.value = kind)}>
            {kind === "table" ? "Table" : "Matrix"}
          </button>
        ))}
      </span>
    </div>
  );
}

/** The text of a term, given its key. */
function termText(set: RuleSet, key: string): string {
  for (const rule of set.rules) {
    const found = rule.terms.find((term) => termKey(term) === key);
    if (found !== undefined) return describeTerm(found, set.features[found.feature]);
  }
  return "a term that no longer occurs";
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
