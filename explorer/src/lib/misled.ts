/** Which rules lead to decisions that the network, or the truth, does not share. Pure functions. */

import { hasBit } from "./bits";
import type { Evaluation } from "./evaluate";
import type { Cohort } from "./selection";
import type { Table } from "./table";

/** Who says what would have been right. */
export type Reference = "network" | "truth";

export interface Misled {
  place: number;
  /** On how many of the rows. */
  nRows: number;
}

/** Whom the rules are held against on these rows: the first whom these are about, else the network, else the truth. */
export function judgeOf(cohort: Cohort, table: Table): Reference {
  const named = cohort.kind === "cell" || cohort.kind === "differ" ? [cohort.a, cohort.b] : [];
  const isThere = (judge: string): judge is Reference => (judge === "network" || judge === "truth") && table[judge] !== null;
  return named.find(isThere) ?? (table.network !== null ? "network" : "truth");
}

/**
 * The rules that misled on these rows: they had a say, their class was decided for, and the judge says another one.
 * Those that misled on most rows first.
 */
export function misleading(found: Evaluation, table: Table, rows: ArrayLike<number>, judge: Reference): Misled[] {
  const reference = table[judge];
  if (reference === null) return [];
  const { set, covers, decisions, priorityRows } = found;
  const wrong = Array.from(rows).filter((row) => reference.codes[row] !== decisions[row]);
  const misled: Misled[] = [];
  set.rules.forEach((rule, place) => {
    let nRows = 0;
    for (const row of wrong) {
      if (rule.classIndex !== decisions[row] || !hasBit(covers[place], row)) continue;
      // Where rules with priority decide, the others are not heard.
      if (rule.priority || priorityRows === null || !hasBit(priorityRows, row)) nRows++;
    }
    if (nRows > 0) misled.push({ place, nRows });
  });
  return misled.sort((a, b) => b.nRows - a.nRows || a.place - b.place);
}
