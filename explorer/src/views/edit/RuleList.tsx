/** The rules to choose from. */

import { useComputed } from "@preact/signals";
import { ConclusionChip, conclusionWidth } from "../../components/ClassMark";
import { VirtualTable } from "../../components/VirtualTable";
import { searched } from "../../lib/filter";
import type { Rule } from "../../lib/rules";
import { describePremise, MOST_CATEGORIES } from "../../lib/text";
import { type Store, useStore } from "../../store";
import { editStateOf } from "./state";

export function RuleList() {
  const store = useStore();
  const state = editStateOf(store);
  const query = store.address.param("edit.q", "");
  const isNew = store.address.param("edit.new", "");
  const set = store.rules.value;
  const places = useComputed(() => searched(store.rules.value, query.value)).value;
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
        <button type="button" disabled={!store.canUndo.value} onClick={() => store.undo()}>
          Undo edit
        </button>
        <button type="button" disabled={!store.canRedo.value} onClick={() => store.redo()}>
          Redo edit
        </button>
      </div>
      <VirtualTable
        label="Rules to edit"
        nRows={places.length}
        active={places.indexOf(selected)}
        onActivate={(row) => {
          isNew.value = "";
          store.selectRule(set.rules[places[row]].id);
        }}
        empty="No rule matches."
        columns={[
          { key: "place", title: "#", width: 52, align: "end", cell: (row) => places[row] },
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
                  {describePremise(rule, set.features, MOST_CATEGORIES)}
                </span>
              );
            },
          },
        ]}
      />
    </section>
  );
}

function isOriginal(store: Store, rule: Rule): boolean {
  return store.original.rules[rule.id] === rule;
}
