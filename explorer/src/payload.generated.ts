/*
 * Types of the JSON in a report. Written by scripts/payloadTypes.mjs from src/clausewise/report/payload.schema.json and
 * src/clausewise/io/rules.schema.json: change these, then run `npm run types`.
 */

export type Scalar = string | number | boolean;
/**
 * low < x <= high, an absent or null bound being open; or x one of values; or x missing. A missing value satisfies only the last.
 */
export type TermEntry = {
  /**
   * Name of a feature; at most one term per feature and rule.
   */
  feature: string;
  low?: number | null;
  high?: number | null;
  values?: Scalar[];
  missing?: true;
};
/**
 * The cells of one column, encoded as `Features.encode` does: categories are codes, an unknown category is the number of categories, a missing value is NaN. "dictionary" holds the distinct values, ascending with NaN last, and for each row the place of its value; "plain" holds the value of each row, which is shorter where nearly all values differ.
 */
export type ColumnEntry =
  | {
      encoding: "dictionary";
      values: Packed;
      codes: Packed;
    }
  | {
      encoding: "plain";
      values: Packed;
    };
/**
 * How a feature is distributed in all data given.
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
      /**
       * Whether all values are whole numbers.
       */
      is_whole: boolean;
    }
  | {
      kind: "categories";
      counts: number[];
      n_unknown: number;
      n_missing: number;
    };
/**
 * The bounds of an interval of fractions.
 *
 * @minItems 2
 * @maxItems 2
 */
export type Interval = number[];

/**
 * The JSON inside a report, from which the page draws everything. Rows are packed; all else is plain JSON. Nothing in it is trusted to be HTML: it is only ever shown as text.
 */
export interface Payload {
  format: "clausewise-report";
  version: 1;
  title: string;
  /**
   * Such as "clausewise 0.1.0".
   */
  created_with: string;
  rules: RuleFile;
  rows?: RowsEntry;
  /**
   * One entry per feature; null where nothing is known about it.
   */
  histograms?: (HistogramEntry | null)[];
  measures?: MeasuresEntry;
  confusion?: ConfusionEntry[];
  frontier?: FrontierEntry;
  compare?: OtherRulesEntry[];
  served?: ServedEntry;
}
/**
 * Rules over the columns of a table, the classes they predict, and how they vote. See docs/rule-file-format.md.
 */
export interface RuleFile {
  format: "clausewise-rules";
  version: 1;
  voting: "confidence" | "majority" | "share" | "weights";
  /**
   * The class of a row on which no rule fires; one of classes.
   */
  default: Scalar;
  /**
   * Class labels, all of one kind.
   *
   * @minItems 1
   */
  classes: Scalar[];
  /**
   * NumPy type of the labels.
   */
  class_dtype:
    | "str"
    | "object"
    | "bool"
    | "int8"
    | "int16"
    | "int32"
    | "int64"
    | "uint8"
    | "uint16"
    | "uint32"
    | "uint64"
    | "float16"
    | "float32"
    | "float64";
  /**
   * Whether the names of the features came with the data, so that columns are matched by name.
   */
  named: boolean;
  /**
   * Votes that every row starts with under voting = weights, one number per class; zeros if left out.
   */
  base?: number[] | null;
  /**
   * Votes per unit of log-odds under voting = weights, used for probabilities; 1 if left out.
   */
  scale?: number;
  /**
   * @minItems 1
   */
  features: FeatureEntry[];
  rules: RuleEntry[];
  /**
   * Edits by hand, oldest first; for information only.
   */
  changes?: ChangeEntry[];
}
export interface FeatureEntry {
  name: string;
  kind: "numeric" | "binary" | "categorical";
  /**
   * Possible values, in display order.
   */
  categories?: Scalar[];
}
export interface RuleEntry {
  /**
   * All must hold; an empty list always holds.
   */
  if: TermEntry[];
  /**
   * One of classes.
   */
  then: Scalar;
  confidence: number;
  /**
   * Training rows on which the premise holds.
   */
  cover: number;
  /**
   * Covered rows whose class is the conclusion.
   */
  correct: number;
  /**
   * Votes of the rule under voting = weights.
   */
  weight: number;
  origin?: {
    layer?: string | null;
    clause?: string | null;
  } | null;
  /**
   * Whether the rule overrides those without priority; false if left out.
   */
  priority?: boolean;
}
export interface ChangeEntry {
  action: "added" | "removed" | "replaced" | "reweighted";
  /**
   * Number of the rule at that time, counted from 0.
   */
  rule: number;
  /**
   * The rule as it was, in the rule language.
   */
  before?: string;
  /**
   * The rule as it became, in the rule language.
   */
  after?: string;
  note?: string;
}
/**
 * The rows of the report.
 */
