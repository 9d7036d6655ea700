/** The pairs of judges that can be compared. */

import type { Judge } from "../../lib/selection";
import type { Store } from "../../store";

/** The pairs of judges that the report has labels of. */
export function pairsOf(store: Store): (readonly [Judge, Judge])[] {
  const { table } = store;
  const pairs: (readonly [Judge, Judge])[] = [];
  if (table?.network != null) pairs.push(["network", "rules"]);
  if (table?.truth != null) pairs.push(["truth", "rules"]);
  if (table?.network != null && table.truth !== null) pairs.push(["truth", "network"]);
  return pairs;
}

export function canDisagree(store: Store): boolean {
  return pairsOf(store).length > 0;
}
