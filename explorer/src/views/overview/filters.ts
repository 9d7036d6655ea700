/** From the Overview to the Rules view, with filters. */

import type { Store } from "../../store";

const FILTERS = ["q", "class", "feature", "term", "length", "support", "confidence", "layer", "fired", "sort"] as const;
/** Parameters of the Rules view that are set; without the prefix `rules.`. */
export type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

/** Go to the rules with these filters and no others. */
export function showRules(store: Store, filters: Filters): void {
  store.address.step(() => {
    for (const name of FILTERS) store.address.param(`rules.${name}`).value = filters[name] ?? "";
    store.show("rules");
  });
}
