/** The rules as a table. */

import { ConclusionChip, conclusionWidth } from "../../components/ClassMark";
import { type TableColumn, VirtualTable } from "../../components/VirtualTable";
import { READING_COST, ruleCost } from "../../lib/readingCost";
import type { Rule } from "../../lib/rules";
import { describePremise, grouped, MOST_CATEGORIES, percent, shortNumber } from "../../lib/text";
import { speaksAgainst } from "../../lib/votes";
import { useStore } from "../../store";
import { agreement, chosenRows, firedOnRows, firesOn, paramsOf, sortingOf, whyUnknown } from "./listed";

interface ListProps {
  places: readonly number[];
  active: number;
  onActivate: (row: number) => void;
}

export function RuleTable({ places, active, onActivate }: ListProps) {
  const store = useStore();
  const set = store.rules.value;
  const ruleAt = (row: number) => set.rules[places[row]];
  const sort = (key: string) => {
    const now = sortingOf(store);
    // Numbers are sorted in descending order first; a second click reverses the order, a third one removes it.
    const isText = key === "place" || key === "class" || key === "layer";
    const order = isText ? [key, `-${key}`, ""] : [`-${key}`, key, ""];
    const at = now?.key === key ? order.indexOf(now.isDescending ? `-${key}` : key) : -1;
    paramsOf(store).sort.value = order[at + 1] ?? "";
  };
  const classWidth = conclusionWidth(set);
  const isAgainst = (row: number) => speaksAgainst(ruleAt(row), set.voting);
  const columns: TableColumn[] = [
    { key: "place", title: "#", hint: "Position in the rule set, from 0", width: 52, align: "end", isSortable: true, cell: (row) => places[row] },
    { key: "class", title: "THEN", width: classWidth, isSortable: true, cell: (row) => <ConclusionChip rule={ruleAt(row)} /> },
    { key: "premise", title: "IF", cell: (row) => <Premise rule={ruleAt(row)} /> },
    { key: "length", title: "Terms", width: 66, align: "end", isSortable: true, cell: (row) => ruleAt(row).terms.length },
    { key: "cost", title: "Cost", hint: READING_COST, width: 60, align: "end", isSortable: true, cell: (row) => ruleCost(ruleAt(row), set.features) },
    { key: "confidence", title: "Conf.", hint: "Confidence in its class, as estimated on the training rows", width: 76, align: "end", isSortable: true, cell: (row) => (isAgainst(row) ? "–" : percent(ruleAt(row).confidence)) },
    { key: "support", title: "Support", hint: "Training rows that the rule covers", width: 82, align: "end", isSortable: true, cell: (row) => grouped(ruleAt(row).cover) },
  ];
  if (set.voting === "weights") {
    columns.push({ key: "weight", title: "Weight", width: 84, align: "end", isSortable: true, cell: (row) => shortNumber(ruleAt(row).weight) });
  }
  if (store.table !== null) {
    columns.push({ key: "fires", title: "Fires", hint: "Rows in this report on which it fires", width: store.whyUnknown.value === null ? 64 : 88, align: "end", isSortable: true, cell: (row) => <Fires place={places[row]} /> });
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
    columns.push({ key: "layer", title: "Layer", width: 86, isSortable: true, cell: (row) => <span class="clip">{ruleAt(row).origin?.layer ?? ""}</span> });
  }
  return (
    <VirtualTable
      label="Rules"
      nRows={places.length}
      columns={columns}
      active={active}
      onActivate={onActivate}
      sorting={sortingOf(store)}
      onSort={sort}
      minWidth={classWidth + 700 + (nFired !== null ? 84 : 0)}
      empty="No rule matches these filters."
    />
  );
}

function Fires({ place }: { place: number }) {
  const store = useStore();
  const why = whyUnknown(store, place);
  if (why === null) return <>{grouped(firesOn(store, place))}</>;
  return <span title={`Not known here: ${why}`}>not known</span>;
}

function Premise({ rule }: { rule: Rule }) {
  const { features } = useStore().rules.value;
  return (
    <span class="clip" title={describePremise(rule, features)}>
      {rule.priority && <span class="badge">priority</span>} {describePremise(rule, features, MOST_CATEGORIES)}
    </span>
  );
}
