/** The lines of the tree: branches with shared terms, leaves with rules. */

import { GroupChip } from "../../components/GroupChip";
import { countBits } from "../../lib/bits";
import { coverOf } from "../../lib/covers";
import { whyTermsUnknown } from "../../lib/leftOut";
import { holds, type Term } from "../../lib/rules";
import { valueAt } from "../../lib/table";
import { counted, describeTerm, MOST_CATEGORIES } from "../../lib/text";
import type { Branch } from "../../lib/tree";
import { usePage } from "../../pageStore";
import { useParts } from "../../parts";

export function BranchLine({ node, isOpen }: { node: Branch; isOpen: boolean }) {
  const { features } = usePage().rules.value;
  const text = (most?: number) => node.terms.map((term) => describeTerm(term, features[term.feature], most)).join(" AND ");
  return (
    <>
      <span class="tree-mark" aria-hidden="true">
        {isOpen ? "▾" : "▸"}
      </span>
      <span class="tree-text" title={text()}>
        {node.group !== null && <GroupChip group={node.group} />} {text(MOST_CATEGORIES)}
        <RowMark terms={node.path} />
      </span>
      <span class="tree-count number">{counted(node.places.length, "rule")}</span>
      <GroupMix node={node} />
      <Covered terms={node.path} />
    </>
  );
}

export function LeafLine({ place, rest, path }: { place: number; rest: readonly Term[]; path: readonly Term[] }) {
  const set = usePage().rules.value;
  const parts = useParts();
  const { features } = set;
  const rule = set.rules[place];
  const text = (most?: number) => rest.map((term) => describeTerm(term, features[term.feature], most)).join(" AND ");
  return (
    <>
      <span class="tree-mark quiet number">{place}</span>
      <span class="tree-text" title={text()}>
        <span class="tree-then">
          {parts.conclusion(rule, set)}
        </span>
        {parts.marks(rule)}
        <span class="quiet">{path.length === rest.length ? "IF" : rest.length > 0 ? "AND" : ""}</span> {text(MOST_CATEGORIES) || (path.length === 0 ? "anything" : "no further terms")}
        <RowMark terms={path} />
      </span>
      <span class="tree-count number quiet">{parts.figure(rule, set)}</span>
      <span class="tree-mix" />
      <Covered terms={rule.terms} />
    </>
  );
}

/** How many rules below are of each group: a bar, and the most frequent group in words. */
function GroupMix({ node }: { node: Branch }) {
  const { kind, rules } = usePage();
  const parts = useParts();
  const set = rules.value;
  const names = kind.groupNames(set);
  const counts = new Map<number, number>();
  for (const place of node.places) counts.set(kind.groupOf(set.rules[place]), (counts.get(kind.groupOf(set.rules[place])) ?? 0) + 1);
  const listed = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const text = listed.map(([group, n]) => `${names[group]}: ${n}`).join(", ");
  let from = 0;
  return (
    <span class="tree-mix" title={text}>
      <svg class="mix-bar" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        {listed.map(([group, n]) => {
          const x = from;
          from += n / node.places.length;
          return <rect key={group} class={`mix-part ${parts.groupColour(group)}`} x={x} width={Math.max(0, n / node.places.length - 0.012)} height="1" />;
        })}
      </svg>
      {parts.groupMark(listed[0][0])}
      <span class="mix-text">
        {names[listed[0][0]]}
        {listed.length > 1 && <span class="quiet"> +{listed.length - 1}</span>}
      </span>
    </span>
  );
}

/** The rows of the report on which all these terms hold. */
function Covered({ terms }: { terms: readonly Term[] }) {
  const { table, rules } = usePage();
  if (table === null) return null;
  const why = whyTermsUnknown(terms, rules.value, table);
  if (why !== null) {
    return (
      <span class="tree-rows" title={`Not known here: ${why}`}>
        not known
      </span>
    );
  }
  const n = countBits(coverOf(terms, table));
  return (
    <span class="tree-rows number" title="Rows of the report on which all terms up to here hold">
      {counted(n, "row")}
    </span>
  );
}

/** Whether the selected row satisfies all terms up to here. */
function RowMark({ terms }: { terms: readonly Term[] }) {
  const store = usePage();
  const selection = store.selection.value;
  const { table } = store;
  if (selection?.kind !== "row" || table === null) return null;
  const isMet = terms.every((term) => {
    const column = table.columns[term.feature];
    return column !== null && selection.row < table.nRows && holds(term, valueAt(column, selection.row));
  });
  return isMet ? <span class="badge tree-met">✓ selected row</span> : null;
}
