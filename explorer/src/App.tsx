/** The page of rules for classes. */

import type { Signal } from "@preact/signals";
import { Frame } from "./Frame";
import { Inspector, isShownBelow } from "./Inspector";
import type { Table } from "./lib/table";
import { counted, grouped } from "./lib/text";
import { PrintSheet, usePrintSheet } from "./print/PrintSheet";
import { useStore } from "./store";
import type { Theme } from "./theme";
import { VIEWS } from "./views";

export function App({ theme }: { theme: Signal<Theme> }) {
  const store = useStore();
  usePrintSheet(store, PrintSheet);
  return <Frame theme={theme} views={VIEWS} summary={<Summary />} isShownBelow={(view) => isShownBelow(store, view)} inspector={<Inspector />} />;
}

function Summary() {
  const { payload, rules, table } = useStore();
  const set = rules.value;
  const parts = [counted(set.rules.length, "rule"), counted(set.features.length, "feature"), counted(set.classes.length, "class", "classes")];
  return (
    <>
      {parts.join(" · ")} · {basisOf(table)} <span class="quiet">· voting {set.voting} · {payload.created_with}</span>
    </>
  );
}

/** What figures are counted on: said once, here. */
function basisOf(table: Table | null): string {
  if (table === null) return "no data";
  if (table.nRows === table.nTotal) return `figures on all ${counted(table.nTotal, "row")}`;
  return `figures on all ${counted(table.nTotal, "row")}; edits and single rows on the ${grouped(table.nRows)} of them in this page`;
}
