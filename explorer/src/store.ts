/**
 * All state of the page. Views read signals and call the few functions here; they keep no state that others need,
 * and change a rule set only through `edit`.
 */

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Address } from "./lib/address";
import { type Bits, emptyBits } from "./lib/bits";
import { type Evaluation, Evaluator } from "./lib/evaluate";
import { whyRulesUnknown } from "./lib/leftOut";
import { type Measures, measuresOf } from "./lib/measures";
import { binTerm } from "./lib/failures";
import { EditKeeper, withEdits } from "./lib/kept";
import { readRuleFile, readTerms } from "./lib/ruleFile";
import type { Rule, RuleSet, Term } from "./lib/rules";
import { type Cohort, describeCohort, readSelection, rowsOfCohort, type Selection, writeSelection } from "./lib/selection";
import { readTable, type Table } from "./lib/table";
import { describeTerm, MOST_CATEGORIES } from "./lib/text";
import type { Payload } from "./payload";

/** Edits are kept a moment after they were made, so that they are painted first. */
const KEEP_DELAY = 200;

interface History {
  readonly past: readonly RuleSet[];
  readonly present: RuleSet;
  readonly future: readonly RuleSet[];
}

export class Store {
  readonly table: Table | null;
  /** Evaluates rules on the rows of the report; null if it has none. */
  readonly evaluator: Evaluator | null;
  /** The rules of the report, before any edit. */
  readonly original: RuleSet;
  readonly address: Address;

  /** The id of the current view. */
  readonly view: Signal<string>;
  private readonly selectionText: Signal<string>;
  readonly selection: ReadonlySignal<Selection | null>;

  /** The terms of the slices that the report found, on which rules and network differ often. */
  readonly slices: readonly (readonly Term[])[];
  /** What the last edit did, such as "3 rules deleted"; empty after an undo. */
  readonly notice: Signal<string> = signal("");
  /** The rules that exist in a file: those of the report, or those saved last. */
  saved: RuleSet;
  /** Whether the browser keeps edits, so that they survive a reload. */
  keepsEdits = true;
  /** Ids of the rules that are ticked, to be compared or deleted together. */
  readonly ticked: ReadonlySignal<ReadonlySet<number>>;
  private readonly tickedText: Signal<string>;

  private readonly history: Signal<History>;
  /** The working rules, with all edits so far. Every view shows these. */
  readonly rules: ReadonlySignal<RuleSet>;
  /** The evaluation of the working rules on the rows of the report. */
  readonly evaluation: ReadonlySignal<Evaluation | null>;
  readonly measures: ReadonlySignal<Measures | null>;
  /** The reason why the decisions of the working rules are not known; null if they are. */
  readonly whyUnknown: ReadonlySignal<string | null>;
  readonly isEdited: ReadonlySignal<boolean>;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
  /** Place of each rule by its id. */
  readonly placeOf: ReadonlySignal<ReadonlyMap<number, number>>;
  /** The selected rows, as a set: those of a cohort or those a rule covers; null without either. */
  readonly selectedRows: ReadonlySignal<Bits | null>;

  private lastEvaluation: Evaluation | null = null;
  private nextId: number;

