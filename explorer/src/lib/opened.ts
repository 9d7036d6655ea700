/** Rule files that the reader opens: fully checked first, with errors that name the place. */

import type { RuleFile } from "../payload";
import { readRuleFile } from "./ruleFile";
import type { RuleSet } from "./rules";

export const MAX_FILE_BYTES = 64 * 2 ** 20;
const MAX_SHOWN = 60;

type Fields = ReadonlyMap<string, unknown>;

/** The rule set in the text of a file; throws an Error worded as Python's io/json.py words it, without a full stop. */
export function openRules(text: string): RuleSet {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`this is not JSON (${error instanceof Error ? error.message : String(error)}); open a file that RuleSet.save wrote`);
  }
  return readRuleFile(checkedFile(parsed));
}

/** Rejects what `RuleSet.load` rejects. */
function checkedFile(value: unknown): RuleFile {
  if (!isObject(value) || fieldsOf(value).get("format") !== "clausewise-rules") {
    throw new Error('this is not a rule file; expected an object with "format": "clausewise-rules"');
  }
  checkVersion(fieldsOf(value).get("version"));
  const file = knownFields(value, "the file", ["format", "version", "voting", "default", "classes", "class_dtype", "named", "features", "rules"], ["base", "scale", "changes"]);
  oneOf(file.get("voting"), ["confidence", "majority", "share", "weights"], "voting");
  const classes = checkClasses(file.get("classes"), file.get("class_dtype"));
  known(file.get("default"), classes, "default", "classes");
  flag(file.get("named"), "named");
  if (file.get("base") != null) {
    const base = listOf(file.get("base"), "base");
    if (base.length !== classes.size) throw new Error(`base has ${base.length} numbers for ${classes.size} classes; expected one per class`);
    base.forEach((votes, i) => finite(votes, `base[${i}]`));
  }
  if (file.get("scale") !== undefined && !(finite(file.get("scale"), "scale") > 0)) throw wrong(file.get("scale"), "scale", "a positive number");
  const features = checkFeatures(file.get("features"));
  listOf(file.get("rules"), "rules").forEach((entry, i) => checkRule(entry, `rules[${i}]`, features, classes));
  if (file.get("changes") !== undefined) listOf(file.get("changes"), "changes").forEach((change, i) => checkChange(change, `changes[${i}]`));
  return value as RuleFile;
}

function checkVersion(version: unknown): void {
  if (!isWholeFrom(version, 1)) throw wrong(version, "version", "a whole number of 1 or more");
  if (version > 1) throw new Error(`the file has version ${version}, but this page reads versions up to 1; make the report with a newer clausewise`);
}

/** The JSON type of labels by class_dtype. */
const LABEL_KINDS: ReadonlyMap<string, "string" | "boolean" | "number"> = new Map([
  ["str", "string"],
  ["object", "string"],
  ["bool", "boolean"],
  ...["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"].map((name) => [name, "number"] as const),
]);

function checkClasses(value: unknown, dtype: unknown): ReadonlySet<unknown> {
  const name = oneOf(dtype, [...LABEL_KINDS.keys()], "class_dtype");
  const expected = LABEL_KINDS.get(name);
  const labels = listOf(value, "classes");
  if (labels.length === 0) throw new Error("classes is empty; expected at least one label");
  labels.forEach((label, i) => {
    scalar(label, `classes[${i}]`);
    const isWhole = !name.includes("int") || Number.isInteger(label);
    if (typeof label !== expected || !isWhole) throw new Error(`classes[${i}] is ${shown(label)}, which is not of type ${name}`);
    if (typeof label === "number" && !isHeldBy(name, label)) throw new Error(`classes has a ${name.includes("int") ? "number" : "label"} that ${name} cannot hold`);
  });
  return distinct(labels, (label) => `classes contains ${shown(label)} twice; the labels must differ`);
}

