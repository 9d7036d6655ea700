/**
 * All state of the page of rules for classes. Views read signals and call the few functions here; they keep no state that
 * others need, and change a rule set only through `edit`.
 */

import { computed, type ReadonlySignal, type Signal } from "@preact/signals";
import { type Bits, emptyBits } from "./lib/bits";
import { CLASSES } from "./lib/classes";
import { flipsOf } from "./lib/compare";
import { relabelled } from "./lib/differences";
import { type Evaluation, Evaluator } from "./lib/evaluate";
import { type Figure, share } from "./lib/figures";
import { binTerm } from "./lib/failures";
import { intervalText, wilson } from "./lib/intervals";
import { type Measured, type Measures, measuresOf } from "./lib/measures";
import { readRuleFile, readTerms } from "./lib/ruleFile";
import type { Rule, RuleSet, Term } from "./lib/rules";
import { type Cohort, describeCohort, rowsOfCohort, type Selection } from "./lib/selection";
import { askMeasures } from "./lib/served";
import { readTable } from "./lib/table";
import { describeTerm, MOST_CATEGORIES } from "./lib/text";
import { PageStore, type Shift, usePage } from "./pageStore";
import type { Payload } from "./payload";

export class Store extends PageStore<Rule, RuleSet, Payload> {
  /** Evaluates rules on the rows of the report; null if it has none. */
  readonly evaluator: Evaluator | null;
  /** The terms of the slices that the report found, on which rules and network differ often. */
  readonly slices: readonly (readonly Term[])[];
  /** Ids of the rules that are ticked, to be compared or deleted together. */
  readonly ticked: ReadonlySignal<ReadonlySet<number>>;
  private readonly tickedText: Signal<string>;
  /** The evaluation of the working rules on the rows of the report. */
  readonly evaluation: ReadonlySignal<Evaluation | null>;
  readonly measures: ReadonlySignal<Measures | null>;
  /** The selected rows, as a set: those of a cohort or those a rule covers; null without either. */
  readonly selectedRows: ReadonlySignal<Bits | null>;

  private lastEvaluation: Evaluation | null = null;
  private evaluationOfOriginal: Evaluation | null = null;

  constructor(payload: Payload, window: Window) {
    super(payload, window, CLASSES, readTable(payload), readRuleFile(payload.rules));
    this.evaluator = this.table === null ? null : new Evaluator(this.table);
    this.slices = (payload.differences?.slices ?? []).map((slice) => readTerms(slice.if, this.original.features));
    this.tickedText = this.address.param("ticked");
    this.ticked = computed(() => {
      const ids = new Set(this.tickedText.value.split(".").filter((id) => /^\d{1,9}$/.test(id)).map(Number));
      return new Set(this.rules.value.rules.filter((rule) => ids.has(rule.id)).map((rule) => rule.id));
    });
    this.evaluation = computed(() => {
      if (this.evaluator === null) return null;
      this.lastEvaluation = this.evaluator.evaluate(this.rules.value, this.lastEvaluation);
      return this.lastEvaluation;
    });
    this.measures = computed(() => {
      const found = this.evaluation.value;
      return found === null || this.table === null ? null : measuresOf(found, this.table);
    });
    this.selectedRows = computed(() => this.rowsSelected());
  }

  // --- What the rules decide ---

  evaluate(set: RuleSet): Evaluation | null {
    const now = this.evaluation.value;
    if (now === null || this.evaluator === null || now.set === set) return now;
    // Compared with after every edit, so it is kept.
    if (set === this.original) return (this.evaluationOfOriginal ??= this.evaluator.evaluate(set));
    return this.evaluator.evaluate(set, set.classes === now.set.classes ? now : null);
  }

  figuresOf(set: RuleSet): readonly Figure[] {
    const found = this.evaluate(set);
    if (found === null || this.table === null) return [];
    return measureFigures(measuresOf(relabelled(found, this.original), this.table), this.table.nRows);
  }

