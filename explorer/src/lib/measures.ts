/** Measures of an evaluation on the rows of the report. */

import type { Voting } from "../payload";
import { type Bits, countBits, lowestBit } from "./bits";
import type { Evaluation } from "./evaluate";
import type { Rule } from "./rules";
import type { Table } from "./table";
import { speaksAgainst } from "./votes";

export interface Measures {
  readonly nRows: number;
  /** Fraction of rows on which the rules decide as the network; null if its labels are not known. */
  readonly fidelity: number | null;
  readonly accuracy: number | null;
  /** Fraction of rows on which a rule fires. */
  readonly coverage: number;
  readonly nUncovered: number;
}

export function measuresOf(found: Evaluation, table: Table): Measures {
  let nUncovered = 0;
  for (let row = 0; row < found.nRows; row++) if (found.nFired[row] === 0) nUncovered++;
  return {
    nRows: found.nRows,
    fidelity: agreement(found, table.network?.codes ?? null),
    accuracy: agreement(found, table.truth?.codes ?? null),
    coverage: found.nRows === 0 ? 0 : 1 - nUncovered / found.nRows,
    nUncovered,
  };
}

/** The fraction of the rows that the rules decide on which they agree with these labels. */
function agreement({ set, nRows, outcomes }: Evaluation, codes: ArrayLike<number> | null): number | null {
  if (codes === null) return null;
  let [n, nDecided] = [0, 0];
  for (let row = 0; row < nRows; row++) {
    if (set.abstention !== null && outcomes[row] === set.classes.length) continue;
    nDecided++;
    if (outcomes[row] === codes[row]) n++;
  }
  return nDecided === 0 ? null : n / nDecided;
}

/** The number of rows that a rule covers whose label is its class. */
function countLabelled(cover: Bits, codes: ArrayLike<number>, classIndex: number): number {
  let n = 0;
  for (let w = 0; w < cover.length; w++) {
    for (let word = cover[w]; word !== 0; word &= word - 1) {
      if (codes[(w << 5) + lowestBit(word)] === classIndex) n++;
    }
  }
  return n;
}

interface Counted {
  readonly codes: ArrayLike<number>;
  readonly classIndex: number;
  readonly n: number;
  readonly nOfClass: number;
}

/** Covers outlive edits of other rules, and so does what was counted on them. */
const counts = new WeakMap<Bits, Counted>();

function countedOn(cover: Bits, codes: ArrayLike<number>, classIndex: number): Counted {
  let known = counts.get(cover);
  if (known === undefined || known.codes !== codes || known.classIndex !== classIndex) {
    known = { codes, classIndex, n: countBits(cover), nOfClass: countLabelled(cover, codes, classIndex) };
    counts.set(cover, known);
  }
  return known;
}

/** Of the rows that a rule covers, the fraction whose label is what it speaks for: its class, or any other if it speaks against it. */
export function agreementOf(rule: Rule, voting: Voting, cover: Bits, codes: ArrayLike<number>): number | null {
  const { n, nOfClass } = countedOn(cover, codes, rule.classIndex);
  if (n === 0) return null;
  return (speaksAgainst(rule, voting) ? n - nOfClass : nOfClass) / n;
}

/** The measures that are compared; null where unknown. */
export interface Measured {
  fidelity: number | null;
  accuracy: number | null;
  coverage: number;
}
