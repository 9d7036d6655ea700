/** The state of the editor, kept while other views are shown. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Drafts } from "../../lib/drafts";
import type { Evaluation } from "../../lib/evaluate";
import { perStore } from "../../lib/perStore";

interface EditState {
  /** Texts being written, kept until they are applied or reverted. */
  drafts: Signal<Drafts>;
  /** The reasons given for them. */
  notes: Signal<Drafts>;
  /** The evaluation of the original rules. */
  original: ReadonlySignal<Evaluation | null>;
}

export const editStateOf = perStore((store): EditState => {
  const state: EditState = {
    drafts: signal<Drafts>(new Map()),
    notes: signal<Drafts>(new Map()),
    original: computed(() => store.evaluator?.evaluate(store.original) ?? null),
  };
  // The browser asks before it closes a page with drafts that are not applied, or with edits that it does not keep.
  window.addEventListener("beforeunload", (event) => {
    const isUnsaved = store.rules.value !== store.saved && store.isEdited.value && !store.keepsEdits;
    const hasDrafts = [...state.drafts.value.keys()].some((key) => key === "new" || store.placeOf.value.has(key));
    if (isUnsaved || hasDrafts) event.preventDefault();
  });
  return state;
});
