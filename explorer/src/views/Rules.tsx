/** All rules, as a table or as a matrix of rules and features, with filters. */

import { useComputed } from "@preact/signals";
import { useStore } from "../store";
import { paramsOf, shownPlaces } from "./rules/listed";
import { RuleMatrix } from "./rules/RuleMatrix";
import { RuleTable } from "./rules/RuleTable";
import { Ticked } from "./rules/Ticked";
import { Toolbar } from "./rules/Toolbar";
import "./rules.css";

export function Rules() {
  const store = useStore();
  const params = paramsOf(store);
  const places = useComputed(() => shownPlaces(store, params.as.value === "matrix"));
  const selected = store.selection.value;
  const active = selected?.kind === "rule" ? places.value.findIndex((place) => store.rules.value.rules[place].id === selected.id) : -1;
  const select = (row: number) => store.selectRule(store.rules.value.rules[places.value[row]].id);
  return (
    <>
      <Toolbar nShown={places.value.length} />
      {params.as.value === "matrix" ? (
        <RuleMatrix places={places.value} active={active} onActivate={select} />
      ) : (
        <RuleTable places={places.value} active={active} onActivate={select} />
      )}
      <Ticked shown={places.value} />
    </>
  );
}
