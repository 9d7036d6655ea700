/** The rules as a table. */

import { ConclusionChip, conclusionWidth } from "../../components/ClassMark";
import { Highlighted } from "../../components/Highlighted";
import { Tick } from "../../components/Tick";
import { type TableColumn, VirtualTable, WRAPPED_ROWS } from "../../components/VirtualTable";
import { matchesFirst, wordsOf } from "../../lib/filter";
import { layerName } from "../../lib/origin";
import { READING_COST, ruleCost } from "../../lib/readingCost";
import type { Rule } from "../../lib/rules";
import { describePremise, grouped, MOST_CATEGORIES, percent, shortNumber } from "../../lib/text";
import { speaksAgainst } from "../../lib/votes";
import { useStore } from "../../store";
import { agreement, chosenRows, firedOnRows, firesOn, paramsOf, sortBy, sortingOf, whyUnknown } from "./listed";

interface ListProps {
  places: readonly number[];
  active: number;
  onActivate: (row: number) => void;
}

export function RuleTable({ places, active, onActivate }: ListProps) {
  const store = useStore();
  const set = store.rules.value;
  const ruleAt = (row: number) => set.rules[places[row]];
  // A few rules are shown in full; of many, each in one line.
  const isWrapping = places.length <= WRAPPED_ROWS;
  const words = wordsOf(paramsOf(store).query.value);
  const classWidth = conclusionWidth(set);
  const isAgainst = (row: number) => speaksAgainst(ruleAt(row), set.voting);
  const columns: TableColumn[] = [
    { key: "place", title: "#", hint: "Position in the rule set, from 0", width: 74, align: "end", isSortable: true, cell: (row) => <NumberCell rule={ruleAt(row)} place={places[row]} /> },
    { key: "class", title: "THEN", width: classWidth, isSortable: true, cell: (row) => <ConclusionChip rule={ruleAt(row)} /> },
    { key: "premise", title: "IF", cell: (row) => <Premise rule={ruleAt(row)} words={words} isWhole={isWrapping} /> },
    { key: "length", title: "Terms", width: 66, align: "end", isSortable: true, cell: (row) => ruleAt(row).terms.length },
    { key: "cost", title: "Cost", hint: READING_COST, width: 60, align: "end", isSortable: true, cell: (row) => ruleCost(ruleAt(row), set.features) },
    { key: "confidence", title: "Conf.", hint: "Confidence in its class, as estimated on the training rows", width: 76, align: "end", isSortable: true, cell: (row) => (isAgainst(row) ? "–" : percent(ruleAt(row).confidence)) },
    { key: "support", title: "Support", hint: "Training rows that the rule covers", width: 82, align: "end", isSortable: true, cell: (row) => grouped(ruleAt(row).cover) },
  ];
  if (set.voting === "weights") {
    columns.push({ key: "weight", title: "Weight", width: 84, align: "end", isSortable: true, cell: (row) => shortNumber(ruleAt(row).weight) });
  }
  if (store.table !== null) {
    columns.push({ key: "fires", title: "Fires", hint: "Rows in this page on which it fires", width: store.whyUnknown.value === null ? 64 : 88, align: "end", isSortable: true, cell: (row) => <Fires place={places[row]} /> });
    if (store.table.network !== null || store.table.truth !== null) {
      columns.push({
        key: "agrees",
        title: store.table.network !== null ? "Agrees" : "Correct",
        hint: store.table.network !== null ? "Fraction of the rows on which it fires for which the network predicts its class, or another one if it speaks against it" : "Fraction of the rows on which it fires whose true class is its class, or another one if it speaks against it",
        width: 78,
        align: "end",
        isSortable: true,
        cell: (row) => {
          const part = agreement(store, places[row]);
          return part === null ? "–" : percent(part);
        },
      });
    }
  }
  const chosen = chosenRows(store);
  const nFired = firedOnRows(store, chosen);
  if (nFired !== null) {
    const isRow = chosen?.kind === "row";
    columns.push({
      key: "chosen",
      title: isRow ? "On row" : "On rows",
      hint: isRow ? "Whether it fires on the selected row" : "Number of selected rows on which it fires",
      width: 84,
      align: "end",
      isSortable: true,
      cell: (row) => {
        const n = nFired(places[row]);
        return isRow ? (n > 0 ? "fires" : "–") : grouped(n);
      },
    });
  }
  if (set.rules.some((rule) => rule.origin?.layer != null)) {
    columns.push({ key: "layer", title: "Layer", width: 86, isSortable: true, cell: (row) => <span class="clip">{layerOf(ruleAt(row))}</span> });
  }
  return (
    <VirtualTable
      label="Rules"
      nRows={places.length}
      columns={columns}
      active={active}
      onActivate={onActivate}
      sorting={sortingOf(store)}
      onSort={(key) => sortBy(store, key)}
      onTick={(row) => store.tick([ruleAt(row).id], !store.ticked.value.has(ruleAt(row).id))}
      wraps={isWrapping}
      minWidth={classWidth + 700 + (nFired !== null ? 84 : 0)}
      empty="No rule matches these filters."
    />
  );
}

function layerOf({ origin }: Rule): string {
  return origin?.layer == null ? "" : layerName(origin.layer);
}

function Fires({ place }: { place: number }) {
  const store = useStore();
  const why = whyUnknown(store, place);
  if (why === null) return <>{grouped(firesOn(store, place))}</>;
  return <span title={`Not known here: ${why}`}>not known</span>;
}

export function NumberCell({ rule, place }: { rule: Rule; place: number }) {
  return (
    <span class="number-cell">
      <Tick rule={rule} place={place} /> {place}
    </span>
  );
}

function Premise({ rule, words, isWhole }: { rule: Rule; words: readonly string[]; isWhole: boolean }) {
  const { features } = useStore().rules.value;
  // Where the end of the line may be cut off, terms that were searched for come first.
  const text = isWhole ? describePremise(rule, features) : describePremise({ terms: matchesFirst(rule, features, words) }, features, MOST_CATEGORIES);
  return (
    <span class="clip" {...(isWhole ? {} : { title: describePremise(rule, features) })}>
      {rule.priority && <span class="badge">priority</span>} <Highlighted text={text} words={words} />
    </span>
  );
}
