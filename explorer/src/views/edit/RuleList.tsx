/** The rules to choose from. */

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Highlighted } from "../../components/Highlighted";
import { VirtualTable, WRAPPED_ROWS } from "../../components/VirtualTable";
import { matchesFirst, wordsOf } from "../../lib/filter";
import type { AnyRule } from "../../lib/rules";
import { describePremise, MOST_CATEGORIES } from "../../lib/text";
import { type PageStore, usePage } from "../../pageStore";
import { useParts } from "../../parts";
import { editStateOf } from "./state";

interface Props {
  places: readonly number[];
  query: Signal<string>;
  /** The cell with the number of a rule, which may have a tick. */
  number: (place: number) => ComponentChildren;
  onTick?: (place: number) => void;
  /** More controls, beside the search. */
  children?: ComponentChildren;
}

export function RuleList({ places, query, number, onTick, children }: Props) {
  const store = usePage();
  const parts = useParts();
  const state = editStateOf(store);
  const isNew = store.address.param("edit.new", "");
  const set = store.rules.value;
  const isWrapping = places.length <= WRAPPED_ROWS;
  const words = wordsOf(query.value);
  const selected = isNew.value === "" ? (store.selectedRule.value?.place ?? -1) : -1;
  return (
    <>
      <div class="controls">
        <label>
          Find <input type="search" value={query.value} placeholder={parts.finding} onInput={(event) => (query.value = event.currentTarget.value)} />
        </label>
        <button type="button" class={isNew.value === "" ? "" : "is-on"} aria-pressed={isNew.value !== ""} onClick={() => (isNew.value = isNew.value === "" ? "1" : "")}>
          New rule
        </button>
        {children}
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
        {...(onTick === undefined ? {} : { onTick: (row: number) => onTick(places[row]) })}
        empty="No rule matches."
        columns={[
          { key: "place", title: "#", width: onTick === undefined ? 50 : 74, align: "end", cell: (row) => number(places[row]) },
          { key: "class", title: parts.conclusionTitle, width: parts.conclusionWidth(set), cell: (row) => parts.conclusion(set.rules[places[row]], set) },
          {
            key: "premise",
            title: "If",
            cell: (row) => {
              const rule = set.rules[places[row]];
              return (
                <span class="clip" title={describePremise(rule, set.features)}>
                  {state.drafts.value.has(rule.id) && <span class="badge">draft</span>} {parts.marks(rule)} {isOriginal(store, rule) ? "" : <span class="badge">{rule.id < store.original.rules.length ? "changed" : "new"}</span>}{" "}
                  <Highlighted text={describePremise({ terms: isWrapping ? rule.terms : matchesFirst(rule, set.features, words) }, set.features, isWrapping ? Infinity : MOST_CATEGORIES)} words={words} />
                </span>
              );
            },
          },
        ]}
      />
    </>
  );
}

function isOriginal(store: PageStore, rule: AnyRule): boolean {
  return store.original.rules[rule.id] === rule;
}
