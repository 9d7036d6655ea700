/**
 * The views, in the order of their tabs. A view is one file in this folder that exports a component; to add one,
 * list it here. It reads everything from `useStore()`, or from `usePage()` if it is the same for all
 * kinds of rules.
 */

import type { View } from "../Frame";
import type { Store } from "../store";
import { Compare } from "./Compare";
import { Disagreement } from "./Disagreement";
import { canDisagree } from "./disagreement/pairs";
import { Edit } from "./Edit";
import { hasOrigins, Origin } from "./Origin";
import { Overview } from "./Overview";
import { Predict } from "./Predict";
import { Rules } from "./Rules";
import { Structure } from "./Structure";

export const VIEWS: readonly View<Store>[] = [
  { id: "overview", title: "Overview", component: Overview },
  { id: "rules", title: "Rules", component: Rules },
  { id: "structure", title: "Structure", component: Structure },
  { id: "predict", title: "Predict", component: Predict },
  { id: "disagreement", title: "Where they differ", component: Disagreement, isAvailable: canDisagree },
  { id: "origin", title: "Origin", component: Origin, isAvailable: hasOrigins },
  { id: "edit", title: "Edit", component: Edit },
  { id: "compare", title: "Compare", component: Compare },
];
