/** The smallest change that flips the decision. */

import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";
import { ClassChip } from "../../components/ClassMark";
import { type Counterfactual, CounterfactualSearch, type ValueChange } from "../../lib/counterfactuals/search";
import { locksOf } from "../../lib/locks";
import type { RowDraft } from "../../lib/rowDraft";
import type { Feature } from "../../lib/rules";
import { describeShortly, describeValue, featureName, formatLabel, shortNumber } from "../../lib/text";
import { useStore } from "../../store";
import { PAUSE_MS, SLICE_MS } from "./timing";

interface ChangeState {
  found: ReadonlySignal<Counterfactual | null>;
  isSearching: ReadonlySignal<boolean>;
}

/** Searches shortly after the last change of values, in slices between which the page stays responsive. */
export function useSmallestChange(draft: RowDraft, search: ReadonlySignal<CounterfactualSearch>): ChangeState {
  const store = useStore();
  const to = store.address.param("predict.to", "");
  const most = store.address.param("predict.most", "2");
  const found = useSignal<Counterfactual | null>(null);
  const isSearching = useSignal(true);
  const { locked } = locksOf(store);
  useSignalEffect(() => {
    const wish = { to: /^\d+$/.test(to.value) ? Number(to.value) : null, maxFeatures: most.value === "1" ? (1 as const) : (2 as const), fixed: locked.value };
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

interface Props {
  draft: RowDraft;
  change: ChangeState;
  search: ReadonlySignal<CounterfactualSearch>;
}

export function SmallestChange({ draft, change, search }: Props) {
  const store = useStore();
  const set = store.rules.value;
  const to = store.address.param("predict.to", "");
  const most = store.address.param("predict.most", "2");
  const found = change.found.value;
  const locked = [...locksOf(store).locked.value].filter((feature) => feature < set.features.length);
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
        {change.isSearching.value ? <p class="quiet">Searching …</p> : found === null ? <p>None: no such change{locked.length > 0 ? " of the other values" : ""} flips the decision.</p> : <FoundChange draft={draft} found={found} units={search.value.units} />}
      </div>
      <p class="quiet">{locked.length === 0 ? "Any value may change; a lock beside its name keeps it." : `Locked: ${locked.map((feature) => featureName(set.features[feature])).join(", ")}.`}</p>
    </div>
  );
}

/** How far a value moves: a number in units of its spread; a category is simply another one. */
function distanceText(feature: Feature, change: ValueChange, unit: number, hasRows: boolean): string {
  if (feature.kind !== "numeric") return "another value";
  const moved = Math.abs(change.after - change.before) / unit;
  return `${shortNumber(moved)} ${hasRows ? (moved === 1 ? "standard deviation" : "standard deviations") : "of the range of thresholds"}`;
}

function FoundChange({ draft, found, units }: { draft: RowDraft; found: Counterfactual; units: ArrayLike<number> }) {
  const store = useStore();
  const { features } = store.rules.value;
  if (found.changes.length === 0) return <p>None needed: this is already the decision.</p>;
  return (
    <>
      <ul>
        {found.changes.map(({ feature, before, after }) => (
          <li key={feature}>
            {featureName(features[feature])} <span class="quiet">{describeShortly(before, features[feature])} →</span> <strong>{describeValue(after, features[feature])}</strong>{" "}
            <span class="quiet">({distanceText(features[feature], { feature, before, after }, units[feature], store.table !== null)})</span>
          </li>
        ))}
      </ul>
      <p>
        becomes <ClassChip index={found.becomes} />
      </p>
      <button type="button" onClick={() => draft.setValues(new Map(found.changes.map(({ feature, after }) => [feature, after])))}>
        Make this change
      </button>
    </>
  );
}
