/** Sets of rows, one bit each: bit i of word w is row 32·w + i. */

export type Bits = Uint32Array;

export function emptyBits(nRows: number): Bits {
  return new Uint32Array((nRows + 31) >> 5);
}

export function allBits(nRows: number): Bits {
  const bits = emptyBits(nRows).fill(0xffffffff);
  const rest = nRows & 31;
  if (rest !== 0) bits[bits.length - 1] = 2 ** rest - 1;
  return bits;
}

export function hasBit(bits: Bits, row: number): boolean {
  return ((bits[row >> 5] >>> (row & 31)) & 1) === 1;
}

export function setBit(bits: Bits, row: number): void {
  bits[row >> 5] |= 1 << (row & 31);
}

export function countBits(bits: Bits): number {
  let n = 0;
  for (let w = 0; w < bits.length; w++) n += countWord(bits[w]);
  return n;
}

/** The number of rows in both sets. */
export function countCommon(a: Bits, b: Bits): number {
  let n = 0;
  for (let w = 0; w < a.length; w++) n += countWord(a[w] & b[w]);
  return n;
}

/** The number of rows in both sets but not in a third. */
export function countCommonWithout(a: Bits, b: Bits, without: Bits): number {
  let n = 0;
  for (let w = 0; w < a.length; w++) n += countWord(a[w] & b[w] & ~without[w]);
  return n;
}

function countWord(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return (((v + (v >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

export function orInto(target: Bits, other: Bits): void {
  for (let w = 0; w < target.length; w++) target[w] |= other[w];
}

export function andInto(target: Bits, other: Bits): void {
  for (let w = 0; w < target.length; w++) target[w] &= other[w];
}

/** Removes the rows of the other set. */
export function andNotInto(target: Bits, other: Bits): void {
  for (let w = 0; w < target.length; w++) target[w] &= ~other[w];
}

/** The rows of a set, ascending. */
export function rowsOf(bits: Bits): Uint32Array {
  const rows = new Uint32Array(countBits(bits));
  let n = 0;
  for (let w = 0; w < bits.length; w++) {
    for (let word = bits[w]; word !== 0; word &= word - 1) rows[n++] = (w << 5) + lowestBit(word);
  }
  return rows;
}

/** The place of the lowest bit that is set; the word must not be 0. */
export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
