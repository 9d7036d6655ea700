/** The rows on which rules fire, as sets. Pure functions of rules and table. */

import { allBits, andInto, andNotInto, type Bits, emptyBits, setBit } from "./bits";
import type { Rule, Term } from "./rules";
import { type Column, placeAbove, type Table } from "./table";

/** A term prepared for a column: the places of the values that satisfy it. */
interface Places {
  codes: Column["codes"];
  column: Column;
  /** Places first ≤ p < end, restricted to `accepts` if it is not null. */
  first: number;
  end: number;
  accepts: Uint8Array | null;
  nRows: number;
}

function placesOf(term: Term, column: Column): Places {
  const { values, nKnown, starts, codes } = column;
  if (term.missing) {
    const nRows = starts[values.length] - starts[nKnown];
    return { codes, column, first: nKnown, end: values.length, accepts: null, nRows };
  }
  if (term.codes !== null) {
    const accepts = new Uint8Array(values.length);
    let nRows = 0;
    for (let place = 0; place < nKnown; place++) {
      if (term.codes.includes(values[place])) {
        accepts[place] = 1;
        nRows += starts[place + 1] - starts[place];
      }
    }
    return { codes, column, first: 0, end: nKnown, accepts, nRows };
  }
  const first = term.low === -Infinity ? 0 : placeAbove(values, nKnown, term.low);
  const end = Math.max(first, placeAbove(values, nKnown, term.high));
  return { codes, column, first, end, accepts: null, nRows: starts[end] - starts[first] };
}

/** The rows on which all terms hold. No rows if a term tests a column that the report left out. */
export function coverOf(terms: readonly Term[], table: Table): Bits {
  if (terms.length === 0) return allBits(table.nRows);
  const bits = emptyBits(table.nRows);
  const places: Places[] = [];
  for (const term of terms) {
    const column = table.columns[term.feature];
    if (column === null) return bits;
    places.push(placesOf(term, column));
  }
  // Visit the rows of the most selective term and test the others.
  places.sort((a, b) => a.nRows - b.nRows);
  const { column, first, end, accepts } = places[0];
  const others = places.slice(1);
  for (let place = first; place < end; place++) {
    if (accepts !== null && accepts[place] === 0) continue;
    for (let i = column.starts[place]; i < column.starts[place + 1]; i++) {
      const row = column.order[i];
      if (satisfies(others, row)) setBit(bits, row);
    }
  }
  return bits;
}

function satisfies(places: readonly Places[], row: number): boolean {
  for (let i = 0; i < places.length; i++) {
    const term = places[i];
    const place = term.codes[row];
    if (place < term.first || place >= term.end || (term.accepts !== null && term.accepts[place] === 0)) return false;
  }
  return true;
}

/** One end of an interval: from `place` on (`isLow`), or before it. */
interface Bound {
  place: number;
  rule: number;
  isLow: boolean;
}

/**
 * The rows of many rules at once, feature by feature: the rows with a value before some place grow as the place
 * ascends, and are removed from (or intersected with) each rule with a bound there. Much faster than rule by rule, because it reads
 * every column once and then only combines sets.
 */
export function coversOf(rules: readonly Pick<Rule, "terms">[], table: Table): Bits[] {
  const covers = rules.map(() => allBits(table.nRows));
  const bounds = new Map<number, Bound[]>();
  rules.forEach((rule, r) => {
    for (const term of rule.terms) {
      const column = table.columns[term.feature];
      if (column === null) {
        covers[r].fill(0);
        continue;
      }
      const { first, end, accepts } = placesOf(term, column);
      if (accepts !== null) {
        andInto(covers[r], rowsAt(column, accepts, table.nRows));
        continue;
      }
      let listed = bounds.get(term.feature);
      if (listed === undefined) bounds.set(term.feature, (listed = []));
      if (first > 0) listed.push({ place: first, rule: r, isLow: true });
      if (end < column.values.length) listed.push({ place: end, rule: r, isLow: false });
    }
  });
  for (const [feature, listed] of bounds) {
    const column = table.columns[feature];
    if (column !== null) cut(covers, column, listed, table.nRows);
  }
  return covers;
}

function cut(covers: readonly Bits[], column: Column, bounds: Bound[], nRows: number): void {
  const before = emptyBits(nRows);
  let n = 0;
  bounds.sort((a, b) => a.place - b.place);
  for (const { place, rule, isLow } of bounds) {
    for (const end = column.starts[place]; n < end; n++) setBit(before, column.order[n]);
    if (isLow) andNotInto(covers[rule], before);
    else andInto(covers[rule], before);
  }
}

/** The rows with an accepted value. */
function rowsAt(column: Column, accepts: Uint8Array, nRows: number): Bits {
  const bits = emptyBits(nRows);
  for (let place = 0; place < accepts.length; place++) {
    if (accepts[place] === 0) continue;
    for (let i = column.starts[place]; i < column.starts[place + 1]; i++) setBit(bits, column.order[i]);
  }
  return bits;
}
