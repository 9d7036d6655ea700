/** Reads one row of values from pasted or dropped CSV, encoded like the report's rows. */

import type { Scalar } from "../payload";
import type { Feature, RuleSet } from "./rules";
import { counted, featureName, formatLabel, formatName } from "./text";

export interface ReadRow {
  /** One encoded value per feature, NaN where missing. */
  values: number[];
  /** Notes for the reader: columns that were ignored or absent, further rows. */
  notes: string[];
}

const BOOLEANS: ReadonlyMap<string, number> = new Map([
  ["true", 1],
  ["false", 0],
]);
const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "?"]);

/** The first row of values; throws an Error with a readable message. */
export function readCsvRow(text: string, set: Pick<RuleSet, "features">): ReadRow {
  const delimiter = delimiterOf(text.replace(/^\ufeff/, ""));
  const lines = cellsOf(text.replace(/^\ufeff/, ""), delimiter).filter((cells) => cells.some((cell) => cell.trim() !== ""));
  if (lines.length === 0) throw new Error("There is no row; paste a line of values, with or without a line of names above it.");
  const known = new Set(set.features.map((feature) => feature.name));
  // Spaces around a name may be part of it.
  const names = lines[0].map((cell) => (known.has(cell) ? cell : cell.trim()));
  const hasHeader = names.some((name) => known.has(name));
  const cells = lines[hasHeader ? 1 : 0];
  if (cells === undefined) throw new Error("There are names, but no row of values below them.");
  const notes: string[] = [];
  const nMore = lines.length - (hasHeader ? 2 : 1);
  if (nMore > 0) notes.push(`${counted(nMore, "further row")} not read`);
  const cellOf = hasHeader ? byName(set, names, cells, known, notes) : byPlace(set, cells);
  const values = set.features.map((feature, place) => encoded(cellOf(place), feature, delimiter));
  const unknown = set.features.flatMap(({ name, categories }, place) =>
    values[place] === categories?.length ? [`${formatName(name)} is ${JSON.stringify(cellOf(place).trim())}`] : [],
  );
  if (unknown.length > 0) notes.push(`${shortened(unknown)}, a category unknown to the rules`);
  return { values, notes };
}

function byPlace(set: Pick<RuleSet, "features">, cells: readonly string[]): (place: number) => string {
  if (cells.length !== set.features.length) {
    throw new Error(
      `The row has ${counted(cells.length, "value")}, the rules have ${counted(set.features.length, "feature")}; ` +
        "paste one value per feature in their order, or put a line of names above.",
    );
  }
  return (place) => cells[place];
}

function byName(set: Pick<RuleSet, "features">, names: readonly string[], cells: readonly string[], known: ReadonlySet<string>, notes: string[]): (place: number) => string {
  if (cells.length !== names.length) throw new Error(`There are ${counted(names.length, "name")} and ${counted(cells.length, "value")}; give one value per name.`);
  const at = new Map(names.map((name, i) => [name, i]));
  const absent = set.features.filter((feature) => !at.has(feature.name));
  const ignored = names.filter((name) => !known.has(name));
  if (absent.length > 0) notes.push(`${listed(absent.map((feature) => feature.name))} not given, taken as missing`);
  if (ignored.length > 0) notes.push(`${listed(ignored)} ignored`);
  return (place) => cells[at.get(set.features[place].name) ?? -1] ?? "";
}

function listed(names: readonly string[]): string {
  return shortened(names.map(formatLabel));
}

function shortened(texts: readonly string[]): string {
  return texts.slice(0, 3).join(", ") + (texts.length > 3 ? ` and ${texts.length - 3} more` : "");
}

function encoded(cell: string, feature: Feature, delimiter: string): number {
  const text = cell.trim();
  if (feature.categories !== null) {
    const code = feature.categories.findIndex((value) => String(value) === cell || String(value) === text || isWrittenSo(value, text));
    if (code >= 0) return code;
    return MISSING.has(text.toLowerCase()) ? NaN : feature.categories.length;
  }
  if (MISSING.has(text.toLowerCase())) return NaN;
  if (feature.kind === "binary") {
    const value = BOOLEANS.get(text.toLowerCase()) ?? Number(text);
    if (value !== 0 && value !== 1) throw new Error(`${featureName(feature)} is ${JSON.stringify(text)}; expected true, false, 0, 1 or an empty cell.`);
    return value;
  }
  const number = numberOf(text, delimiter);
  if (number !== number) throw new Error(`${featureName(feature)} is ${JSON.stringify(text)}; expected a number or an empty cell.`);
  return number;
}

/** Whether a text is another way to write a number or a boolean. */
function isWrittenSo(category: Scalar, text: string): boolean {
  if (typeof category === "string" || text === "") return false;
  const number = BOOLEANS.get(text.toLowerCase());
  return typeof category === "boolean" ? (number ?? Number(text)) === Number(category) : Number(text) === category;
}

export function numberOf(text: string, delimiter = ","): number {
  const infinite = /^([+-]?)(?:inf|infinity|∞)$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? -Infinity : Infinity;
  // Where commas do not separate values, they may be decimal commas.
  const plain = delimiter !== "," && /^[+-]?\d+,\d+$/.test(text) ? text.replace(",", ".") : text;
  return plain === "" || !/^[+-]?[\d.]/.test(plain) ? NaN : Number(plain);
}

/** The most frequent of comma, semicolon and tab in the first line. */
function delimiterOf(text: string): string {
  const first = text.trimStart().split("\n", 1)[0].replace(/"[^"]*"/g, "");
  const count = (mark: string) => first.split(mark).length - 1;
  return ["\t", ";", ","].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

function cellsOf(text: string, delimiter: string): string[][] {
  const lines: string[][] = [[]];
  let cell = "";
  let isQuoted = false;
  const endCell = () => {
    lines[lines.length - 1].push(cell);
    cell = "";
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[i + 1] === '"') cell += text[i++];
      else isQuoted = false;
    } else if (character === '"' && cell.trim() === "") {
      cell = "";
      isQuoted = true;
    } else if (character === delimiter) endCell();
    else if (character === "\n") {
      endCell();
      lines.push([]);
    } else if (character !== "\r") cell += character;
  }
  endCell();
  return lines;
}
