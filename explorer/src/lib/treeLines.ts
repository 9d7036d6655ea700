/** Which lines of the tree are shown, by which branches are open. Pure functions. */

import type { Branch, Node } from "./tree";

/** Branches start open as long as at most this number of lines results. */
const FEW_LINES = 26;

/** One visible line. */
export interface Line {
  node: Node;
  level: number;
  parent: number;
  place: number;
  nSiblings: number;
}

export function opened(text: string, tree: readonly Node[]): readonly string[] {
  if (text === "none") return [];
  const all = allBranches(tree);
  if (text === "all") return all;
  const named = new Set(text.split("."));
  const known = all.filter((id) => named.has(id));
  // If none of the named branches exists, as with another first level, the tree is shown as for the first time.
  return known.length > 0 ? known : firstOpen(tree);
}

/** The branches to open at first: level by level, as many as fit on a page. */
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

export function allBranches(nodes: readonly Node[]): string[] {
  return nodes.flatMap((node) => (node.kind === "leaf" ? [] : [node.id, ...allBranches(node.children)]));
}

/** The branches from the root to the leaf of a rule. */
export function branchesAbove(nodes: readonly Node[], place: number): string[] {
  const branch = nodes.find((node): node is Branch => node.kind === "branch" && node.places.includes(place));
  return branch === undefined ? [] : [branch.id, ...branchesAbove(branch.children, place)];
}

export function linesOf(nodes: readonly Node[], open: ReadonlySet<string>): Line[] {
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

/** The branches beside a node. */
export function siblings(nodes: readonly Node[], id: string): string[] {
  if (nodes.some((node) => node.id === id)) return nodes.filter((node) => node.kind === "branch").map((node) => node.id);
  return nodes.flatMap((node) => (node.kind === "branch" ? siblings(node.children, id) : []));
}

/** The line that was active last, and the rule that was selected then. */
export function readAt(text: string): { id: string; selected: number | null } {
  const [id, selected] = text.split(".");
  return { id, selected: /^\d+$/.test(selected ?? "") ? Number(selected) : null };
}

export function writeAt(id: string, selected: number | null): string {
  return selected === null ? id : `${id}.${selected}`;
}
