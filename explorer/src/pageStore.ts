/**
 * The state that pages of all kinds of rules have: working rules with undo and redo, edits that survive a reload, the
 * selection and the view. `Store` (classes) and `NumberStore` (numbers) add what their rules predict.
 */

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Address } from "./lib/address";
import type { Bits } from "./lib/bits";
import type { Figure } from "./lib/figures";
import { withoutRules } from "./lib/edits";
import { EditKeeper, withEdits } from "./lib/kept";
import type { RuleKind } from "./lib/kind";
import { whyRulesUnknown } from "./lib/leftOut";
import type { AnyRule, AnyRules } from "./lib/rules";
import { readSelection, type Selection, writeSelection } from "./lib/selection";
import type { Table } from "./lib/table";
import { counted } from "./lib/text";
import type { AnyPayload } from "./payload";

/** Edits are kept a moment after they were made, so that they are painted first. */
const KEEP_DELAY = 200;

interface History<S> {
  readonly past: readonly S[];
  readonly present: S;
  readonly future: readonly S[];
}

/** What is known of rules on the rows of the page. */
export interface Evaluated {
  /** The rows on which each rule holds. */
  readonly covers: readonly Bits[];
}

export interface Shift {
  readonly nRows: number;
  /** `, by at most 0.3`; empty where there is nothing to say. */
  readonly note: string;
}

export abstract class PageStore<R extends AnyRule = AnyRule, S extends AnyRules<R> = AnyRules<R>, P extends AnyPayload = AnyPayload> {
  readonly address: Address;
  /** The id of the current view. */
  readonly view: Signal<string>;
  readonly selection: ReadonlySignal<Selection | null>;
  private readonly selectionText: Signal<string>;

  /** What the last edit did, such as "3 rules deleted"; empty after an undo. */
  readonly notice: Signal<string> = signal("");
  /** The rules that exist in a file: those of the report, or those saved last. */
  saved: S;
  /** Whether the browser keeps edits, so that they survive a reload. */
  private keepsEdits = true;

  private readonly history: Signal<History<S>>;
  /** The working rules, with all edits so far. Every view shows these. */
  readonly rules: ReadonlySignal<S>;
  readonly isEdited: ReadonlySignal<boolean>;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
  /** Place of each rule by its id. */
  readonly placeOf: ReadonlySignal<ReadonlyMap<number, number>>;
  /** The selected rule and its place; null if none is selected or it no longer exists. */
  readonly selectedRule: ReadonlySignal<{ rule: R; place: number } | null>;
  /** The reason why it is not known what the working rules predict; null if it is. */
  readonly whyUnknown: ReadonlySignal<string | null>;

  private nextId: number;

  constructor(
    readonly payload: P,
    window: Window,
    readonly kind: RuleKind<R, S>,
    readonly table: Table | null,
    /** The rules of the report, before any edit. */
    readonly original: S,
  ) {
    this.saved = original;
    this.address = new Address(window);
    this.view = this.address.param("view", "overview", true);
    this.selectionText = this.address.param("sel");
    this.selection = computed(() => this.asSelection(readSelection(this.selectionText.value, this.table)));
    const given = payload.edits === undefined ? null : withEdits(kind, original, payload.edits);
    const keeper = new EditKeeper(window, payload, kind, original);
    const kept = keeper.kept();
    const edited = kept ?? given;
    this.history = signal<History<S>>(edited === null ? { past: [], present: original, future: [] } : { past: [original], present: edited, future: [] });
    this.nextId = (edited?.rules ?? []).reduce((next, rule) => Math.max(next, rule.id + 1), original.rules.length);
    if (kept !== null) this.notice.value = "Edits of your last visit";
    else if (given !== null) this.notice.value = "Saved with edits";
    this.rules = computed(() => this.history.value.present);
    this.isEdited = computed(() => this.rules.value !== this.original);
    this.canUndo = computed(() => this.history.value.past.length > 0);
    this.canRedo = computed(() => this.history.value.future.length > 0);
    this.placeOf = computed(() => new Map(this.rules.value.rules.map((rule, place) => [rule.id, place])));
    this.selectedRule = computed(() => {
      const selection = this.selection.value;
      const place = selection?.kind === "rule" ? this.placeOf.value.get(selection.id) : undefined;
      return place === undefined ? null : { rule: this.rules.value.rules[place], place };
    });
    this.whyUnknown = computed(() => (this.table === null ? null : whyRulesUnknown(this.rules.value, this.table)));
    this.keepEdits(window, keeper, edited ?? original, given ?? original);
  }

  /** Keep edits, so that they survive a reload. */
  private keepEdits(window: Window, keeper: EditKeeper<R, S>, start: S, given: S): void {
    let keptSet = start;
    const keep = () => {
      const set = this.rules.peek();
      if (set === keptSet) return;
      // A page that was saved with edits shows these again, unless others were made since.
      this.keepsEdits = keeper.keep(set === given ? null : set);
      if (this.keepsEdits) keptSet = set;
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
      if (!this.keepsEdits && this.isEdited.peek() && this.rules.peek() !== this.saved) event.preventDefault();
    });
    window.addEventListener("pagehide", keep);
  }

  // --- What the rules predict on the rows of the page ---

  /** The rules, over the page's features, on the rows of the page; null if it has none. */
  abstract evaluate(set: S): Evaluated | null;

  /** How well rules over the page's features do on the rows of the page. */
  abstract figuresOf(set: S): readonly Figure[];

  /** On how many rows of the page two rule sets say something else, and by how much, in words. */
  abstract shiftBetween(before: S, after: S): Shift;

  /** How well rules do on all rows, which the server of the page has. */
  abstract askFigures(set: S, signal: AbortSignal): Promise<{ nRows: number; figures: readonly Figure[] }>;

  // --- Selection ---

  /** What a selection in the address means on this page. */
  protected asSelection(selection: Selection | null): Selection | null {
    return selection;
  }

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

  // --- Edits ---

  /** Make `next` the working rules, with a note of what was done; `undo` restores the current ones. */
  edit(next: S, notice = ""): void {
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

  /** Delete rules, by their places; a deleted rule is no longer selected, and the notice names them. */
  remove(places: readonly number[], note: string): void {
    const set = this.rules.value;
    const gone = places.map((place) => set.rules[place].id);
    const selection = this.selection.value;
    const names = places.length <= 4 ? ` ${places.join(", ")}` : "";
    this.edit(withoutRules(this.kind, set, places, note), `${places.length === 1 ? "Rule" : names === "" ? counted(places.length, "rule") : "Rules"}${names} deleted`);
    if (selection?.kind === "rule" && gone.includes(selection.id)) this.select(null);
  }

  /** An id for a rule that is added. */
  newId(): number {
    return this.nextId++;
  }
}

const StoreContext = createContext<PageStore | null>(null);
export const StoreProvider = StoreContext.Provider;

/** The store of the page, of whichever kind its rules are. */
export function usePage(): PageStore {
  const store = useContext(StoreContext);
  if (store === null) throw new Error("No store around this component.");
  return store;
}
