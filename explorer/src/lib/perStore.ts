/** State of a view that is kept while other views are shown. */

import type { Store } from "../store";

export function perStore<T>(make: (store: Store) => T): (store: Store) => T {
  const known = new WeakMap<Store, { made: T }>();
  return (store) => {
    let entry = known.get(store);
    if (entry === undefined) known.set(store, (entry = { made: make(store) }));
    return entry.made;
  };
}