  shiftBetween(before: RuleSet, after: RuleSet): Shift {
    const [a, b] = [this.evaluate(before), this.evaluate(after)];
    return { nRows: a === null || b === null ? 0 : flipsOf(a, b).rows.length, note: "" };
  }

  async askFigures(set: RuleSet, signal: AbortSignal): Promise<{ nRows: number; figures: readonly Figure[] }> {
    const { served } = this.payload;
    if (served === undefined) throw new Error("this page has no server");
    const reply = await askMeasures(served, CLASSES.writeFile(set) as Payload["rules"], signal);
    return { nRows: reply.n_rows, figures: measureFigures(reply, reply.n_rows) };
  }

  // --- Selection ---

  private nameOf(id: number): string {
    const place = this.placeOf.value.get(id);
    return place === undefined ? "a deleted rule" : `rule ${place}`;
  }

  /** A cohort in words; slices and bins by their terms. */
  describe(cohort: Cohort): string {
    const { features } = this.original;
    const words = (terms: readonly Term[]) => terms.map((term) => describeTerm(term, features[term.feature], MOST_CATEGORIES)).join(" and ");
    if (cohort.kind === "slice") return `Rows with ${words(this.slices[cohort.slice] ?? []) || "nothing in common"}`;
    if (cohort.kind === "bin") {
      const term = binTerm(this.payload.differences, cohort.feature, cohort.bin);
      return `Rows with ${words(term === null ? [] : [term]) || "nothing in common"} on which ${cohort.a} and ${cohort.b} differ`;
    }
    return describeCohort(cohort, this.table, this.rules.value, (id) => this.nameOf(id));
  }

  describeSelection(selection: Selection): string {
    switch (selection.kind) {
      case "rule":
        return this.nameOf(selection.id);
      case "row":
        return this.table !== null && selection.row >= this.table.nRows ? "a row that is not in this report" : `row ${this.table?.numbers[selection.row] ?? selection.row}`;
      case "cohort":
        return this.describe(selection.cohort);
    }
  }

  private rowsSelected(): Bits | null {
    const selection = this.selection.value;
    if (selection === null || this.evaluation.value === null || this.table === null || selection.kind === "row") return null;
    const cohort = selection.kind === "rule" ? ({ kind: "covered", rule: selection.id } as const) : selection.cohort;
    return this.rowsOf(cohort);
  }

  /** The rows of a cohort in this report. */
  rowsOf(cohort: Cohort): Bits {
    const found = this.evaluation.value;
    if (found === null || this.table === null) return emptyBits(0);
    return rowsOfCohort(cohort, this.table, found, {
      slice: (slice) => this.slices[slice] ?? null,
      bin: (feature, bin) => binTerm(this.payload.differences, feature, bin),
    });
  }

  /** Tick or untick rules. */
  tick(ids: Iterable<number>, isTicked: boolean): void {
    const next = new Set(this.ticked.value);
    for (const id of ids) {
      if (isTicked) next.add(id);
      else next.delete(id);
    }
    this.tickedText.value = [...next].join(".");
  }

  untickAll(): void {
    this.tickedText.value = "";
  }

  override remove(places: readonly number[], note: string): void {
    const gone = places.map((place) => this.rules.value.rules[place].id);
    super.remove(places, note);
    this.tick(gone, false);
  }
}

/** The figures that are compared; what is unknown is left out. */
export function measureFigures({ fidelity, accuracy, coverage }: Measured, nRows: number): Figure[] {
  const interval = (part: number | null) => (part === null ? {} : { interval: intervalText(wilson(Math.round(part * nRows), nRows)) });
  return [...share("fidelity", fidelity, interval(fidelity)), ...share("accuracy", accuracy, interval(accuracy)), ...share("coverage", coverage)];
}

export function useStore(): Store {
  const store = usePage();
  if (!(store instanceof Store)) throw new Error("This component is for rules for classes.");
  return store;
}