  constructor(
    readonly payload: Payload,
    window: Window,
  ) {
    this.table = readTable(payload);
    this.evaluator = this.table === null ? null : new Evaluator(this.table);
    this.original = readRuleFile(payload.rules);
    this.saved = this.original;
    this.nextId = this.original.rules.length;
    this.address = new Address(window);
    this.view = this.address.param("view", "overview", true);
    this.selectionText = this.address.param("sel");
    this.selection = computed(() => readSelection(this.selectionText.value, this.table));
    this.slices = (payload.differences?.slices ?? []).map((slice) => readTerms(slice.if, this.original.features));
    const saved = payload.edits === undefined ? null : withEdits(this.original, payload.edits);
    const keeper = new EditKeeper(window, payload, this.original);
    const kept = keeper.kept();
    const edited = kept ?? saved;
    this.history = signal<History>(edited === null ? { past: [], present: this.original, future: [] } : { past: [this.original], present: edited, future: [] });
    for (const rule of edited?.rules ?? []) this.nextId = Math.max(this.nextId, rule.id + 1);
    if (kept !== null) this.notice.value = "Edits of your last visit";
    else if (saved !== null) this.notice.value = "Saved with edits";
    this.tickedText = this.address.param("ticked");
    this.ticked = computed(() => {
      const ids = new Set(this.tickedText.value.split(".").filter((id) => /^\d{1,9}$/.test(id)).map(Number));
      return new Set(this.rules.value.rules.filter((rule) => ids.has(rule.id)).map((rule) => rule.id));
    });
    this.rules = computed(() => this.history.value.present);
    this.evaluation = computed(() => {
      if (this.evaluator === null) return null;
      this.lastEvaluation = this.evaluator.evaluate(this.rules.value, this.lastEvaluation);
      return this.lastEvaluation;
    });
    this.measures = computed(() => {
      const found = this.evaluation.value;
      return found === null || this.table === null ? null : measuresOf(found, this.table);
    });
    this.whyUnknown = computed(() => (this.table === null ? null : whyRulesUnknown(this.rules.value, this.table)));
    this.isEdited = computed(() => this.rules.value !== this.original);
    this.canUndo = computed(() => this.history.value.past.length > 0);
    this.canRedo = computed(() => this.history.value.future.length > 0);
    this.placeOf = computed(() => new Map(this.rules.value.rules.map((rule, place) => [rule.id, place])));
    this.selectedRows = computed(() => this.rowsSelected());
    let keptSet = edited ?? this.original;
    const keep = () => {
      const set = this.rules.peek();
      if (set === keptSet) return;
      // A page that was saved with edits shows these again, unless others were made since.
      this.keepsEdits = keeper.keep(set === (saved ?? this.original) ? null : set);
      if (this.keepsEdits) keptSet = set;
    };
    let timer = 0;
    effect(() => {
      this.rules.value; // subscribes this effect
      window.clearTimeout(timer);
      timer = window.setTimeout(keep, KEEP_DELAY);
    });
    window.addEventListener("beforeunload", keep);
    window.addEventListener("pagehide", keep);
  }

  // --- Selection ---

  /** The browser's Back undoes a change of kind, such as from a cohort to a rule, but not from rule to rule. */
  select(selection: Selection | null): void {
    const text = writeSelection(selection, this.table);
    const before = this.selection.value?.kind;
    if (before === undefined || before === selection?.kind) this.selectionText.value = text;
    else this.address.step(() => (this.selectionText.value = text));
  }

  selectRule(id: number): void {
    this.select({ kind: "rule", id });
  }

  /** Go to a view, and select something if it is given. */
  show(view: string, selection?: Selection): void {
    this.address.step(() => {
      if (selection !== undefined) this.select(selection);
      this.view.value = view;
    });
  }

  /** The selected rule and its place; null if none is selected or it no longer exists. */
  readonly selectedRule: ReadonlySignal<{ rule: Rule; place: number } | null> = computed(() => {
    const selection = this.selection.value;
    if (selection?.kind !== "rule") return null;
    const place = this.placeOf.value.get(selection.id);
    return place === undefined ? null : { rule: this.rules.value.rules[place], place };
  });

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

  // --- Edits ---

  /** Make `next` the working rules, with a note of what was done; `undo` restores the current ones. */
  edit(next: RuleSet, notice = ""): void {
    const { past, present } = this.history.value;
    if (next === present) return;
    this.notice.value = notice;
    this.history.value = { past: [...past, present], present: next, future: [] };
  }

  undo(): void {
    const { past, present, future } = this.history.value;
    if (past.length === 0) return;
    this.notice.value = "";
    this.history.value = { past: past.slice(0, -1), present: past[past.length - 1], future: [present, ...future] };
  }

  redo(): void {
    const { past, present, future } = this.history.value;
    if (future.length === 0) return;
    this.notice.value = "";
    this.history.value = { past: [...past, present], present: future[0], future: future.slice(1) };
  }

  /** An id for a rule that is added. */
  newId(): number {
    return this.nextId++;
  }
}

const StoreContext = createContext<Store | null>(null);
export const StoreProvider = StoreContext.Provider;

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === null) throw new Error("No store around this component.");
  return store;
}
