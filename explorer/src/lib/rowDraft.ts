/** The row that the Predict view is about: a row of the report, or a typical one, with some values changed. */

import { batch, computed, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Scalar } from "../payload";
import type { Address } from "./address";
import { type AxisSource, middleOf } from "./axis";
import { rowValues } from "./evaluateRow";
import { perStore } from "./perStore";
import type { Feature } from "./rules";
import { placeOfNumber, type Selection } from "./selection";
import type { AskedRow } from "./served";
import type { Table } from "./table";
import { describeValue, formatName } from "./text";

export interface RowDraft {
  /** The row of the report that the draft starts from; null for a typical row. */
  readonly base: ReadonlySignal<number | null>;
  /** The number of a row that the address names but that is not in this report; null if there is none. */
  readonly unknownRow: ReadonlySignal<number | null>;
  readonly baseValues: ReadonlySignal<readonly number[]>;
  /** Encoded, one per feature, NaN where missing. */
  readonly values: ReadonlySignal<readonly number[]>;
  /** Features whose values differ from the base, or may differ. */
  readonly changed: ReadonlySignal<ReadonlySet<number>>;
  /** Features whose values the report left out and that have not been set since. */
  readonly leftOut: ReadonlySignal<ReadonlySet<number>>;
  setBase: (row: number | null) => void;
  setValues: (changes: ReadonlyMap<number, number>) => void;
  reset: () => void;
}

/** What a draft starts from: the store of either kind of report. */
export interface DraftSource extends AxisSource {
  readonly address: Address;
  readonly table: Table | null;
  readonly selection: ReadonlySignal<Selection | null>;
}

export const rowDraftOf = perStore((store: DraftSource): RowDraft => {
  const row: Signal<string> = store.address.param("predict.row", "");
  const written: Signal<string> = store.address.param("predict.set", "");
  const base = computed(() => {
    const { table } = store;
    if (table === null || table.nRows === 0 || row.value === "typical") return null;
    const selection = store.selection.value;
    const asked = /^\d+$/.test(row.value) ? placeOfNumber(Number(row.value), table) : selection?.kind === "row" ? selection.row : 0;
    // A row that is not in this report; not another one in its place.
    return asked < table.nRows ? asked : null;
  });
  const unknownRow = computed(() => (base.value === null && /^\d+$/.test(row.value) && store.table !== null ? Number(row.value) : null));
  const baseValues = computed((): readonly number[] => {
    if (base.value === null || store.table === null) return typicalRow(store);
    return rowValues(store.table, base.value).map((value) => value ?? NaN);
  });
  const overrides = computed(() => readValues(written.value, store.original.features.length));
  const values = computed(() => baseValues.value.map((value, feature) => overrides.value.get(feature) ?? value));
  const isLeftOut = (feature: number): boolean => base.value !== null && store.table?.columns[feature] === null;
  /** Whether a value given for a feature is that of the base. All unknown categories have one code, so these may differ. */
  const isAsBase = (feature: number, value: number): boolean => {
    const { categories } = store.original.features[feature];
    return Object.is(value, baseValues.value[feature]) && value !== categories?.length && !isLeftOut(feature);
  };
  const changed = computed(() => new Set([...overrides.value].flatMap(([feature, value]) => (isAsBase(feature, value) ? [] : [feature]))));
  const leftOut = computed(() => new Set(baseValues.value.flatMap((_, feature) => (isLeftOut(feature) && !overrides.value.has(feature) ? [feature] : []))));
  return {
    base,
    unknownRow,
    baseValues,
    values,
    changed,
    leftOut,
    setBase: (next) => {
      const change = () => {
        row.value = next === null ? "typical" : String(store.table?.numbers[next] ?? next);
        written.value = "";
      };
      // The browser's Back restores values set by hand; stepping through rows leaves no history.
      if (written.value === "") batch(change);
      else store.address.step(change);
    },
    setValues: (changes) => {
      // Keep the current row as the base, even if another row is selected later.
      row.value = base.value === null ? "typical" : String(store.table?.numbers[base.value] ?? base.value);
      const next = new Map([...overrides.value, ...changes]);
      for (const [feature, value] of next) if (isAsBase(feature, value)) next.delete(feature);
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
function typicalRow(store: DraftSource): number[] {
  return store.original.features.map((feature, place) => {
    const histogram = store.payload.histograms?.[place] ?? null;
    if (feature.kind !== "numeric") return histogram === null ? 0 : histogram.counts.indexOf(Math.max(...histogram.counts));
    return middleOf(store, place);
  });
}

/**
 * A question to the network's server: the row of the draft, with some more values changed. Of a row that
 * the server has, only changes are sent, as the page may not have all its values. A text says why the network cannot
 * be asked.
 */
export function questionOf(store: DraftSource, draft: RowDraft, more: ReadonlyMap<number, number>): AskedRow | string {
  const { features } = store.original;
  const values = draft.values.value.map((value, feature) => more.get(feature) ?? value);
  const row = draft.base.value;
  const sent = row === null ? [...features.keys()] : [...new Set([...draft.changed.value, ...more.keys()])].sort((a, b) => a - b);
  const nameless = sent.find((feature) => !hasRawValue(features[feature], values[feature]));
  if (nameless !== undefined) {
    const { name } = features[nameless];
    return `The network cannot be asked: ${formatName(name)} is ${describeValue(values[nameless], features[nameless])}.`;
  }
  const raw = sent.map((feature) => rawValue(features[feature], values[feature]));
  if (row === null || store.table === null) return raw;
  return { number: store.table.numbers[row], changes: sent.map((feature, i) => [feature, raw[i]] as const) };
}

/** JSON has no infinite numbers, and the value of an unknown category is not known. */
function hasRawValue({ categories }: Feature, value: number): boolean {
  return value !== value || (categories === null ? Number.isFinite(value) : value < categories.length);
}

/** The raw value of an encoded one; null if it is missing. */
function rawValue({ kind, categories }: Feature, value: number): Scalar | null {
  if (value !== value) return null;
  if (categories !== null) return categories[value];
  return kind === "binary" ? value === 1 : value;
}
