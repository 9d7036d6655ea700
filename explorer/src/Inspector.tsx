/** The selected rule, row or cohort. */

import { SelectionPanel } from "./components/SelectionPanel";
import { CohortDetails } from "./inspector/CohortDetails";
import { RowDetails } from "./inspector/RowDetails";
import { RuleDetails } from "./inspector/RuleDetails";
import type { Selection } from "./lib/selection";
import { type Store, useStore } from "./store";

/** Whether the selection is shown: not where the view itself shows the same. */
export function isShownBelow(store: Store, view: string): boolean {
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
  if (selection === null) return null;
  return (
    <SelectionPanel title={capital(store.describeSelection(selection))}>
      <Body selection={selection} />
    </SelectionPanel>
  );
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
