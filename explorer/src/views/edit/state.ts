/** The state of the editor, kept while other views are shown. */

import { type Signal, signal } from "@preact/signals";
import type { Drafts } from "../../lib/drafts";
import { perStore } from "../../lib/perStore";
import type { PageStore } from "../../pageStore";

interface EditState {
  /** Texts being written, kept until they are applied or reverted. */
  drafts: Signal<Drafts>;
  /** The reasons given for them. */
  notes: Signal<Drafts>;
}

export const editStateOf = perStore((store: PageStore): EditState => {
  const state: EditState = { drafts: signal<Drafts>(new Map()), notes: signal<Drafts>(new Map()) };
  // The browser asks before it closes a page with drafts that are not applied.
  window.addEventListener("beforeunload", (event) => {
    if ([...state.drafts.value.keys()].some((key) => key === "new" || store.placeOf.value.has(key))) event.preventDefault();
  });
  return state;
});
