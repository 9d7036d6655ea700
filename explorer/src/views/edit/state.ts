/** The state of the editor, kept while other views are shown. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Drafts } from "../../lib/drafts";
import type { Evaluation } from "../../lib/evaluate";
import { perStore } from "../../lib/perStore";
import type { RuleSet } from "../../lib/rules";

interface EditState {
  /** Texts being written, kept until they are applied or reverted. */
  drafts: Signal<Drafts>;
  /** The reasons given for them. */
  notes: Signal<Drafts>;
  /** The evaluation of the original rules. */
  original: ReadonlySignal<Evaluation | null>;
  /** The rules that exist in a file: those of the report, or those saved last. */
  saved: RuleSet;
}

export const editStateOf = perStore((store): EditState => {
  const state: EditState = {
    drafts: signal<Drafts>(new Map()),
    notes: signal<Drafts>(new Map()),
    original: computed(() => store.evaluator?.evaluate(store.original) ?? null),
    saved: store.original,
  };
  // The browser asks before it closes a page with unsaved edits or drafts that are not applied.
  window.addEventListener("beforeunload", (event) => {
    const isUnsaved = store.rules.value !== state.saved && store.isEdited.value;
    const hasDrafts = [...state.drafts.value.keys()].some((key) => key === "new" || store.placeOf.value.has(key));
    if (isUnsaved || hasDrafts) event.preventDefault();
  });
  return state;
});