/** Whether a number is exact in a NumPy type; 16-bit floats are not checked. */
function isHeldBy(dtype: string, label: number): boolean {
  const bits = Number(/\d+$/.exec(dtype)?.[0] ?? 64);
  if (dtype.startsWith("float")) return bits !== 32 || Math.fround(label) === label;
  const [low, end] = dtype.startsWith("uint") ? [0, 2 ** bits] : [-(2 ** (bits - 1)), 2 ** (bits - 1)];
  // The largest 64-bit number is read as the double above it.
  return label >= low && (label < end || (bits === 64 && label === end));
}

/** Per name the categories of a feature; null where it has none. */
type Features = ReadonlyMap<string, { kind: string; categories: ReadonlySet<unknown> | null }>;

function checkFeatures(value: unknown): Features {
  const listed = listOf(value, "features");
  if (listed.length === 0) throw new Error("features is empty; expected at least one");
  const read = listed.map((entry, i) => {
    const place = `features[${i}]`;
    const feature = knownFields(entry, place, ["name", "kind"], ["categories"]);
    const name = text(feature.get("name"), `${place}.name`);
    const kind = oneOf(feature.get("kind"), ["numeric", "binary", "categorical"], `${place}.kind`);
    const given = feature.get("categories") ?? null;
    if ((given !== null) !== (kind === "categorical")) throw new Error(`${place} is ${kind}; categorical features need categories, others have none`);
    return [name, { kind, categories: given === null ? null : checkCategories(given, `${place}.categories`) }] as const;
  });
  distinct(
    read.map(([name]) => name),
    (name) => `two features are called ${shown(name)}; names must differ`,
  );
  return new Map(read);
}

function checkCategories(value: unknown, place: string): ReadonlySet<unknown> {
  const categories = listOf(value, place);
  categories.forEach((category, c) => scalar(category, `${place}[${c}]`));
  const isText = categories.filter((category) => typeof category === "string").length;
  if (isText !== 0 && isText !== categories.length) throw new Error(`${place} mixes text and numbers; make them one or the other`);
  // To Python, true and 1 are one category.
  distinct(
    categories.map((category) => (typeof category === "boolean" ? Number(category) : category)),
    (category) => `${place} contains ${shown(category)} twice`,
  );
  return new Set(categories);
}

function checkRule(entry: unknown, place: string, features: Features, classes: ReadonlySet<unknown>): void {
  const rule = knownFields(entry, place, ["if", "then", "confidence", "cover", "correct", "weight"], ["origin", "priority"]);
  known(rule.get("then"), classes, `${place}.then`, "classes");
  const number = (name: string): number => finite(rule.get(name), `${place}.${name}`);
  if (!(number("confidence") >= 0 && number("confidence") <= 1)) throw wrong(rule.get("confidence"), `${place}.confidence`, "a number from 0 to 1");
  if (!(number("correct") >= 0 && number("correct") <= number("cover"))) throw wrong(rule.get("correct"), `${place}.correct`, `a number from 0 to its cover, ${number("cover")}`);
  number("weight");
  if (rule.get("priority") !== undefined) flag(rule.get("priority"), `${place}.priority`);
  if (rule.get("origin") != null) {
    const origin = knownFields(rule.get("origin"), `${place}.origin`, [], ["layer", "clause"]);
    for (const part of ["layer", "clause"]) if (origin.get(part) != null) text(origin.get(part), `${place}.origin.${part}`);
  }
  const tested = listOf(rule.get("if"), `${place}.if`).map((term, t) => checkTerm(term, `${place}.if[${t}]`, features));
  distinct(tested, (name) => `${place} tests ${shown(name)} twice; one term per feature is allowed`);
}

