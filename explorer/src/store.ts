/**
 * All state of the page. Views read signals and call the few functions here; they keep no state that others need,
 * and change a rule set only through `edit`.
 */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Address } from "./lib/address";
import type { Bits } from "./lib/bits";
import { type Evaluation, Evaluator } from "./lib/evaluate";
import { whyRulesUnknown } from "./lib/leftOut";
import { type Measures, measuresOf } from "./lib/measures";
import { readRuleFile } from "./lib/ruleFile";
import type { Rule, RuleSet } from "./lib/rules";
import { describeCohort, readSelection, rowsOfCohort, type Selection, writeSelection } from "./lib/selection";
import { readTable, type Table } from "./lib/table";
import type { Payload } from "./payload";

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
    this.nextId = this.original.rules.length;
    this.address = new Address(window);
    this.view = this.address.param("view", "overview", true);
    this.selectionText = this.address.param("sel");
    this.selection = computed(() => readSelection(this.selectionText.value));
    this.history = signal<History>({ past: [], present: this.original, future: [] });
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
  }

  // --- Selection ---

  /** The browser's Back undoes a change of kind, such as from a cohort to a rule, but not from rule to rule. */
  select(selection: Selection | null): void {
    const text = writeSelection(selection);
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

  describeSelection(selection: Selection): string {
    const name = (id: number): string => {
      const place = this.placeOf.value.get(id);
      return place === undefined ? "a deleted rule" : `rule ${place}`;
    };
    switch (selection.kind) {
      case "rule":
        return name(selection.id);
      case "row":
        return `row ${this.table?.numbers[selection.row] ?? selection.row}`;
      case "cohort":
        return describeCohort(selection.cohort, this.table, this.rules.value, name);
    }
  }

  private rowsSelected(): Bits | null {
    const selection = this.selection.value;
    const found = this.evaluation.value;
    if (selection === null || found === null || this.table === null || selection.kind === "row") return null;
    const cohort = selection.kind === "rule" ? ({ kind: "covered", rule: selection.id } as const) : selection.cohort;
    return rowsOfCohort(cohort, this.table, found);
  }

  // --- Edits ---

  /** Make `next` the working rules; `undo` restores the current ones. */
  edit(next: RuleSet): void {
    const { past, present } = this.history.value;
    if (next !== present) this.history.value = { past: [...past, present], present: next, future: [] };
  }

  undo(): void {
    const { past, present, future } = this.history.value;
    if (past.length === 0) return;
    this.history.value = { past: past.slice(0, -1), present: past[past.length - 1], future: [present, ...future] };
  }

  redo(): void {
    const { past, present, future } = this.history.value;
    if (future.length === 0) return;
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
