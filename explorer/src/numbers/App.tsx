/** The page of rules for numbers. */

import type { Signal } from "@preact/signals";
import { Frame, type View } from "../Frame";
import { rowsShown } from "../lib/rows";
import { counted } from "../lib/text";
import { usePrintSheet } from "../print/PrintSheet";
import type { Theme } from "../theme";
import { Compare } from "../views/Compare";
import { hasOrigins, Origin } from "../views/Origin";
import { Structure } from "../views/Structure";
import { Inspector, isShownBelow } from "./Inspector";
import { PrintSheet } from "./PrintSheet";
import { type NumberStore, useNumberStore } from "./store";
import { Differences } from "./views/Differences";
import { Edit } from "./views/Edit";
import { Overview } from "./views/Overview";
import { Predict } from "./views/Predict";
import { Rules } from "./views/Rules";
import "./numbers.css";

const VIEWS: readonly View<NumberStore>[] = [
  { id: "overview", title: "Overview", component: Overview },
  { id: "rules", title: "Rules", component: Rules },
  { id: "structure", title: "Structure", component: Structure },
  { id: "predict", title: "Predict", component: Predict },
  { id: "differences", title: "Where they differ", component: Differences, isAvailable: (store) => store.judge.value !== null },
  { id: "origin", title: "Origin", component: Origin, isAvailable: hasOrigins },
  { id: "edit", title: "Edit", component: Edit },
  { id: "compare", title: "Compare", component: Compare },
];

export function NumbersApp({ theme }: { theme: Signal<Theme> }) {
  const store = useNumberStore();
  usePrintSheet(store, PrintSheet);
  return <Frame theme={theme} views={VIEWS} summary={<Summary />} isShownBelow={(view) => isShownBelow(store, view)} inspector={<Inspector />} />;
}

function Summary() {
  const { payload, rules, table, used } = useNumberStore();
  const set = rules.value;
  const parts = [
    counted(set.rules.length, "rule"),
    ...(set.linear.length > 0 ? [counted(set.linear.length, "coefficient")] : []),
    `${used.value.length} of ${counted(set.features.length, "feature")} used`,
    table === null ? "no data" : `${rowsShown(table)} in this page`,
  ];
  return (
    <>
      {parts.join(" · ")} <span class="quiet">· {payload.created_with}</span>
    </>
  );
}