/** The name of the feature that a term tests. */
function checkTerm(entry: unknown, place: string, features: Features): string {
  const term = knownFields(entry, place, ["feature"], ["low", "high", "values", "missing"]);
  const name = text(term.get("feature"), `${place}.feature`);
  const feature = features.get(name);
  if (feature === undefined) throw new Error(`${place} tests ${shown(name)}, which is not one of the features`);
  if (term.has("missing")) {
    if (term.get("missing") !== true) throw wrong(term.get("missing"), `${place}.missing`, "true or no such key");
    if (term.size > 2) throw new Error(`${place} tests whether ${shown(name)} is missing; expected missing only`);
    return name;
  }
  const { categories } = feature;
  const isSet = term.has("values");
  if (isSet !== (categories !== null) || (isSet && term.size > 2)) {
    throw new Error(`${place} tests ${shown(name)}, which is ${feature.kind}; expected ${categories !== null ? "values" : "low and high"} only`);
  }
  for (const end of ["low", "high"]) if (term.get(end) != null) finite(term.get(end), `${place}.${end}`);
  if (categories !== null) listOf(term.get("values"), `${place}.values`).forEach((one, v) => known(one, categories, `${place}.values[${v}]`, "categories"));
  return name;
}

function checkChange(entry: unknown, place: string): void {
  const change = knownFields(entry, place, ["action", "rule"], ["before", "after", "note"]);
  oneOf(change.get("action"), ["added", "removed", "replaced", "reweighted"], `${place}.action`);
  const number = change.get("rule");
  if (!isWholeFrom(number, 0)) throw wrong(number, `${place}.rule`, "a whole number of 0 or more");
  for (const part of ["before", "after", "note"]) if (change.get(part) !== undefined) text(change.get(part), `${place}.${part}`);
}

// --- Single values ---

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a JSON object, in a map, as a file may hold any key. */
function fieldsOf(value: object): Fields {
  return new Map<string, unknown>(Object.entries(value));
}

function knownFields(value: unknown, place: string, required: readonly string[], optional: readonly string[]): Fields {
  if (!isObject(value)) throw wrong(value, place, "an object");
  const fields = fieldsOf(value);
  for (const key of required) if (!fields.has(key)) throw new Error(`${place} has no ${shown(key)}; the file is damaged`);
  for (const key of fields.keys()) if (!required.includes(key) && !optional.includes(key)) throw new Error(`${place} has the unknown key ${shown(key)}`);
  return fields;
}

/** The values as a set; throws if one occurs twice. */
function distinct(values: readonly unknown[], problem: (value: unknown) => string): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  for (const value of values) {
    if (found.has(value)) throw new Error(problem(value));
    found.add(value);
  }
  return found;
}

function known(value: unknown, listed: ReadonlySet<unknown>, place: string, what: string): void {
  scalar(value, place);
  if (!listed.has(value)) throw new Error(`${place} is ${shown(value)}, which is not one of the ${what}`);
}

function listOf(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(value, place, "a list");
  return value;
}

function scalar(value: unknown, place: string): void {
  if (!["string", "number", "boolean"].includes(typeof value)) throw wrong(value, place, "text, a number or a boolean");
  if (typeof value === "number") finite(value, place);
}

function text(value: unknown, place: string): string {
  if (typeof value !== "string") throw wrong(value, place, "text");
  return value;
}

function flag(value: unknown, place: string): void {
  if (typeof value !== "boolean") throw wrong(value, place, "true or false");
}

function isWholeFrom(value: unknown, least: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least;
}

/** A finite number; JSON can hold numbers that overflow a double. */
function finite(value: unknown, place: string): number {
  if (typeof value !== "number") throw wrong(value, place, "a number");
  if (!Number.isFinite(value)) throw new Error(`${place} is too large for a double`);
  return value;
}

function oneOf<T extends string>(value: unknown, choices: readonly T[], place: string): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw wrong(value, place, `one of ${choices.join(", ")}`);
  return found;
}

function wrong(value: unknown, place: string, expected: string): Error {
  return new Error(`${place} is ${shown(value)}; expected ${expected}`);
}

/** A value of the file, short enough for a message. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  if (value === undefined) return "null";
  const written = JSON.stringify(value);
  const letters = Array.from(written);
  return letters.length <= MAX_SHOWN ? written : `${letters.slice(0, MAX_SHOWN).join("")}…`;
}
