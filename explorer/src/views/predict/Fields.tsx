/** The values of the row, to be changed. */

import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import { ValueField } from "../../components/ValueField";
import { CounterfactualSearch } from "../../lib/counterfactuals/search";
import { locksOf } from "../../lib/locks";
import type { RowDraft } from "../../lib/rowDraft";
import { grouped } from "../../lib/text";
import { useStore } from "../../store";

const FIELDS_AT_ONCE = 12;

export function Fields({ draft, search, lit }: { draft: RowDraft; search: ReadonlySignal<CounterfactualSearch>; lit: ReadonlySignal<number | null> }) {
  const store = useStore();
  const query = store.address.param("predict.q", "");
  const nShown = useSignal(FIELDS_AT_ONCE);
  const set = store.rules.value;
  const listed = useComputed(() => {
    const nUses = new Uint32Array(set.features.length);
    for (const rule of store.rules.value.rules) for (const term of rule.terms) nUses[term.feature]++;
    const wanted = query.value.trim().toLowerCase();
    const places = [...set.features.keys()].filter((place) => set.features[place].name.toLowerCase().includes(wanted));
    return places.sort((a, b) => nUses[b] - nUses[a] || a - b);
  }).value;
  const values = draft.values.value;
  const along = useComputed(() => search.value.along(draft.values.value)).value;
  const { locked, toggle } = locksOf(store);
  const place = lit.value === null ? undefined : store.placeOf.value.get(lit.value);
  const litTerms = place === undefined ? [] : set.rules[place].terms;
  const nMore = listed.length - nShown.value;
  return (
    <>
      {set.features.length > FIELDS_AT_ONCE && (
        <p>
          <label>
            Features{" "}
            <input
              type="search"
              value={query.value}
              placeholder="part of a name"
              onInput={(event) => {
                query.value = event.currentTarget.value;
                nShown.value = FIELDS_AT_ONCE;
              }}
            />
          </label>{" "}
          <span class="quiet" role="status">
            {grouped(listed.length)}, the most tested first
          </span>
        </p>
      )}
      <div class="fields">
        {listed.slice(0, nShown.value).map((feature) => (
          <ValueField
            key={feature}
            feature={feature}
            value={values[feature]}
            isChanged={draft.changed.value.has(feature)}
            isLeftOut={draft.leftOut.value.has(feature)}
            isLocked={locked.value.has(feature)}
            along={along(feature)}
            lit={litTerms.find((term) => term.feature === feature) ?? null}
            onLock={() => toggle(feature)}
            onValue={(value) => draft.setValues(new Map([[feature, value]]))}
          />
        ))}
      </div>
      {nMore > 0 && (
        <p>
          <button type="button" onClick={() => (nShown.value += 4 * FIELDS_AT_ONCE)}>
            {nMore <= 4 * FIELDS_AT_ONCE ? `Show the other ${nMore}` : `Show ${4 * FIELDS_AT_ONCE} more of ${grouped(nMore)}`}
          </button>
        </p>
      )}
    </>
  );
}
