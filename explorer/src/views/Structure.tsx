/** The shared-prefix tree of all rules: what rules have in common is said once, above them. */

import { useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ClassChip, ClassMark, colourOf } from "../components/ClassMark";
import { VirtualList } from "../components/VirtualList";
import { countBits } from "../lib/bits";
import { coverOf } from "../lib/evaluate";
import { searched } from "../lib/filter";
import { whyTermsUnknown } from "../lib/leftOut";
import { holds, type Term } from "../lib/rules";
import { valueAt } from "../lib/table";
import { counted, describeTerm, formatLabel, grouped, MOST_CATEGORIES, percent } from "../lib/text";
import { type Branch, type Node, sharesLittle, treeOf } from "../lib/tree";
import { useStore } from "../store";
import "./structure.css";

const LINE_HEIGHT = 28;
/** Branches are open from the start as long as no more lines than these come of it. */
const FEW_LINES = 26;

/** One line in sight. */
interface Line {
  node: Node;
  level: number;
  parent: number;
  place: number;
  nSiblings: number;
}

export function Structure() {
  const store = useStore();
  const { address } = store;
  const group = address.param("structure.group", "");
  const sharing = address.param("structure.share", "");
  const query = address.param("structure.q", "");
  const open = address.param("structure.open", "");
  const active = address.param("structure.at", "");
  const isFocused = useRef(false);

  const effectiveSharing = useComputed(() =>
    sharing.value === "equal" || sharing.value === "bounds" ? sharing.value : sharesLittle(store.original.rules) ? "bounds" : "equal",
  );
  const places = useComputed(() => searched(store.rules.value, query.value));
  const tree = useComputed(() => treeOf(store.rules.value, places.value, { sharing: effectiveSharing.value, byClass: group.value === "class" }));
  const selectedId = store.selectedRule.value?.rule.id ?? null;
  const at = readAt(active.value);
  // A rule that is selected elsewhere is gone to, out of closed branches too; from there one may go on to other lines.
  const isAtRule = selectedId !== null && at.selected !== selectedId;
  const currentId = isAtRule ? `rule${selectedId}` : at.id;
  // While something is looked for, all that is found is in sight, but for what is closed by hand.
  const closed = useSignal<{ query: string; ids: ReadonlySet<string> }>({ query: "", ids: new Set() });
  const isSearching = query.value.trim() !== "";
  const closedIds = closed.value.query === query.value ? closed.value.ids : new Set<string>();
  const openIds = new Set(isSearching ? allBranches(tree.value).filter((id) => !closedIds.has(id)) : opened(open.value, tree.value));
  if (isAtRule) for (const id of branchesAbove(tree.value, store.placeOf.value.get(selectedId) ?? -1)) openIds.add(id);

  const set = store.rules.value;
  const shown = linesOf(tree.value, openIds);
  const current = shown.findIndex((line) => line.node.id === currentId);

  const setOpen = (ids: ReadonlySet<string>) => {
    if (isSearching) closed.value = { query: query.value, ids: new Set(allBranches(tree.value).filter((id) => !ids.has(id))) };
    else open.value = [...ids].join(".") || "none";
  };
  const toggle = (node: Branch, isOpen: boolean) => {
    const ids = new Set(openIds);
    if (isOpen) ids.add(node.id);
    else ids.delete(node.id);
    setOpen(ids);
  };
  const goTo = (line: Line | undefined) => {
    if (line === undefined) return;
    const next = line.node.kind === "leaf" ? set.rules[line.node.place].id : selectedId;
    // What was opened to show the selected rule stays open when one goes on from it.
    if (isAtRule && !isSearching) setOpen(openIds);
    active.value = writeAt(line.node.id, next);
    if (line.node.kind === "leaf") store.selectRule(set.rules[line.node.place].id);
  };
  const collapseAll = () => {
    setOpen(new Set());
    active.value = writeAt("", selectedId);
  };
  const keys = (event: KeyboardEvent) => {
    const line = shown[current];
    const node = line?.node;
    const isOpen = node?.kind === "branch" && openIds.has(node.id);
    const targets: Readonly<Record<string, () => void>> = {
      ArrowDown: () => goTo(shown[Math.min(shown.length - 1, current + 1)]),
      ArrowUp: () => goTo(shown[Math.max(0, current - 1)]),
      PageDown: () => goTo(shown[Math.min(shown.length - 1, current + 12)]),
      PageUp: () => goTo(shown[Math.max(0, current - 12)]),
      Home: () => goTo(shown[0]),
      End: () => goTo(shown[shown.length - 1]),
      ArrowRight: () => (node?.kind === "branch" && !isOpen ? toggle(node, true) : goTo(shown[current + 1])),
      ArrowLeft: () => (node?.kind === "branch" && isOpen ? toggle(node, false) : goTo(shown[line?.parent ?? -1])),
      Enter: () => (node?.kind === "branch" ? toggle(node, !isOpen) : goTo(line)),
      " ": () => (node?.kind === "branch" ? toggle(node, !isOpen) : goTo(line)),
      "*": () => setOpen(new Set([...openIds, ...(line === undefined ? [] : siblings(tree.value, line.node.id))])),
    };
    const act = targets[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };

  return (
    <>
      <div class="controls">
        <label>
          First level{" "}
          <select value={group.value} onChange={(event) => (group.value = event.currentTarget.value)}>
            <option value="">shared terms</option>
            <option value="class">classes</option>
          </select>
        </label>
        <label title="Rules with bounds on the same side of a feature can share the loosest of them.">
          Terms are shared{" "}
          <select value={effectiveSharing.value} onChange={(event) => (sharing.value = event.currentTarget.value)}>
            <option value="equal">where they are equal</option>
            <option value="bounds">where they bound the same side</option>
          </select>
        </label>
        <label>
          Find{" "}
          <input
            type="search"
            value={query.value}
            placeholder="feature, value or class"
            onInput={(event) => (query.value = event.currentTarget.value)}
          />
        </label>
        <button type="button" onClick={() => (isSearching ? setOpen(new Set(allBranches(tree.value))) : (open.value = "all"))}>
          Expand all
        </button>
        <button type="button" onClick={collapseAll}>
          Collapse all
        </button>
        <span class="quiet" role="status">
          {places.value.length === set.rules.length ? counted(set.rules.length, "rule") : `${grouped(places.value.length)} of ${counted(set.rules.length, "rule")}`}
          {`, ${counted(shown.length, "line")}`}
        </span>
      </div>
      <VirtualList
        class="tree"
        nLines={shown.length}
        lineHeight={LINE_HEIGHT}
        active={current}
        attributes={{
          role: "tree",
          "aria-label": "Rules by the terms they share",
          tabIndex: 0,
          onKeyDown: keys,
          onFocus: () => {
            if (!isFocused.current && current < 0) goTo(shown.find((line) => line.node.kind === "branch"));
            isFocused.current = true;
          },
          ...(current >= 0 ? { "aria-activedescendant": `node-${shown[current].node.id}` } : {}),
        }}
        line={(i, style) => {
          const { node, level, place, nSiblings } = shown[i];
          const isOpen = node.kind === "branch" && openIds.has(node.id);
          return (
            <div
              key={node.id}
              id={`node-${node.id}`}
              class={i === current ? "tree-line is-active" : "tree-line"}
              role="treeitem"
              aria-level={level + 1}
              aria-posinset={place + 1}
              aria-setsize={nSiblings}
              aria-selected={i === current}
              {...(node.kind === "branch" ? { "aria-expanded": isOpen } : {})}
              style={style}
              onClick={() => {
                goTo(shown[i]);
                if (node.kind === "branch") toggle(node, !isOpen);
              }}
            >
              <span class="tree-indent" aria-hidden="true" style={{ width: `calc(${level} * var(--indent))` }} />
              {node.kind === "branch" ? <BranchLine node={node} isOpen={isOpen} /> : <LeafLine place={node.place} rest={node.rest} path={node.path} />}
            </div>
          );
        }}
      />
      {shown.length === 0 && <p class="quiet">No rule matches.</p>}
    </>
  );
}

function BranchLine({ node, isOpen }: { node: Branch; isOpen: boolean }) {
  const { features } = useStore().rules.value;
  const text = (most?: number) => node.terms.map((term) => describeTerm(term, features[term.feature], most)).join(" AND ");
  return (
    <>
      <span class="tree-mark" aria-hidden="true">
        {isOpen ? "▾" : "▸"}
      </span>
      <span class="tree-text" title={text()}>
        {node.classIndex !== null && <ClassChip index={node.classIndex} />} {text(MOST_CATEGORIES)}
        <RowMark terms={node.path} />
      </span>
      <span class="tree-count number">{counted(node.places.length, "rule")}</span>
      <ClassMix node={node} />
      <Covered terms={node.path} />
    </>
  );
}

function LeafLine({ place, rest, path }: { place: number; rest: readonly Term[]; path: readonly Term[] }) {
  const { rules, features } = useStore().rules.value;
  const rule = rules[place];
  const text = (most?: number) => rest.map((term) => describeTerm(term, features[term.feature], most)).join(" AND ");
  return (
    <>
      <span class="tree-mark quiet number">{place}</span>
      <span class="tree-text" title={text()}>
        <span class="tree-then">
          <ClassChip index={rule.classIndex} />
        </span>
        {rule.priority && <span class="badge">priority</span>}
        <span class="quiet">{path.length === rest.length ? "IF" : rest.length > 0 ? "AND" : ""}</span> {text(MOST_CATEGORIES) || (path.length === 0 ? "anything" : "nothing more")}
        <RowMark terms={path} />
      </span>
      <span class="tree-count number quiet">{percent(rule.confidence, 0)}</span>
      <span class="tree-mix" />
      <Covered terms={rule.terms} />
    </>
  );
}

/** How many rules below conclude each class: a bar, and the class that most conclude in words. */
function ClassMix({ node }: { node: Branch }) {
  const set = useStore().rules.value;
  const counts = new Map<number, number>();
  for (const place of node.places) counts.set(set.rules[place].classIndex, (counts.get(set.rules[place].classIndex) ?? 0) + 1);
  const listed = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const text = listed.map(([c, n]) => `${formatLabel(set.classes[c])}: ${n}`).join(", ");
  let from = 0;
  return (
    <span class="tree-mix" title={text}>
      <svg class="mix-bar" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        {listed.map(([c, n]) => {
          const x = from;
          from += n / node.places.length;
          return <rect key={c} class={`mix-part ${colourOf(c)}`} x={x} width={Math.max(0, n / node.places.length - 0.012)} height="1" />;
        })}
      </svg>
      <ClassMark index={listed[0][0]} />
      <span class="mix-text">
        {formatLabel(set.classes[listed[0][0]])}
        {listed.length > 1 && <span class="quiet"> +{listed.length - 1}</span>}
      </span>
    </span>
  );
}

/** The rows of the report on which all these terms hold. */
function Covered({ terms }: { terms: readonly Term[] }) {
  const { table, rules } = useStore();
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
  const store = useStore();
  const selection = store.selection.value;
  const { table } = store;
  if (selection?.kind !== "row" || table === null) return null;
  const isMet = terms.every((term) => {
    const column = table.columns[term.feature];
    return column !== null && selection.row < table.nRows && holds(term, valueAt(column, selection.row));
  });
  return isMet ? <span class="badge tree-met">✓ selected row</span> : null;
}

// --- Which lines there are ---

function opened(text: string, tree: readonly Node[]): readonly string[] {
  if (text === "none") return [];
  const all = allBranches(tree);
  if (text === "all") return all;
  const named = new Set(text.split("."));
  const known = all.filter((id) => named.has(id));
  // Where none of the branches named is there, as with another first level, it is a tree seen for the first time.
  return known.length > 0 ? known : firstOpen(tree);
}

/** Level by level, what fits on a page. */
function firstOpen(tree: readonly Node[]): string[] {
  const open: string[] = [];
  let nLines = tree.length;
  for (let level = tree; level.length > 0; level = level.flatMap((node) => (node.kind === "branch" ? node.children : []))) {
    for (const node of level) {
      if (node.kind === "leaf") continue;
      nLines += node.children.length;
      if (nLines > FEW_LINES) return open;
      open.push(node.id);
    }
  }
  return open;
}

function allBranches(nodes: readonly Node[]): string[] {
  return nodes.flatMap((node) => (node.kind === "leaf" ? [] : [node.id, ...allBranches(node.children)]));
}

/** The branches from the root to the leaf of a rule. */
function branchesAbove(nodes: readonly Node[], place: number): string[] {
  const branch = nodes.find((node): node is Branch => node.kind === "branch" && node.places.includes(place));
  return branch === undefined ? [] : [branch.id, ...branchesAbove(branch.children, place)];
}

function linesOf(nodes: readonly Node[], open: ReadonlySet<string>): Line[] {
  const lines: Line[] = [];
  const visit = (siblings: readonly Node[], level: number, parent: number) =>
    siblings.forEach((node, place) => {
      const mine = lines.length;
      lines.push({ node, level, parent, place, nSiblings: siblings.length });
      if (node.kind === "branch" && open.has(node.id)) visit(node.children, level + 1, mine);
    });
  visit(nodes, 0, -1);
  return lines;
}

/** The branches that stand beside a node. */
function siblings(nodes: readonly Node[], id: string): string[] {
  if (nodes.some((node) => node.id === id)) return nodes.filter((node) => node.kind === "branch").map((node) => node.id);
  return nodes.flatMap((node) => (node.kind === "branch" ? siblings(node.children, id) : []));
}

/** The line that was gone to last, and the rule that was selected then. */
function readAt(text: string): { id: string; selected: number | null } {
  const [id, selected] = text.split(".");
  return { id, selected: /^\d+$/.test(selected ?? "") ? Number(selected) : null };
}

function writeAt(id: string, selected: number | null): string {
  return selected === null ? id : `${id}.${selected}`;
}
