/** The rules to choose from. */

import { useComputed } from "@preact/signals";
import { ConclusionChip, conclusionWidth } from "../../components/ClassMark";
import { Highlighted } from "../../components/Highlighted";
import { VirtualTable } from "../../components/VirtualTable";
import { matchesFirst, wordsOf } from "../../lib/filter";
import type { Rule } from "../../lib/rules";
import { counted, describePremise, grouped, MOST_CATEGORIES } from "../../lib/text";
import { type Store, useStore } from "../../store";
import { clearFilters, nFilters, paramsOf, shownPlaces } from "../rules/listed";
import { NumberCell, WRAPPED_RULES } from "../rules/RuleTable";
import { Ticked } from "../rules/Ticked";
import { editStateOf } from "./state";

export function RuleList() {
  const store = useStore();
  const state = editStateOf(store);
  // The filters are those of the Rules view.
  const { query } = paramsOf(store);
  const isNew = store.address.param("edit.new", "");
  const set = store.rules.value;
  const places = useComputed(() => shownPlaces(store, false)).value;
  const isWrapping = places.length <= WRAPPED_RULES;
  const words = wordsOf(query.value);
  const selected = isNew.value === "" ? (store.selectedRule.value?.place ?? -1) : -1;
  return (
    <section class="edit-rules" aria-label="Rules">
      <div class="controls">
        <label>
          Find{" "}
          <input type="search" value={query.value} placeholder="feature, value or class" onInput={(event) => (query.value = event.currentTarget.value)} />
        </label>
        <button type="button" class={isNew.value === "" ? "" : "is-on"} aria-pressed={isNew.value !== ""} onClick={() => (isNew.value = isNew.value === "" ? "1" : "")}>
          New rule
        </button>
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
      </div>
      <VirtualTable
        label="Rules to edit"
        nRows={places.length}
        active={places.indexOf(selected)}
        onActivate={(row) => {
          isNew.value = "";
          store.selectRule(set.rules[places[row]].id);
        }}
        wraps={isWrapping}
        onTick={(row) => store.tick([set.rules[places[row]].id], !store.ticked.value.has(set.rules[places[row]].id))}
        empty="No rule matches."
        columns={[
          { key: "place", title: "#", width: 74, align: "end", cell: (row) => <NumberCell rule={set.rules[places[row]]} place={places[row]} /> },
          { key: "class", title: "Class", width: conclusionWidth(set), cell: (row) => <ConclusionChip rule={set.rules[places[row]]} /> },
          {
            key: "premise",
            title: "If",
            cell: (row) => {
              const rule = set.rules[places[row]];
              return (
                <span class="clip" title={describePremise(rule, set.features)}>
                  {state.drafts.value.has(rule.id) && <span class="badge">draft</span>} {rule.priority && <span class="badge">priority</span>}{" "}
                  {isOriginal(store, rule) ? "" : <span class="badge">{rule.id < store.original.rules.length ? "changed" : "new"}</span>}{" "}
                  <Highlighted text={describePremise({ terms: isWrapping ? rule.terms : matchesFirst(rule, set.features, words) }, set.features, isWrapping ? Infinity : MOST_CATEGORIES)} words={words} />
                </span>
              );
            },
          },
        ]}
      />
      <Ticked shown={places} />
    </section>
  );
}

function isOriginal(store: Store, rule: Rule): boolean {
  return store.original.rules[rule.id] === rule;
}
