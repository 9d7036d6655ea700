/** Misleading rules: those behind decisions that differ from the network or the truth. Pure functions. */

import { hasBit } from "./bits";
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
  const named = cohort.kind === "cell" || cohort.kind === "differ" ? [cohort.a, cohort.b] : [];
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
  const { set, covers, decisions, priorityRows } = found;
  const wrong = Array.from(rows).filter((row) => reference.codes[row] !== decisions[row]);
  const misled: Misled[] = [];
  set.rules.forEach((rule, place) => {
    let nRows = 0;
    const pushed = speaksAgainst(rule, set.voting) ? reference.codes : decisions;
    for (const row of wrong) {
      if (rule.classIndex !== pushed[row] || !hasBit(covers[place], row)) continue;
      // Where rules with priority decide, others do not vote.
      if (rule.priority || priorityRows === null || !hasBit(priorityRows, row)) nRows++;
    }
    if (nRows > 0) misled.push({ place, nRows });
  });
  return misled.sort((a, b) => b.nRows - a.nRows || a.place - b.place);
}
