/** Rules for classes, edited. */

import { useComputed } from "@preact/signals";
import { counted, grouped } from "../lib/text";
import { measureFigures, useStore } from "../store";
import { EditPage } from "./edit/EditPage";
import { RuleList } from "./edit/RuleList";
import { clearFilters, nFilters, paramsOf, shownPlaces } from "./rules/listed";
import { NumberCell } from "./rules/RuleTable";
import { Ticked } from "./rules/Ticked";

export function Edit() {
  const store = useStore();
  const { measures } = store.payload;
  const set = store.rules.value;
  // The filters are those of the Rules view.
  const places = useComputed(() => shownPlaces(store, false)).value;
  return (
    <EditPage ofAll={measures === undefined ? [] : measureFigures(measures, measures.n_rows)}>
      <RuleList
        places={places}
        query={paramsOf(store).query}
        number={(place) => <NumberCell rule={set.rules[place]} place={place} />}
        onTick={(place) => store.tick([set.rules[place].id], !store.ticked.value.has(set.rules[place].id))}
      >
        {nFilters(store) > 0 && (
          <>
            <span role="status">
              {grouped(places.length)} of {counted(set.rules.length, "rule")}, filtered as in Rules
            </span>
            <button type="button" onClick={() => clearFilters(store)}>
              Clear
            </button>
          </>
        )}
      </RuleList>
      <Ticked shown={places} />
    </EditPage>
  );
}
