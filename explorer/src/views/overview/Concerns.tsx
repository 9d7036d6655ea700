/** Rules that need attention, each a link to the rule. */

import { useComputed, useSignal } from "@preact/signals";
import { ConclusionChip } from "../../components/ClassMark";
import { concernsOf } from "../../lib/story";
import { grouped } from "../../lib/text";
import { useStore } from "../../store";

const MOST = 6;

export function Concerns() {
  const store = useStore();
  const isOpen = useSignal(false);
  const concerns = useComputed(() => concernsOf(store)).value;
  if (store.table === null) return null;
  const shown = isOpen.value ? concerns.slice(0, 200) : concerns.slice(0, MOST);
  return (
    <section class="card" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {concerns.length === 0 && <p class="quiet">Nothing: every rule fires, and none is contradicted or misleads more than now and then.</p>}
      <ul class="concerns">
        {shown.map(({ place, text }) => {
          const rule = store.rules.value.rules[place];
          return (
            <li key={rule.id}>
              <button type="button" class="plain" onClick={() => store.selectRule(rule.id)}>
                Rule {place} <span class="quiet">→</span> <ConclusionChip rule={rule} />
              </button>{" "}
              {text()}
            </li>
          );
        })}
      </ul>
      {concerns.length > MOST && (
        <button type="button" onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? "Fewer" : `All ${grouped(concerns.length)}`}
        </button>
      )}
    </section>
  );
}
