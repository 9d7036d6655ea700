/** The selected rule, row or cohort in full, below the view, so that selecting something moves nothing above it. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { CohortDetails } from "./inspector/CohortDetails";
import { RowDetails } from "./inspector/RowDetails";
import { RuleDetails } from "./inspector/RuleDetails";
import type { Selection } from "./lib/selection";
import { type Store, useStore } from "./store";

/** Whether the selection is shown: not where the view itself shows the same. */
export function isShownBeside(store: Store, view: string): boolean {
  const selection = store.selection.value;
  switch (selection?.kind) {
    case undefined:
      return false;
    case "rule":
      return view !== "edit";
    case "row":
      return view !== "predict";
    case "cohort":
      return view !== "disagreement";
  }
}

export function Inspector() {
  const store = useStore();
  const selection = store.selection.value;
  const panel = useRef<HTMLElement>(null);
  store.view.value; // some buttons exist in some views only
  // A button that selects something else disappears with its content; the focus stays in the panel.
  const hadFocus = panel.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (hadFocus && panel.current !== null && !panel.current.contains(document.activeElement)) panel.current.focus();
  });
  if (selection === null) return null;
  return (
    <aside class="inspector" aria-label="Selection" tabIndex={0} ref={panel}>
      <div class="inspector-head">
        <h2>{capital(store.describeSelection(selection))}</h2>
        <button type="button" aria-label="Clear the selection" onClick={() => clearSelection(store)}>
          ✕
        </button>
      </div>
      <div class="inspector-body">
        <Body selection={selection} />
      </div>
    </aside>
  );
}

/** The panel disappears with its button, so the focus moves to the view. */
export function clearSelection(store: Store): void {
  const hadFocus = document.activeElement?.closest(".inspector") != null;
  store.select(null);
  if (hadFocus) document.getElementById("view")?.focus();
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Body({ selection }: { selection: Selection }) {
  const store = useStore();
  switch (selection.kind) {
    case "rule": {
      const found = store.selectedRule.value;
      return found === null ? <p>This rule no longer exists.</p> : <RuleDetails rule={found.rule} place={found.place} />;
    }
    case "row":
      return <RowDetails row={selection.row} />;
    case "cohort":
      return <CohortDetails cohort={selection.cohort} />;
  }
}
