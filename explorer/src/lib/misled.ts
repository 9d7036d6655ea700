/** Misleading rules: those behind decisions that differ from the network or the truth. Pure functions. */

import { type Bits, countCommon, countCommonWithout, emptyBits, setBit } from "./bits";
import type { Evaluation } from "./evaluate";
import type { Cohort } from "./selection";
import type { Table } from "./table";
import { speaksAgainst } from "./votes";

/** The reference that decisions are compared with. */
export type Reference = "network" | "truth";

export interface Misled {
  place: number;
  /** Number of rows on which it misled. */
  nRows: number;
}

/** The reference for a cohort: the first that it names, else the network, else the truth. */
export function judgeOf(cohort: Cohort, table: Table): Reference {
  const named = "a" in cohort ? [cohort.a, cohort.b] : [];
  const isThere = (judge: string): judge is Reference => (judge === "network" || judge === "truth") && table[judge] !== null;
  return named.find(isThere) ?? (table.network !== null ? "network" : "truth");
}

/**
 * The rules that misled on these rows: they voted, their class was decided, and the judge differs; or they spoke
 * against the class of the judge. Those that misled on most rows come first.
 */
export function misleading(found: Evaluation, table: Table, rows: ArrayLike<number>, judge: Reference): Misled[] {
  const reference = table[judge];
  if (reference === null) return [];
  const { set, covers, decisions, outcomes, priorityRows } = found;
  // The rows that are wrong, by the class that was decided, and by the class of the judge.
  const [decided, judged] = [new Map<number, Bits>(), new Map<number, Bits>()];
  const add = (sets: Map<number, Bits>, c: number, row: number) => {
    let bits = sets.get(c);
    if (bits === undefined) sets.set(c, (bits = emptyBits(found.nRows)));
    setBit(bits, row);
  };
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (reference.codes[row] === decisions[row] || outcomes[row] !== decisions[row]) continue;
    add(decided, decisions[row], row);
    add(judged, reference.codes[row], row);
  }
  const misled: Misled[] = [];
  set.rules.forEach((rule, place) => {
    const wrong = (speaksAgainst(rule, set.voting) ? judged : decided).get(rule.classIndex);
    if (wrong === undefined) return;
    // Where rules with priority decide, others do not vote.
    const nRows = rule.priority || priorityRows === null ? countCommon(covers[place], wrong) : countCommonWithout(covers[place], wrong, priorityRows);
    if (nRows > 0) misled.push({ place, nRows });
  });
  return misled.sort((a, b) => b.nRows - a.nRows || a.place - b.place);
}
