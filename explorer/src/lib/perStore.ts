/** State of a view that is kept while other views are shown. */

import type { Store } from "../store";

export function perStore<T, S extends object = Store>(make: (store: S) => T): (store: S) => T {
  const known = new WeakMap<S, { made: T }>();
  return (store) => {
    let entry = known.get(store);
    if (entry === undefined) known.set(store, (entry = { made: make(store) }));
    return entry.made;
  };
}
