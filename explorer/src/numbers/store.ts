/** All state of the page of rules for numbers: what the working rules predict, and whom they are compared with. */

import { computed, type ReadonlySignal, type Signal } from "@preact/signals";
import { type Bits, countBits } from "../lib/bits";
import { coverOf } from "../lib/covers";
import { type Figure, share } from "../lib/figures";
import { whyTermsUnknown } from "../lib/leftOut";
import { unpackCodes, unpackNumbers } from "../lib/packed";
import type { Selection } from "../lib/selection";
import { askNumberMeasures } from "../lib/served";
import { readColumn, type Table } from "../lib/table";
import { type Evaluated, PageStore, type Shift, usePage } from "../pageStore";
import type { ErrorsEntry, NumberMeasuresEntry, NumberPayload } from "../payload";
import { type Fit, fitOf } from "./lib/errors";
import { NUMBERS } from "./lib/kind";
import { type NumberRule, type NumberRules, readNumberFile, writeNumberFile } from "./lib/rules";
import { predictAll } from "./lib/sums";
import { short } from "./lib/text";

/** Whom the rules are compared with. */
export type Judge = "network" | "truth";

/** Rules on the rows of the report. */
export interface NumberEvaluation extends Evaluated {
  /** On how many rows each rule holds; null where it tests a column that the report left out. */
  readonly nCovered: readonly (number | null)[];
  readonly predictions: Float64Array;
}

export class NumberStore extends PageStore<NumberRule, NumberRules, NumberPayload> {
  readonly network: Float64Array | null;
  readonly truth: Float64Array | null;
  private readonly judgeText: Signal<string>;
  /** Whom the rules are compared with; null without numbers, or where it is unknown what the rules predict. */
  readonly judge: ReadonlySignal<Judge | null>;
  readonly evaluation: ReadonlySignal<NumberEvaluation | null>;
  /** Predicted − wanted on each row of the page; null without numbers. */
  readonly errors: ReadonlySignal<Float64Array | null>;
  /** The features that rules or coefficients use, ascending. */
  readonly used: ReadonlySignal<readonly number[]>;

  private readonly coverOfTerms = new WeakMap<NumberRule["terms"], Bits>();

  constructor(payload: NumberPayload, window: Window) {
    super(payload, window, NUMBERS, readRows(payload), readNumberFile(payload.rules));
    const { rows } = payload;
    this.network = rows?.network === undefined ? null : unpackNumbers(rows.network);
    this.truth = rows?.truth === undefined ? null : unpackNumbers(rows.truth);
    this.judgeText = this.address.param("to");
    this.judge = computed(() => {
      if (this.whyUnknown.value !== null) return null;
      if (this.truth !== null && (this.judgeText.value === "truth" || this.network === null)) return "truth";
      return this.network === null ? null : "network";
    });
    this.evaluation = computed(() => this.evaluate(this.rules.value));
    this.errors = computed(() => {
      const [found, wanted] = [this.evaluation.value, this.numbersOf(this.judge.value)];
      return found === null || wanted === null ? null : found.predictions.map((number, row) => number - wanted[row]);
    });
    this.used = computed(() => {
      const { rules, linear } = this.rules.value;
      return [...new Set([...rules.flatMap((rule) => rule.terms.map((term) => term.feature)), ...linear.map((term) => term.feature)])].sort((a, b) => a - b);
    });
  }

  /** There are no cohorts on this page, and no rows without data. */
  protected override asSelection(selection: Selection | null): Selection | null {
    return selection?.kind === "cohort" || (selection?.kind === "row" && this.table === null) ? null : selection;
  }

  // --- What the rules predict ---

  evaluate(set: NumberRules): NumberEvaluation | null {
    const { table } = this;
    if (table === null) return null;
    const covers = set.rules.map((rule) => {
      let cover = this.coverOfTerms.get(rule.terms);
      if (cover === undefined) this.coverOfTerms.set(rule.terms, (cover = coverOf(rule.terms, table)));
      return cover;
    });
    const nCovered = covers.map((cover, place) => (whyTermsUnknown(set.rules[place].terms, set, table) === null ? countBits(cover) : null));
    return { covers, nCovered, predictions: predictAll(set, table, covers) };
  }

  numbersOf(judge: Judge | null): Float64Array | null {
    return judge === null ? null : judge === "network" ? this.network : this.truth;
  }

  /** How well the working rules, or others, do on the rows of the page. */
  fitTo(judge: Judge, set?: NumberRules): Fit | null {
    const [found, wanted] = [set === undefined ? this.evaluation.value : this.evaluate(set), this.numbersOf(judge)];
    return found === null || wanted === null ? null : fitOf(found.predictions, wanted);
  }

  compareWith(judge: Judge): void {
    this.judgeText.value = judge === "truth" && this.network !== null ? "truth" : "";
  }

  figuresOf(set: NumberRules): readonly Figure[] {
    return (["network", "truth"] as const).flatMap((judge) => {
      const fit = this.fitTo(judge, set);
      return fit === null ? [] : fitFigures(judge, fit.rSquared, fit.meanAbsolute);
    });
  }

  /** The figures of the report, or of its server, on all rows. */
  figuresOfAll(measures: NumberMeasuresEntry): readonly Figure[] {
    const entries: readonly (readonly [Judge, ErrorsEntry | null])[] = [
      ["network", measures.to_network],
      ["truth", measures.to_truth],
    ];
    return entries.flatMap(([judge, errors]) => (errors === null ? [] : fitFigures(judge, errors.r_squared ?? NaN, errors.mean_absolute ?? NaN)));
  }

  shiftBetween(before: NumberRules, after: NumberRules): Shift {
    const [a, b] = [this.evaluate(before)?.predictions, this.evaluate(after)?.predictions];
    if (a === undefined || b === undefined) return { nRows: 0, note: "" };
    const shifts = a.map((number, row) => Math.abs(b[row] - number)).filter((shift) => shift > 0);
    const most = shifts.reduce((largest, shift) => Math.max(largest, shift), 0);
    return { nRows: shifts.length, note: shifts.length === 0 ? "" : `, by at most ${short(Number(most.toPrecision(3)))}` };
  }

  async askFigures(set: NumberRules, signal: AbortSignal): Promise<{ nRows: number; figures: readonly Figure[] }> {
    const { served } = this.payload;
    if (served === undefined) throw new Error("this page has no server");
    const reply = await askNumberMeasures(served, writeNumberFile(set), signal);
    return { nRows: reply.n_rows, figures: this.figuresOfAll(reply) };
  }
}

/** How much is explained, and how far the rules are off on average. */
function fitFigures(judge: Judge, rSquared: number, meanAbsolute: number): Figure[] {
  return [...share(`explained (${judge})`, rSquared), { name: `off by (${judge})`, value: meanAbsolute, unit: "amount", better: -1 }];
}

function readRows({ rows }: NumberPayload): Table | null {
  if (rows === undefined) return null;
  return {
    nRows: rows.n_shown,
    nTotal: rows.n_total,
    seed: rows.seed,
    numbers: unpackCodes(rows.numbers),
    columns: rows.columns.map((entry) => (entry === null ? null : readColumn(entry))),
    truth: null,
    network: null,
    networkProba: null,
  };
}

export function useNumberStore(): NumberStore {
  const store = usePage();
  if (!(store instanceof NumberStore)) throw new Error("This component is for rules for numbers.");
  return store;
}
