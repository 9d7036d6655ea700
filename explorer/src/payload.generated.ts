/*
 * Types of the JSON in a report. Written by scripts/payloadTypes.mjs from the schemas in src/clausewise/report
 * (payload, number_payload) and src/clausewise/io (rules, numbers): change these, then run `npm run types`.
 */

/**
 * The JSON in a report, on rules for classes or for numbers.
 */
export type AnyPayload = Payload | NumberPayload;
export type Scalar = string | number | boolean;
/**
 * @minItems 1
 */
export type Features = FeatureEntry[];
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
 * All must hold; an empty list always holds.
 */
export type If = TermEntry[];
export type Origin = {
  layer?: string | null;
  clause?: string | null;
} | null;
/**
 * Edits by hand, oldest first; for information only.
 */
export type Changes = ChangeEntry[];
/**
 * A number of rows, and on how many of them rules and network agree.
 *
 * @minItems 2
 * @maxItems 2
 */
export type Count = number[];
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
 * @minItems 2
 * @maxItems 2
 */
export type Interval1 = number[];
/**
 * The bounds of a 95 % interval, by a bootstrap over the rows; null where it is not known.
 *
 * @minItems 2
 * @maxItems 2
 */
export type ErrorInterval = number[] | null;

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
  differences?: DifferencesEntry;
  names?: NamesEntry;
  /**
   * A colour per class; null for those that keep the page's.
   */
  colors?: (string | null)[];
  /**
   * Places of the features that smallest changes do not touch unless they are unlocked.
   */
  fixed?: number[];
  edits?: EditsEntry;
  guarantee?: GuaranteeEntry;
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
  features: Features;
  rules: RuleEntry[];
  changes?: Changes;
  /**
   * What was counted on fresh rows; it holds for the rules with its digest only.
   */
  guarantee?: Guarantee;
  /**
   * Hashes of the rows that the rules were learnt from.
   */
  learnt_rows?: LearntRows;
  /**
   * Where the rules abstain; they decide every row if it is left out.
   */
  abstention?: Abstention;
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
  if: If;
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
  origin?: Origin;
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
  /**
   * The reason.
   */
  note?: string;
  /**
   * Who made the edit.
   */
  author?: string;
}
export interface Guarantee {
  /**
   * The intervals that follow from the counts: of Clopper and Pearson, simultaneous by Bonferroni.
   */
  method: "clopper-pearson";
  confidence: number;
  /**
   * All fresh rows that the rules decided.
   */
  rows: Count;
  /**
   * Rows on which a constant prediction agrees with the network.
   */
  baseline: number;
  /**
   * For each class of the network: label, rows, agreeing rows.
   */
  classes: Scalar[][];
  /**
   * For each rule: rows on which it fires, and those of them that agree.
   */
  rules: Count[];
  /**
   * Stands for the rules that were counted.
   */
  digest: string;
  /**
   * For numbers: the largest difference that counts as agreement.
   */
  tolerance?: number;
  /**
   * Fresh rows on which the rules abstain; they count nowhere else.
   */
  abstained?: number;
  notes?: string[];
}
export interface LearntRows {
  /**
   * Only rows whose hash begins with this many zeros are recorded; 0 means all rows.
   */
  skipped_bits: number;
  /**
   * Number of bytes of each step.
   */
  step_bytes: number;
  /**
   * The hashes of 46 bits, ascending, as differences: unsigned numbers of step_bytes bytes, little endian.
   */
  steps: string;
}
export interface Abstention {
  /**
   * Rows are decided if the largest score leads by at least this many votes.
   */
  margin: number;
  /**
   * What other rows get; not one of classes, but of their kind.
   */
  label: Scalar;
  /**
   * What was promised; it holds for the rules with its digest only.
   */
  promise?: {
    agreement: number;
    confidence: number;
    rows: number;
    decided: Count;
    digest: string;
    notes?: string[];
  };
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
/**
 * Where the rules differ from the network, or from the truth if there is no network; on all data given.
 */
export interface DifferencesEntry {
  against: "network" | "truth";
  n_rows: number;
  n_differ: number;
  /**
   * Those whose rates deviate most from the common one come first; at most 24.
   */
  features: FeatureDifferencesEntry[];
  /**
   * Found by a rule learner; at most three.
   */
  slices: SliceEntry[];
}
/**
 * Rows and differences per bin of one feature.
 */
export interface FeatureDifferencesEntry {
  /**
   * Its place among the features.
   */
  feature: number;
  /**
   * Upper ends of all bins but the last, ascending; null for categories, whose bins are their codes, then unknown ones.
   */
  cuts: number[] | null;
  /**
   * Rows per bin; the last one has those with a missing value.
   */
  n_rows: number[];
  /**
   * Those of them on which the rules differ.
   */
  n_differ: number[];
}
/**
 * Rows on which the rules differ often.
 */
export interface SliceEntry {
  /**
   * The terms that select them.
   */
  if: TermEntry[];
  n_rows: number;
  n_differ: number;
}
/**
 * Names to show instead of those in the data; null where those are shown.
 */
export interface NamesEntry {
  /**
   * One per feature.
   */
  features: (string | null)[];
  /**
   * One per class.
   */
  classes: (string | null)[];
  /**
   * One list per feature, with one name per category; null for features without categories.
   */
  categories: ((string | null)[] | null)[];
}
/**
 * Edited rules, in a report that the page itself saved.
 */
export interface EditsEntry {
  rules: RuleFile;
  /**
   * For each rule the place of the report's rule that it was, or a larger number.
   */
  ids: number[];
}
/**
 * What was promised about fresh rows, for the rules as they are in the report.
 */
export interface GuaranteeEntry {
  summary: string;
  explanation: string;
  notes: string[];
  /**
   * Fidelity, fidelity on each class of the network, and the precision of each rule.
   */
  promises: {
    subject: string;
    n_rows: number;
    /**
     * The bounds of the interval.
     *
     * @minItems 2
     * @maxItems 2
     */
    interval: number[];
  }[];
}
/**
 * The JSON inside a report on rules for numbers. Rows are packed as in reports on rules for classes (payload.schema.json).
 */
export interface NumberPayload {
  format: "clausewise-report";
  version: 1;
  /**
   * Tells this report from one on rules for classes, which has no kind.
   */
  kind: "numbers";
  title: string;
  /**
   * Such as "clausewise 0.1.0".
   */
  created_with: string;
  rules: NumberRuleFile;
  rows?: NumberRowsEntry;
  /**
   * One entry per feature.
   */
  histograms?: HistogramEntry[];
  measures?: NumberMeasuresEntry;
  frontier?: NumberFrontierEntry;
  compare?: OtherNumberRulesEntry[];
  served?: ServedEntry;
  names?: NamesEntry;
  edits?: NumberEditsEntry;
  guarantee?: GuaranteeEntry;
}
/**
 * Rules over the columns of a table, each of which adds a number to the prediction. Features, terms, origins and changes are those of version 1 (rules.schema.json). See docs/rule-file-format.md.
 */
export interface NumberRuleFile {
  format: "clausewise-rules";
  version: 2;
  voting: "sum";
  /**
   * With log, the prediction is e to the power of the sum.
   */
  link: "identity" | "log";
  /**
   * What every row starts with.
   */
  base: number;
  /**
   * Terms that are added to every row after the rules, in this order.
   */
  linear: LinearEntry[];
  /**
   * Whether the names of the features came with the data, so that columns are matched by name.
   */
  named: boolean;
  /**
   * Name of what is predicted.
   */
  response?: string;
  /**
   * The smallest and the largest response in the training rows.
   */
  response_range?: Interval1;
  features: Features;
  rules: NumberRuleEntry[];
  changes?: Changes;
  /**
   * What was counted on fresh rows; it holds for the rules with its digest only.
   */
  guarantee?: Guarantee;
  /**
   * Hashes of the rows that the rules were learnt from.
   */
  learnt_rows?: LearntRows;
}
export interface LinearEntry {
  /**
   * Name of a numeric or binary feature; at most one term per feature.
   */
  feature: string;
  coefficient: number;
  /**
   * The value that a missing one counts as; 0 if left out.
   */
  fill?: number;
  /**
   * Smaller values count as this one; no limit if left out.
   */
  low?: number;
  /**
   * Larger values count as this one; no limit if left out.
   */
  high?: number;
}
export interface NumberRuleEntry {
  if: If;
  /**
   * What the rule adds where it fires.
   */
  add: number;
  /**
   * Training rows on which the premise holds.
   */
  cover: number;
  /**
   * Mean response of these rows.
   */
  mean?: number | null;
  /**
   * The 5 % and the 95 % quantile of the response of these rows.
   */
  interval?: Interval1 | null;
  origin?: Origin;
}
/**
 * The rows of the report.
 */
export interface NumberRowsEntry {
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
   * The true numbers.
   */
  truth?: Packed;
  /**
   * The numbers that the network predicts.
   */
  network?: Packed;
}
/**
 * Measures on all data given, not only on the rows in this report; null where the numbers that they need were not given.
 */
export interface NumberMeasuresEntry {
  n_rows: number;
  /**
   * Fraction of rows on which a rule fires.
   */
  coverage: number;
  /**
   * What a person has to read: one per rule and coefficient, and what terms name.
   */
  reading_cost: number;
  /**
   * Errors of the rules against the network.
   */
  to_network: ErrorsEntry | null;
  /**
   * Errors of the rules against the truth.
   */
  to_truth: ErrorsEntry | null;
  /**
   * Errors of the network against the truth.
   */
  network_to_truth: ErrorsEntry | null;
}
/**
 * How far predictions are from the numbers that they should be.
 */
export interface ErrorsEntry {
  /**
   * The fraction of the variance that is explained; null if all numbers are the same.
   */
  r_squared: number | null;
  r_squared_interval: ErrorInterval;
  /**
   * Mean absolute error.
   */
  mean_absolute: number | null;
  mean_absolute_interval: ErrorInterval;
  /**
   * Root of the mean squared error.
   */
  root_mean_squared: number | null;
  /**
   * Largest absolute error.
   */
  largest: number | null;
  /**
   * The number, in the data given, of the row on which it occurs.
   */
  largest_row: number;
  /**
   * The fraction of rows with an absolute error of at most the tolerance.
   */
  within: number;
  within_interval: ErrorInterval;
  /**
   * A tenth of the width of the middle 90 % of the numbers.
   */
  tolerance: number;
  /**
   * Mean absolute error of always predicting the mean.
   */
  baseline_mean_absolute: number | null;
}
/**
 * What rule sets of growing size explain on held-out rows.
 */
export interface NumberFrontierEntry {
  /**
   * What budgets count: rules, or conditions to read.
   */
  by: "rules" | "conditions";
  /**
   * What is measured: the fraction of the variance, or of another loss, that is explained.
   */
  measure: "fidelity" | "R²" | "D²";
  /**
   * Sizes, ascending.
   */
  budgets: number[];
  /**
   * Means on held-out rows, one per budget.
   */
  fidelity: number[];
  /**
   * Standard deviations, one per budget.
   */
  spread: number[];
  /**
   * The recommended size, one of budgets.
   */
  knee: number;
}
/**
 * Rules to compare those of the report with.
 */
export interface OtherNumberRulesEntry {
  title: string;
  rules: NumberRuleFile;
}
/**
 * Edited rules, in a report that the page itself saved.
 */
export interface NumberEditsEntry {
  rules: NumberRuleFile;
  /**
   * For each rule the place of the report's rule that it was.
   */
  ids: number[];
}
