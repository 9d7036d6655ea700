/** The rate at which two judges differ, per bin of each feature. Pure functions. */

import type { DifferencesEntry, FeatureDifferencesEntry } from "../payload";
import { type Bits, hasBit } from "./bits";
import { type Feature, type Term, termOn } from "./rules";
import { type Table, valueAt } from "./table";
import { formatCategory, shortNumber } from "./text";

export interface Rates {
  readonly feature: number;
  /** Bins with rows; `bin` is the place among all. */
  readonly bins: readonly { bin: number; name: string; nRows: number; nDiffer: number }[];
  /** How far the rates are from the common one, beyond what chance explains. */
  readonly deviation: number;
}

/** As counted in Python, on all data given. */
export function ratesGiven(entry: DifferencesEntry, features: readonly Feature[]): Rates[] {
  return entry.features.map((one) => ratesOf(one, features[one.feature], one.n_rows, one.n_differ));
}

/** On the rows of the page, in the bins of the report. */
export function ratesHere(entry: DifferencesEntry, features: readonly Feature[], table: Table, differs: Bits): Rates[] {
  const counted = entry.features.flatMap((one): Rates[] => {
    const column = table.columns[one.feature];
    if (column === null) return [];
    const nRows = one.n_rows.map(() => 0);
    const nDiffer = one.n_rows.map(() => 0);
    for (let row = 0; row < table.nRows; row++) {
      const bin = binOf(one, valueAt(column, row));
      nRows[bin]++;
      if (hasBit(differs, row)) nDiffer[bin]++;
    }
    return [ratesOf(one, features[one.feature], nRows, nDiffer)];
  });
  return counted.sort((a, b) => b.deviation - a.deviation || a.feature - b.feature);
}

function binOf({ cuts, n_rows }: FeatureDifferencesEntry, value: number): number {
  const missing = n_rows.length - 1;
  if (value !== value) return missing;
  if (cuts === null) return Math.min(value, missing - 1);
  const bin = cuts.findIndex((cut) => value <= cut);
  return bin < 0 ? cuts.length : bin;
}

function ratesOf({ feature, cuts }: FeatureDifferencesEntry, about: Feature, nRows: readonly number[], nDiffer: readonly number[]): Rates {
  const bins = nRows.map((n, bin) => ({ bin, name: nameOf(about, cuts, bin, nRows.length), nRows: n, nDiffer: nDiffer[bin] })).filter((bin) => bin.nRows > 0);
  return { feature, bins, deviation: deviationOf(bins) };
}

/** The term that a bin stands for; null if the report has no such bin. Unknown categories have no term. */
export function binTerm(entry: DifferencesEntry | undefined, feature: number, bin: number): Term | null {
  const found = entry?.features.find((one) => one.feature === feature);
  if (found === undefined || bin >= found.n_rows.length) return null;
  if (bin === found.n_rows.length - 1) return termOn(feature, { missing: true });
  if (found.cuts === null) return termOn(feature, { codes: [bin] });
  return termOn(feature, { low: found.cuts[bin - 1] ?? -Infinity, high: found.cuts[bin] ?? Infinity });
}

function nameOf(about: Feature, cuts: readonly number[] | null, bin: number, nBins: number): string {
  if (bin === nBins - 1) return "missing";
  if (cuts === null) {
    if (about.categories === null) return bin === 0 ? "false" : "true";
    const category = about.categories[bin];
    return category === undefined ? "unknown category" : formatCategory(category, about);
  }
  if (cuts.length === 0) return "any value";
  const short = (cut: number) => shortNumber(Number(cut.toPrecision(4)));
  if (bin === 0) return `≤ ${short(cuts[0])}`;
  return bin === cuts.length ? `> ${short(cuts[bin - 1])}` : `${short(cuts[bin - 1])} to ${short(cuts[bin])}`;
}

function deviationOf(bins: Rates["bins"]): number {
  const total = bins.reduce((sum, bin) => sum + bin.nRows, 0);
  if (total === 0) return 0;
  const rate = bins.reduce((sum, bin) => sum + bin.nDiffer, 0) / total;
  const spread = bins.reduce((sum, bin) => sum + bin.nRows * (bin.nDiffer / bin.nRows - rate) ** 2, 0);
  return Math.sqrt(Math.max(0, spread - (bins.length - 1) * rate * (1 - rate)) / total);
}
