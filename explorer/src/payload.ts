/**
 * The contract with Python (src/clausewise/report/payload.py): the JSON inside a report.
 *
 * Numbers of rows are packed: little-endian arrays in base64. Everything else is plain JSON. Nothing in here is
 * trusted to be HTML: it is only ever shown as text.
 */

export type Scalar = string | number | boolean;
export type Kind = "numeric" | "binary" | "categorical";
export type Voting = "confidence" | "majority" | "share" | "weights";

/** A rule file, exactly as `RuleSet.save` writes it (docs/rule-file-format.md). */
export interface RuleFile {
  format: "clausewise-rules";
  version: 1;
  voting: Voting;
  default: Scalar;
  classes: Scalar[];
  class_dtype: string;
  named: boolean;
  base?: number[];
  scale?: number;
  features: FeatureEntry[];
  rules: RuleEntry[];
  changes?: ChangeEntry[];
}

export interface FeatureEntry {
  name: string;
  kind: Kind;
  categories?: Scalar[];
}

export interface RuleEntry {
  if: TermEntry[];
  then: Scalar;
  confidence: number;
  cover: number;
  correct: number;
  weight: number;
  priority?: boolean;
  origin?: { layer: string | null; clause: string | null };
}

/** `low < x ≤ high` (an open end is absent or null), or x one of `values`. */
export interface TermEntry {
  feature: string;
  low?: number | null;
  high?: number | null;
  values?: Scalar[];
}

export interface ChangeEntry {
  action: "added" | "removed" | "replaced" | "reweighted";
  rule: number;
  before?: string;
  after?: string;
  note?: string;
}

/** A packed array: "u1", "u2", "u4" unsigned integers, "f4", "f8" floating point numbers. */
export interface Packed {
  type: "u1" | "u2" | "u4" | "f4" | "f8";
  data: string;
}

/**
 * The cells of one column, encoded as `Features.encode` does: categories are codes, an unknown category is
 * the number of categories, a missing value is NaN.
 * "dictionary": the distinct values, ascending with NaN last, and for each row the place of its value.
 * "plain": for each row its value; shorter where nearly all values differ.
 */
export type ColumnEntry =
  | { encoding: "dictionary"; values: Packed; codes: Packed }
  | { encoding: "plain"; values: Packed };

/** One label per row: places in the classes followed by `extra`, labels that the rules do not know. */
export interface LabelsEntry {
  codes: Packed;
  extra: Scalar[];
}

export interface RowsEntry {
  /** Rows in this report, and rows that were given. */
  n_shown: number;
  n_total: number;
  /** The seed of the draw. */
  seed: number;
  /** For each row its number in the data given, from 0. */
  numbers: Packed;
  /** One entry per feature; null where the values were left out to keep the report small. */
  columns: (ColumnEntry | null)[];
  truth?: LabelsEntry;
  network?: LabelsEntry;
  /** Probabilities of the network, row by row, one per class of the rules. */
  network_proba?: Packed;
}

/**
 * How a feature is distributed in all data given. The bins of numbers have equal widths from low to high; the first
 * and the last also hold what lies beyond. Least and greatest value are null where all are infinite or missing.
 */
export type HistogramEntry =
  | {
      kind: "numeric";
      low: number;
      high: number;
      counts: number[];
      min: number | null;
      max: number | null;
      n_missing: number;
      is_whole: boolean;
    }
  | { kind: "categories"; counts: number[]; n_unknown: number; n_missing: number };

/** On all data given, not only the rows in this report; null where what it needs was not given. */
export interface MeasuresEntry {
  n_rows: number;
  fidelity: number | null;
  accuracy: number | null;
  balanced_accuracy: number | null;
  auc: number | null;
  network_accuracy: number | null;
  coverage: number;
  overlap: number;
  conflict: number;
  n_uncovered: number;
}

/** Counts on all data given. Rows and columns are labels: the classes, then those that the rules do not know. */
export interface ConfusionEntry {
  rows: "network" | "truth";
  columns: "rules" | "network";
  row_extra: Scalar[];
  column_extra: Scalar[];
  counts: number[][];
}

export interface FrontierEntry {
  budgets: number[];
  fidelity: number[];
  spread: number[];
  knee: number;
}

/** Present when the page is served by `clausewise explore`: what may be asked at relative addresses. */
export interface ServedEntry {
  /** Ends in "/"; relative to the page, so that the token in the page's own address is kept. */
  api: string;
  has_network: boolean;
  has_truth: boolean;
  /** Rows behind the page, which are more than it shows. */
  n_total: number;
}

/** Rules to compare those of the report with. */
export interface OtherRulesEntry {
  title: string;
  rules: RuleFile;
}

export interface Payload {
  format: "clausewise-report";
  version: 1;
  title: string;
  /** Such as "clausewise 0.1.0". */
  created_with: string;
  rules: RuleFile;
  rows?: RowsEntry;
  /** One entry per feature; null where nothing is known about it. */
  histograms?: (HistogramEntry | null)[];
  measures?: MeasuresEntry;
  confusion?: ConfusionEntry[];
  frontier?: FrontierEntry;
  compare?: OtherRulesEntry[];
  served?: ServedEntry;
}

/** The payload of this page; throws an Error with a message for people when there is none. */
export function readPayload(root: Document): Payload {
  const element = root.getElementById("clausewise-payload");
  if (element === null) throw new Error("This page holds no report: its data is missing.");
  const parsed: unknown = JSON.parse(element.textContent ?? "");
  if (!isPayload(parsed)) {
    throw new Error("The data in this page is no clausewise report of a version that it can show.");
  }
  return parsed;
}

function isPayload(value: unknown): value is Payload {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<string, unknown>;
  return fields["format"] === "clausewise-report" && fields["version"] === 1;
}
