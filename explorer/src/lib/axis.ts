/** The horizontal axis of a feature: its range, and the bars of its distribution, in a box of 1 × 1. */

import type { HistogramEntry } from "../payload";
import type { Feature, Term } from "./rules";

export interface Axis {
  kind: "numeric" | "categories";
  low: number;
  high: number;
  /** The values at both ends. */
  ends: readonly [number, number];
  /** The number of categories; 0 for numbers. */
  nSlots: number;
  /** The distribution as an SVG path; empty if it is not known. */
  bars: string;
  /** Where a value lies, from 0 to 1. */
  place: (value: number) => number;
}

/** What axes are made of: the store of either kind of report. */
export interface AxisSource {
  readonly payload: { histograms?: readonly (HistogramEntry | null)[] };
  readonly original: { readonly features: readonly Feature[]; readonly rules: readonly { readonly terms: readonly Term[] }[] };
}

const known = new WeakMap<AxisSource, Map<number, Axis>>();

/** Made once per feature. Without data, the range is that of the report's thresholds. */
export function axisOf(store: AxisSource, feature: number): Axis {
  let axes = known.get(store);
  if (axes === undefined) known.set(store, (axes = new Map()));
  let axis = axes.get(feature);
  if (axis === undefined) axes.set(feature, (axis = makeAxis(store, feature)));
  return axis;
}

function makeAxis(store: AxisSource, feature: number): Axis {
  const histogram = store.payload.histograms?.[feature] ?? null;
  const { kind, categories } = store.original.features[feature];
  if (kind !== "numeric") {
    const nSlots = categories === null ? 2 : Math.max(1, categories.length);
    return { kind: "categories", low: 0, high: nSlots, ends: [0, nSlots], nSlots, bars: barsOf(histogram), place: (code) => clamp((code + 0.5) / nSlots) };
  }
  const [low, high] = histogram?.kind === "numeric" ? [histogram.low, histogram.high] : thresholdRange(store, feature);
  // If each whole number has its own bar, a bound lies between two bars.
  const isStepped = histogram?.kind === "numeric" && histogram.is_whole && histogram.counts.length === high - low;
  const place = (value: number) => clamp(fraction(isStepped && Number.isFinite(value) ? Math.floor(value) + 0.5 : value, low, high));
  const ends = isStepped ? ([low + 0.5, high - 0.5] as const) : ([low, high] as const);
  return { kind: "numeric", low, high, ends, nSlots: 0, bars: barsOf(histogram), place };
}

/** The relative position of a value between two ends, whose distance may overflow a double while half of it does not. */
export function fraction(value: number, low: number, high: number): number {
  const scale = Number.isFinite(high - low) ? 1 : 0.5;
  const width = high * scale - low * scale;
  return width === 0 ? 0.5 : (value * scale - low * scale) / width;
}

/** The number at a relative position between two ends. */
export function between(low: number, high: number, part: number): number {
  return low * (1 - part) + high * part;
}

/** A number between two ends, rounded to about a thousandth of their distance. */
export function roundedWithin(value: number, low: number, high: number): number {
  const exponent = (number: number) => Math.floor(Math.log10(Math.abs(number)));
  const halfWidth = high / 2 - low / 2;
  if (value === 0 || halfWidth === 0) return value + 0;
  const digits = exponent(value) - exponent(halfWidth) + 4;
  const rounded = digits < 1 ? 0 : digits > 17 ? value : Number(value.toPrecision(digits));
  return Math.min(high, Math.max(low, rounded)) + 0;
}

/** The middle of a feature's axis as a short number, whole where all numbers are. */
export function middleOf(store: AxisSource, feature: number): number {
  const { ends } = axisOf(store, feature);
  const histogram = store.payload.histograms?.[feature] ?? null;
  const middle = ends[0] / 2 + ends[1] / 2;
  return histogram?.kind === "numeric" && histogram.is_whole ? Math.floor(middle) + 0 : roundedWithin(middle, ...ends);
}

function clamp(place: number): number {
  return Math.min(1, Math.max(0, place));
}

function thresholdRange(store: AxisSource, feature: number): [number, number] {
  const cuts: number[] = [];
  for (const rule of store.original.rules) {
    for (const term of rule.terms) if (term.feature === feature) cuts.push(...[term.low, term.high].filter(Number.isFinite));
  }
  if (cuts.length === 0) return [0, 1];
  let [low, high] = [cuts[0], cuts[0]];
  for (const cut of cuts) [low, high] = [Math.min(low, cut), Math.max(high, cut)];
  const margin = (high - low) / 10 || Math.abs(low) / 2 || 1;
  return [low - margin, high + margin];
}

function barsOf(histogram: HistogramEntry | null): string {
  if (histogram === null) return "";
  const { counts } = histogram;
  const largest = Math.max(...counts, 1);
  const width = 1 / counts.length;
  return counts
    .map((count, i) => {
      const height = (0.86 * count) / largest;
      return count === 0 ? "" : `M${fixed(i * width)} ${fixed(0.88 - height)}h${fixed(width)}V.88h${fixed(-width)}z`;
    })
    .join("");
}

function fixed(number: number): string {
  return String(Number(number.toFixed(4)));
}
