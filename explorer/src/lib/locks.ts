/** Features that the smallest change must not touch: those that the report fixes, until the reader locks or unlocks some. */

import { computed, type ReadonlySignal } from "@preact/signals";
import { perStore } from "./perStore";

export interface Locks {
  /** Places of the locked features. */
  readonly locked: ReadonlySignal<ReadonlySet<number>>;
  toggle: (feature: number) => void;
}

export const locksOf = perStore((store): Locks => {
  const write = (features: Iterable<number>) => [...features].sort((a, b) => a - b).join(".") || "none";
  const text = store.address.param("predict.fixed", write(store.payload.fixed ?? []));
  const locked = computed(() => new Set(text.value.split(".").filter((place) => /^\d{1,9}$/.test(place)).map(Number)));
  return {
    locked,
    toggle: (feature) => {
      const next = new Set(locked.value);
      if (!next.delete(feature)) next.add(feature);
      text.value = write(next);
    },
  };
});
