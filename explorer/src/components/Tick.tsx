/** A box to tick a rule, so that several can be compared or deleted together. */

import type { Rule } from "../lib/rules";
import { useStore } from "../store";

export function Tick({ rule, place }: { rule: Rule; place: number }) {
  const store = useStore();
  return (
    <input
      type="checkbox"
      class="tick"
      // The grid around it is one tab stop, in which Space ticks.
      tabIndex={-1}
      aria-label={`Tick rule ${place}`}
      checked={store.ticked.value.has(rule.id)}
      onClick={(event) => event.stopPropagation()}
      onChange={(event) => store.tick([rule.id], event.currentTarget.checked)}
    />
  );
}
