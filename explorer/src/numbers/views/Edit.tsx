/** Rules for numbers, edited. */

import { searched } from "../../lib/filter";
import { EditPage } from "../../views/edit/EditPage";
import { RuleList } from "../../views/edit/RuleList";
import { useNumberStore } from "../store";

export function Edit() {
  const store = useNumberStore();
  const { measures } = store.payload;
  // The words are those of the Rules view.
  const query = store.address.param("rules.q", "");
  return (
    <EditPage ofAll={measures === undefined ? [] : store.figuresOfAll(measures)}>
      <RuleList places={searched(store.kind, store.rules.value, query.value)} query={query} number={(place) => place} />
    </EditPage>
  );
}
