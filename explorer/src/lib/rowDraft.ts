/** The row that the Predict view is about: a row of the report, or a typical one, with some values changed. */

import { batch, computed, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Scalar } from "../payload";
import type { Store } from "../store";
import { axisOf } from "./axis";
import { rowValues } from "./evaluate";
import { perStore } from "./perStore";

export interface RowDraft {
  /** The row of the report that is started from; null for a typical row. */
  readonly base: ReadonlySignal<number | null>;
  readonly baseValues: ReadonlySignal<readonly number[]>;
  /** Encoded, one per feature, NaN where missing. */
  readonly values: ReadonlySignal<readonly number[]>;
  /** Features whose values differ from the base. */
  readonly changed: ReadonlySignal<ReadonlySet<number>>;
  setBase: (row: number | null) => void;
  setValues: (changes: ReadonlyMap<number, number>) => void;
  reset: () => void;
}

export const rowDraftOf = perStore((store): RowDraft => {
  const row: Signal<string> = store.address.param("predict.row", "");
  const written: Signal<string> = store.address.param("predict.set", "");
  const base = computed(() => {
    const { table } = store;
    if (table === null || table.nRows === 0 || row.value === "typical") return null;
    const selection = store.selection.value;
    const asked = /^\d+$/.test(row.value) ? Number(row.value) : selection?.kind === "row" ? selection.row : 0;
    return asked < table.nRows ? asked : 0;
  });
  const baseValues = computed((): readonly number[] => {
    if (base.value === null || store.table === null) return typicalRow(store);
    return rowValues(store.table, base.value).map((value) => value ?? NaN);
  });
  const overrides = computed(() => readValues(written.value, store.original.features.length));
  const values = computed(() => baseValues.value.map((value, feature) => overrides.value.get(feature) ?? value));
  const changed = computed(() => new Set(values.value.flatMap((value, feature) => (Object.is(value, baseValues.value[feature]) ? [] : [feature]))));
  return {
    base,
    baseValues,
    values,
    changed,
    setBase: (next) => {
      const change = () => {
        row.value = next === null ? "typical" : String(next);
        written.value = "";
      };
      // Values set by hand are got back with the browser's Back; through the rows one goes without such steps.
      if (written.value === "") batch(change);
      else store.address.step(change);
    },
    setValues: (changes) => {
      // What is shown now stays the start, even if another row is selected later.
      row.value = base.value === null ? "typical" : String(base.value);
      const next = new Map([...overrides.value, ...changes]);
      for (const [feature, value] of next) if (Object.is(value, baseValues.value[feature])) next.delete(feature);
      written.value = [...next].map(([feature, value]) => `${feature}:${value}`).join(";");
    },
    reset: () => store.address.step(() => (written.value = "")),
  };
});

function readValues(text: string, nFeatures: number): Map<number, number> {
  const found = new Map<number, number>();
  for (const part of text.split(";")) {
    const [feature, value] = part.split(":");
    if (/^\d+$/.test(feature) && value !== undefined && Number(feature) < nFeatures) found.set(Number(feature), Number(value));
  }
  return found;
}

/** The middle of every axis, and the most common category. */
function typicalRow(store: Store): number[] {
  return store.original.features.map((feature, place) => {
    const histogram = store.payload.histograms?.[place] ?? null;
    if (feature.kind !== "numeric") return histogram === null ? 0 : histogram.counts.indexOf(Math.max(...histogram.counts));
    const { low, high } = axisOf(store, place);
    return Number(((low + high) / 2).toPrecision(3));
  });
}

/** A row as the network's server takes it: raw values, null where missing or not known. */
export function rawRow(store: Store, values: readonly number[]): (Scalar | null)[] {
  return store.original.features.map(({ kind, categories }, place) => {
    const value = values[place];
    if (!Number.isFinite(value)) return null;
    if (categories !== null) return categories[value] ?? null;
    return kind === "binary" ? value === 1 : value;
  });
}
