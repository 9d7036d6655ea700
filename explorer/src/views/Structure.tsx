/** The shared-prefix tree of all rules: terms that rules have in common are shown once, above them. */

import { useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { VirtualList } from "../components/VirtualList";
import { searched } from "../lib/filter";
import { counted, grouped } from "../lib/text";
import { type Branch, sharesLittle, treeOf } from "../lib/tree";
import { allBranches, branchesAbove, type Line, linesOf, opened, readAt, siblings, writeAt } from "../lib/treeLines";
import { usePage } from "../pageStore";
import { useParts } from "../parts";
import { BranchLine, LeafLine } from "./structure/TreeLines";
import "./structure.css";

const LINE_HEIGHT = 28;

export function Structure() {
  const store = usePage();
  const parts = useParts();
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
  const places = useComputed(() => searched(store.kind, store.rules.value, query.value));
  const tree = useComputed(() => treeOf(store.kind, store.rules.value, places.value, { sharing: effectiveSharing.value, byGroup: group.value === "class" }));
  const selectedId = store.selectedRule.value?.rule.id ?? null;
  const at = readAt(active.value);
  // A rule selected elsewhere is made visible, even in a closed branch; from there the keys move on.
  const isAtRule = selectedId !== null && at.selected !== selectedId;
  const currentId = isAtRule ? `rule${selectedId}` : at.id;
  // During a search all matches are visible, except in branches that the reader closed.
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
    // Branches opened to show the selected rule stay open when moving on.
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
    const targets = new Map<string, () => void>([
      ["ArrowDown", () => goTo(shown[Math.min(shown.length - 1, current + 1)])],
      ["ArrowUp", () => goTo(shown[Math.max(0, current - 1)])],
      ["PageDown", () => goTo(shown[Math.min(shown.length - 1, current + 12)])],
      ["PageUp", () => goTo(shown[Math.max(0, current - 12)])],
      ["Home", () => goTo(shown[0])],
      ["End", () => goTo(shown[shown.length - 1])],
      ["ArrowRight", () => (node?.kind === "branch" && !isOpen ? toggle(node, true) : goTo(shown[current + 1]))],
      ["ArrowLeft", () => (node?.kind === "branch" && isOpen ? toggle(node, false) : goTo(shown[line?.parent ?? -1]))],
      ["Enter", () => (node?.kind === "branch" ? toggle(node, !isOpen) : goTo(line))],
      [" ", () => (node?.kind === "branch" ? toggle(node, !isOpen) : goTo(line))],
      ["*", () => setOpen(new Set([...openIds, ...(line === undefined ? [] : siblings(tree.value, line.node.id))]))],
    ]);
    const act = targets.get(event.key);
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
            <option value="class">{parts.groups}</option>
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
            placeholder={parts.finding}
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
