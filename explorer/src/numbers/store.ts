/** All state of the page of rules for numbers: rows, working rules with undo and redo, predictions, selection, view. */

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Address } from "../lib/address";
import { type Bits, countBits } from "../lib/bits";
import { coverOf } from "../lib/covers";
import { KeptText } from "../lib/kept";
import { unpackCodes, unpackNumbers } from "../lib/packed";
import { readSelection, type Selection, writeSelection } from "../lib/selection";
import { readColumn, type Table } from "../lib/table";
import type { NumberPayload } from "../payload";
import { type Fit, fitOf } from "./lib/errors";
import { editsOf, type NumberRule, type NumberRules, readEdits, readNumberFile } from "./lib/rules";
import { predictAll } from "./lib/sums";

/** Whom the rules are compared with. */
export type Judge = "network" | "truth";

/** The working rules on the rows of the report. */
export interface NumberEvaluation {
  /** The rows on which each rule holds, and how many they are. */
  readonly covers: readonly Bits[];
  readonly nCovered: readonly number[];
  readonly predictions: Float64Array;
}

const KEEP_DELAY = 200;

interface History {
  readonly past: readonly NumberRules[];
  readonly present: NumberRules;
  readonly future: readonly NumberRules[];
}

export class NumberStore {
  readonly table: Table | null;
  readonly network: Float64Array | null;
  readonly truth: Float64Array | null;
  /** The rules of the report, before any edit. */
  readonly original: NumberRules;
  /** The rules that exist in a file: those of the report, or those saved last. */
  saved: NumberRules;
  /** Whether the browser keeps the present edits. */
  private isKept = true;
  readonly address: Address;
  readonly view: Signal<string>;
  readonly selection: ReadonlySignal<Selection | null>;
  private readonly selectionText: Signal<string>;
  private readonly judgeText: Signal<string>;
  /** Whom the rules are compared with; null without numbers. */
  readonly judge: ReadonlySignal<Judge | null>;

  private readonly history: Signal<History>;
  readonly rules: ReadonlySignal<NumberRules>;
  readonly evaluation: ReadonlySignal<NumberEvaluation | null>;
  /** Predicted − wanted on each row of the page; null without numbers. */
  readonly errors: ReadonlySignal<Float64Array | null>;
  readonly isEdited: ReadonlySignal<boolean>;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
  /** The features that rules or coefficients use, ascending. */
  readonly used: ReadonlySignal<readonly number[]>;
  /** The selected rule and its place; null if none is selected or it was deleted. */
  readonly selectedRule: ReadonlySignal<{ rule: NumberRule; place: number } | null>;

  private readonly coverOfTerms = new WeakMap<NumberRule["terms"], Bits>();

  constructor(
    readonly payload: NumberPayload,
    window: Window,
  ) {
    const { rows } = payload;
    this.table = readRows(payload);
    this.network = rows?.network === undefined ? null : unpackNumbers(rows.network);
    this.truth = rows?.truth === undefined ? null : unpackNumbers(rows.truth);
    this.original = readNumberFile(payload.rules);
    this.saved = this.original;
    this.address = new Address(window);
    this.view = this.address.param("view", "overview", true);
    this.selectionText = this.address.param("sel");
    this.judgeText = this.address.param("to");
    const keeper = new KeptText(window, payload);
    const given = payload.edits === undefined ? this.original : readEdits(payload.edits);
    const start = keptRules(keeper) ?? given;
    this.history = signal<History>({ past: start === this.original ? [] : [this.original], present: start, future: [] });
    this.rules = computed(() => this.history.value.present);
    this.isEdited = computed(() => this.rules.value !== this.original);
    this.canUndo = computed(() => this.history.value.past.length > 0);
    this.canRedo = computed(() => this.history.value.future.length > 0);
    this.judge = computed(() => {
      if (this.truth !== null && (this.judgeText.value === "truth" || this.network === null)) return "truth";
      return this.network === null ? null : "network";
    });
    this.selection = computed(() => {
      const found = readSelection(this.selectionText.value, this.table);
      return found?.kind === "cohort" || (found?.kind === "row" && this.table === null) ? null : found;
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
    this.selectedRule = computed(() => {
      const selection = this.selection.value;
      if (selection?.kind !== "rule") return null;
      const place = this.rules.value.rules.findIndex((rule) => rule.id === selection.id);
      return place < 0 ? null : { rule: this.rules.value.rules[place], place };
    });
    this.keepEdits(window, keeper, start, given);
  }

  /** Keep edits a moment after they were made, so that they survive a reload, and are painted first. */
  private keepEdits(window: Window, keeper: KeptText, start: NumberRules, given: NumberRules): void {
    let kept = start;
    const keep = () => {
      const set = this.rules.peek();
      // A page that was saved with edits shows these again, unless others were made since.
      if (set !== kept && keeper.write(set === given ? null : JSON.stringify(editsOf(set)))) kept = set;
      this.isKept = set === kept;
    };
    let timer = 0;
    effect(() => {
      this.rules.value; // subscribes this effect
      window.clearTimeout(timer);
      timer = window.setTimeout(keep, KEEP_DELAY);
    });
    window.addEventListener("beforeunload", (event) => {
      keep();
      // Edits would be lost: the browser asks first.
      if (!this.isKept && this.rules.peek() !== this.saved) event.preventDefault();
    });
    window.addEventListener("pagehide", keep);
  }

  evaluate(set: NumberRules): NumberEvaluation | null {
    const { table } = this;
    if (table === null) return null;
    const covers = set.rules.map((rule) => {
      let cover = this.coverOfTerms.get(rule.terms);
      if (cover === undefined) this.coverOfTerms.set(rule.terms, (cover = coverOf(rule.terms, table)));
      return cover;
    });
    return { covers, nCovered: covers.map(countBits), predictions: predictAll(set, table, covers) };
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

  // --- Selection ---

  select(selection: Selection | null): void {
    this.selectionText.value = writeSelection(selection, this.table);
  }

  selectRule(id: number): void {
    this.select({ kind: "rule", id });
  }

  show(view: string, selection?: Selection): void {
    this.address.step(() => {
      if (selection !== undefined) this.select(selection);
      this.view.value = view;
    });
  }

  // --- Edits ---

  edit(next: NumberRules): void {
    const { past, present } = this.history.value;
    if (next !== present) this.history.value = { past: [...past, present], present: next, future: [] };
  }

  undo(): void {
    const { past, present, future } = this.history.value;
    if (past.length > 0) this.history.value = { past: past.slice(0, -1), present: past[past.length - 1], future: [present, ...future] };
  }

  redo(): void {
    const { past, present, future } = this.history.value;
    if (future.length > 0) this.history.value = { past: [...past, present], present: future[0], future: future.slice(1) };
  }
}

/** Edits of an earlier visit; null if there are none, or if they cannot be read. */
function keptRules(keeper: KeptText): NumberRules | null {
  const text = keeper.read();
  if (text === null) return null;
  try {
    return readEdits(JSON.parse(text));
  } catch {
    return null;
  }
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

const NumberStoreContext = createContext<NumberStore | null>(null);
export const NumberStoreProvider = NumberStoreContext.Provider;

export function useNumberStore(): NumberStore {
  const store = useContext(NumberStoreContext);
  if (store === null) throw new Error("No store around this component.");
  return store;
}