export interface RowsEntry {
  /**
   * Number of rows in this report.
   */
  n_shown: number;
  /**
   * Number of rows that were given.
   */
  n_total: number;
  /**
   * The seed with which the rows were drawn.
   */
  seed: number;
  /**
   * For each row its number in the data given, from 0.
   */
  numbers: Packed;
  /**
   * One entry per feature; null where the values were left out to keep the report small.
   */
  columns: (ColumnEntry | null)[];
  /**
   * The true classes.
   */
  truth?: LabelsEntry;
  /**
   * The classes that the network predicts.
   */
  network?: LabelsEntry;
  /**
   * Probabilities of the network, row by row, one per class of the rules.
   */
  network_proba?: Packed;
}
/**
 * A packed array: little-endian numbers in base64.
 */
export interface Packed {
  /**
   * u1, u2 and u4 are unsigned integers, f4 and f8 floating point numbers, by their size in bytes.
   */
  type: "u1" | "u2" | "u4" | "f4" | "f8";
  data: string;
}
/**
 * One label per row: places in the classes followed by `extra`.
 */
export interface LabelsEntry {
  codes: Packed;
  /**
   * Labels that are not classes of the rules.
   */
  extra: Scalar[];
}
/**
 * Measures on all data given, not only on the rows in this report; null where labels that they need were not given.
 */
export interface MeasuresEntry {
  n_rows: number;
  /**
   * Fraction of rows on which the rules decide as the network.
   */
  fidelity: number | null;
  /**
   * Wilson's 95 % interval of the fidelity.
   */
  fidelity_interval: Interval | null;
  /**
   * Fidelity of always predicting the network's most frequent class.
   */
  fidelity_baseline: number | null;
  /**
   * Cohen's kappa of rules and network; null also where both give all rows one and the same class.
   */
  kappa: number | null;
  /**
   * Fidelity for each class that the network gives to a row; empty without a network.
   */
  class_fidelity: ClassFidelityEntry[];
  /**
   * Fraction of rows on which the rules decide as the truth.
   */
  accuracy: number | null;
  /**
   * Accuracy of always predicting the most frequent true class.
   */
  accuracy_baseline: number | null;
  /**
   * Mean over the classes of the fraction of their rows that the rules decide rightly.
   */
  balanced_accuracy: number | null;
  /**
   * Area under the ROC curve of the rules' scores.
   */
  auc: number | null;
  /**
   * Fraction of rows on which the network decides as the truth.
   */
  network_accuracy: number | null;
  /**
   * Fraction of rows on which a rule fires.
   */
  coverage: number;
  /**
   * Fraction of rows on which two or more rules fire.
   */
  overlap: number;
  /**
   * Fraction of rows on which rules of different classes fire.
   */
  conflict: number;
  /**
   * Number of rows on which no rule fires.
   */
  n_uncovered: number;
  /**
   * What a person has to read: one per rule, and what its terms name.
   */
  reading_cost: number;
}
/**
 * Fidelity on the rows to which the network gives one class.
 */
export interface ClassFidelityEntry {
  label: string | number | boolean;
  n_rows: number;
  /**
   * Fraction of these rows to which the rules give the same class.
   */
  fidelity: number;
  /**
   * Wilson's 95 % interval of the fidelity.
   */
  interval: Interval;
}
/**
 * Counts on all data given. Rows and columns are labels: the classes, then those that the rules do not know.
 */
export interface ConfusionEntry {
  rows: "network" | "truth";
  columns: "rules" | "network";
  row_extra: Scalar[];
  column_extra: Scalar[];
  counts: number[][];
}
/**
 * Fidelity against the size of a rule set.
 */
export interface FrontierEntry {
  /**
   * What budgets count: rules, or conditions to read.
   */
  by: "rules" | "conditions";
  /**
   * Sizes, ascending.
   */
  budgets: number[];
  /**
   * Mean fidelity on held-out rows, one per budget.
   */
  fidelity: number[];
  /**
   * Standard deviations of the fidelity, one per budget.
   */
  spread: number[];
  /**
   * Mean numbers of rules, one per budget; null if unknown.
   */
  n_rules: number[] | null;
  /**
   * Mean reading costs, one per budget; null if unknown.
   */
  reading_cost: number[] | null;
  /**
   * The recommended size, one of budgets.
   */
  knee: number;
}
/**
 * Rules to compare those of the report with.
 */
export interface OtherRulesEntry {
  title: string;
  rules: RuleFile;
}
/**
 * Present when the page is served by `clausewise explore`: what it may ask at relative addresses.
 */
export interface ServedEntry {
  /**
   * Relative to the page, so that the token in the page's own address is kept.
   */
  api: string;
  has_network: boolean;
  has_truth: boolean;
  /**
   * Number of rows that the server holds; the page shows a sample of them.
   */
  n_total: number;
}
