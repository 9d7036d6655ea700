/**
 * The shared-prefix tree of a rule set: rules are grouped below the terms they share. Pure functions of the rules.
 *
 * At every node the term that most rules share comes first, with all rules that have it below; then the term that most
 * of the others share; and so on. Rules that share nothing more are leaves with the rest of their terms.
 */

import type { RuleKind } from "./kind";
import { type AnyRule, type AnyRules, type Term, termKey } from "./rules";

/** How terms are shared: when they are equal, or when they bound the same feature from the same side. */
export type Sharing = "equal" | "bounds";

export interface Branch {
  readonly kind: "branch";
  /** A hash of the shared terms from the root, so that it is stable when rules elsewhere change. */
  readonly id: string;
  /** Terms that every rule below has; empty for a group. */
  readonly terms: readonly Term[];
  /** All terms from the root to here. */
  readonly path: readonly Term[];
  /** The group of rules, such as their class, if the branch is for one. */
  readonly group: number | null;
  /** Places of the rules below, ascending. */
  readonly places: readonly number[];
  readonly children: readonly Node[];
}

export interface Leaf {
  readonly kind: "leaf";
  readonly id: string;
  readonly place: number;
  /** The terms that no branch above has. */
  readonly rest: readonly Term[];
  readonly path: readonly Term[];
}

export type Node = Branch | Leaf;

/** A rule on its way down the tree. */
interface Candidate {
  place: number;
  rest: readonly Term[];
}

interface Options {
  readonly sharing: Sharing;
  /** Whether groups, such as classes, are the first level. */
  readonly byGroup: boolean;
}

export function treeOf<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S, places: readonly number[], options: Options): Node[] {
  const branch = (way: string, terms: readonly Term[], above: readonly Term[], group: number | null, candidates: readonly Candidate[]): Branch => {
    // Terms that all rules below share are in one branch, to avoid chains of branches with one child.
    const shared = [...terms];
    let inside = candidates;
    for (let more = sharedByAll(inside); more !== null; more = sharedByAll(inside)) {
      const { key } = more;
      shared.push(more.term);
      inside = inside.map((candidate) => ({ ...candidate, rest: candidate.rest.filter((term) => termKey(term) !== key) }));
    }
    const path = [...above, ...shared];
    const children = grown(way, inside, path);
    return { kind: "branch", id: shortened(way), terms: shared, path, group, places: candidates.map((candidate) => candidate.place), children };
  };
  const grown = (way: string, candidates: readonly Candidate[], path: readonly Term[]): Node[] => {
    const nodes: Node[] = [];
    const { groups, alone } = grouped(candidates, path, options.sharing);
    for (const group of groups) nodes.push(branch(`${way}/${group.key}`, [group.term], path, null, group.candidates));
    for (const { place, rest } of alone) nodes.push({ kind: "leaf", id: `rule${set.rules[place].id}`, place, rest, path: [...path, ...rest] });
    return nodes;
  };
  const candidates = places.map((place) => ({ place, rest: set.rules[place].terms }));
  if (!options.byGroup) return grown("", candidates, []);
  return kind.groupNames(set).flatMap((_, group) => {
    const own = candidates.filter((candidate) => kind.groupOf(set.rules[candidate.place]) === group);
    return own.length === 0 ? [] : [branch(`class ${group}`, [], [], group, own)];
  });
}

/** A term that every candidate still has; null for a single candidate. */
function sharedByAll(candidates: readonly Candidate[]): { key: string; term: Term } | null {
  if (candidates.length < 2) return null;
  const others = candidates.slice(1).map((candidate) => new Set(candidate.rest.map(termKey)));
  const term = candidates[0].rest.find((one) => others.every((keys) => keys.has(termKey(one))));
  return term === undefined ? null : { key: termKey(term), term };
}

interface Group {
  /** The key by which its candidates were grouped; unique among siblings. */
  key: string;
  term: Term;
  candidates: Candidate[];
}

/** The candidates grouped by shared terms, the largest group first; and those that share none. */
function grouped(candidates: readonly Candidate[], path: readonly Term[], sharing: Sharing): { groups: Group[]; alone: Candidate[] } {
  const bounded = new Set(path.map((term) => term.feature));
  // Below a bound on a feature, sharper bounds on the same feature are shared only where they are equal.
  const keyOf = (term: Term): string => (sharing === "equal" || bounded.has(term.feature) ? termKey(term) : sideOf(term));
  const members = new Map<string, Set<number>>();
  candidates.forEach((candidate, i) => {
    for (const term of candidate.rest) {
      const key = keyOf(term);
      const known = members.get(key);
      if (known === undefined) members.set(key, new Set([i]));
      else known.add(i);
    }
  });
  const groups: Group[] = [];
  const left = new Set(candidates.keys());
  for (;;) {
    let best: string | null = null;
    for (const [key, known] of members) {
      // Of equally large groups the first by rule and term, which is the order of insertion.
      if (known.size > 1 && (best === null || known.size > (members.get(best)?.size ?? 0))) best = key;
    }
    if (best === null) break;
    const chosen = best;
    const inGroup = [...(members.get(chosen) ?? [])];
    const terms = inGroup.map((i) => candidates[i].rest.find((term) => keyOf(term) === chosen)).filter((term) => term !== undefined);
    const term = hullOf(terms);
    const sharedKey = termKey(term);
    groups.push({ key: chosen, term, candidates: inGroup.map((i) => ({ place: candidates[i].place, rest: candidates[i].rest.filter((one) => termKey(one) !== sharedKey) })) });
    for (const i of inGroup) {
      left.delete(i);
      for (const one of candidates[i].rest) members.get(keyOf(one))?.delete(i);
    }
  }
  return { groups, alone: [...left].map((i) => candidates[i]) };
}

/** Which side of a feature a term bounds. */
function sideOf(term: Term): string {
  if (term.codes !== null || term.missing) return termKey(term);
  return `${term.feature}${term.low === -Infinity ? "" : ">"}${term.high === Infinity ? "" : "<"}`;
}

/** The least term that all of these imply. */
function hullOf(terms: readonly Term[]): Term {
  const low = Math.min(...terms.map((term) => term.low));
  return { ...terms[0], low, high: Math.max(...terms.map((term) => term.high)) };
}

/** Whether so few terms are equal that a tree of equal terms would be almost a list. */
export function sharesLittle(rules: readonly AnyRule[]): boolean {
  const terms = rules.flatMap((rule) => rule.terms.map(termKey));
  return new Set(terms).size > terms.length / 2;
}

/** A 53-bit hash in letters and digits: short enough for an address, long enough to avoid collisions. */
function shortened(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    high = Math.imul(high ^ text.charCodeAt(i), 2654435761);
    low = Math.imul(low ^ text.charCodeAt(i), 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}
