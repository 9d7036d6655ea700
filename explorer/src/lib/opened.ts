/** Rule files that the reader opens: fully checked first, with errors that name the place. */

import type { RuleFile } from "../payload";
import { readRuleFile } from "./ruleFile";
import type { RuleSet } from "./rules";

export const MAX_FILE_BYTES = 64 * 2 ** 20;

type Fields = Readonly<Record<string, unknown>>;

/** The rule set in the text of a file; throws an Error with a readable message. */
export function openRules(text: string): RuleSet {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON (${error instanceof Error ? error.message : String(error)}); open a file that RuleSet.save wrote`);
  }
  return readRuleFile(checkedFile(parsed));
}

/** Rejects what `RuleSet.load` rejects. */
function checkedFile(value: unknown): RuleFile {
  const fields = fieldsOf(value, "the file");
  if (fields["format"] !== "clausewise-rules") throw new Error("it is not a rule file; open a file that RuleSet.save wrote");
  if (fields["version"] !== 1) throw new Error(`it has version ${String(fields["version"])}; this page reads version 1`);
  const file = knownFields(value, "the file", ["format", "version", "voting", "default", "classes", "class_dtype", "named", "features", "rules"], ["base", "scale", "changes"]);
  oneOf(file["voting"], ["confidence", "majority", "share", "weights"], "voting");
  const classes = checkClasses(file["classes"], file["class_dtype"]);
  known(file["default"], classes, "default", "classes");
  kind(file["named"], "boolean", "named");
  if (file["base"] != null) {
    const base = listOf(file["base"], "base");
    if (base.length !== classes.size) throw new Error(`base has ${base.length} numbers for ${classes.size} classes`);
    base.forEach((votes, i) => finite(votes, `base[${i}]`));
  }
  if (file["scale"] !== undefined && !(finite(file["scale"], "scale") > 0)) throw wrong(file["scale"], "scale", "a positive number");
  const features = checkFeatures(file["features"]);
  listOf(file["rules"], "rules").forEach((entry, i) => checkRule(entry, `rules[${i}]`, features, classes));
  if (file["changes"] !== undefined) listOf(file["changes"], "changes").forEach((change, i) => checkChange(change, `changes[${i}]`));
  return value as RuleFile;
}

/** The JSON type of labels by class_dtype. */
const LABEL_KINDS: readonly (readonly [RegExp, "string" | "boolean" | "number"])[] = [
  [/^(str|object)$/, "string"],
  [/^bool$/, "boolean"],
  [/^(u?int(8|16|32|64)|float(16|32|64))$/, "number"],
];

function checkClasses(value: unknown, dtype: unknown): ReadonlySet<unknown> {
  kind(dtype, "string", "class_dtype");
  const expected = LABEL_KINDS.find(([pattern]) => pattern.test(String(dtype)))?.[1];
  if (expected === undefined) throw wrong(dtype, "class_dtype", "str, object, bool, int64, float64 or the like");
  const labels = listOf(value, "classes");
  if (labels.length === 0) throw new Error("classes is empty; expected at least one label");
  labels.forEach((label, i) => {
    scalar(label, `classes[${i}]`);
    const isWhole = !String(dtype).includes("int") || Number.isInteger(label);
    if (typeof label !== expected || !isWhole) throw new Error(`classes[${i}] is ${shown(label)}, which is not of type ${String(dtype)}`);
  });
  return distinct(labels, (label) => `classes contains ${shown(label)} twice; the labels must differ`);
}

/** Per name the categories of a feature; null where it has none. */
type Features = ReadonlyMap<unknown, { kind: string; categories: ReadonlySet<unknown> | null }>;

function checkFeatures(value: unknown): Features {
  const listed = listOf(value, "features");
  if (listed.length === 0) throw new Error("features is empty; expected at least one");
  const read = listed.map((entry, i) => {
    const place = `features[${i}]`;
    const feature = knownFields(entry, place, ["name", "kind"], ["categories"]);
    kind(feature["name"], "string", `${place}.name`);
    oneOf(feature["kind"], ["numeric", "binary", "categorical"], `${place}.kind`);
    const [name, featureKind] = [feature["name"], String(feature["kind"])];
    const given = feature["categories"] ?? null;
    if ((given !== null) !== (featureKind === "categorical")) throw new Error(`${place} is ${featureKind}; categorical features need categories, others have none`);
    return [name, { kind: featureKind, categories: given === null ? null : checkCategories(given, `${place}.categories`) }] as const;
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
  known(rule["then"], classes, `${place}.then`, "classes");
  const number = (name: string): number => finite(rule[name], `${place}.${name}`);
  if (!(number("confidence") >= 0 && number("confidence") <= 1)) throw wrong(rule["confidence"], `${place}.confidence`, "a number from 0 to 1");
  if (!(number("correct") >= 0 && number("correct") <= number("cover"))) throw wrong(rule["correct"], `${place}.correct`, `a number from 0 to its cover, ${number("cover")}`);
  number("weight");
  if (rule["priority"] !== undefined) kind(rule["priority"], "boolean", `${place}.priority`);
  if (rule["origin"] != null) {
    const origin = knownFields(rule["origin"], `${place}.origin`, [], ["layer", "clause"]);
    for (const part of ["layer", "clause"]) if (origin[part] != null) kind(origin[part], "string", `${place}.origin.${part}`);
  }
  const tested = listOf(rule["if"], `${place}.if`).map((term, t) => checkTerm(term, `${place}.if[${t}]`, features));
  distinct(tested, (name) => `${place} tests ${shown(name)} twice; one term per feature is allowed`);
}

/** The name of the feature that a term tests. */
function checkTerm(entry: unknown, place: string, features: Features): unknown {
  const term = knownFields(entry, place, ["feature"], ["low", "high", "values"]);
  kind(term["feature"], "string", `${place}.feature`);
  const feature = features.get(term["feature"]);
  if (feature === undefined) throw new Error(`${place} tests ${shown(term["feature"])}, which is not one of the features`);
  const { categories } = feature;
  const isSet = term["values"] !== undefined;
  if (isSet !== (categories !== null) || (isSet && Object.keys(term).length > 2)) {
    throw new Error(`${place} tests ${shown(term["feature"])}, which is ${feature.kind}; expected ${categories !== null ? "values" : "low and high"} only`);
  }
  for (const end of ["low", "high"]) if (term[end] != null) finite(term[end], `${place}.${end}`);
  if (categories !== null) listOf(term["values"], `${place}.values`).forEach((one, v) => known(one, categories, `${place}.values[${v}]`, "categories"));
  return term["feature"];
}

function checkChange(entry: unknown, place: string): void {
  const change = knownFields(entry, place, ["action", "rule"], ["before", "after", "note"]);
  oneOf(change["action"], ["added", "removed", "replaced", "reweighted"], `${place}.action`);
  const number = change["rule"];
  if (typeof number !== "number" || !Number.isInteger(number) || number < 0) throw wrong(number, `${place}.rule`, "a whole number from 0");
  for (const part of ["before", "after", "note"]) if (change[part] !== undefined) kind(change[part], "string", `${place}.${part}`);
}

// --- Single values ---

function fieldsOf(value: unknown, place: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(value, place, "an object");
  return value as Fields;
}

function knownFields(value: unknown, place: string, required: readonly string[], optional: readonly string[]): Fields {
  const fields = fieldsOf(value, place);
  for (const key of required) if (!Object.hasOwn(fields, key)) throw new Error(`${place} has no ${shown(key)}; the file is damaged`);
  for (const key of Object.keys(fields)) if (!required.includes(key) && !optional.includes(key)) throw new Error(`${place} has the unknown key ${shown(key)}`);
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

function kind(value: unknown, expected: "string" | "number" | "boolean", place: string): void {
  if (typeof value !== expected) throw wrong(value, place, `a ${expected}`);
}

/** A finite number; JSON can hold numbers that overflow a double. */
function finite(value: unknown, place: string): number {
  if (typeof value !== "number") throw wrong(value, place, "a number");
  if (!Number.isFinite(value)) throw new Error(`${place} is too large for a double`);
  return value;
}

function oneOf(value: unknown, choices: readonly string[], place: string): void {
  if (typeof value !== "string" || !choices.includes(value)) throw wrong(value, place, choices.join(", "));
}

function wrong(value: unknown, place: string, expected: string): Error {
  return new Error(`${place} is ${shown(value)}; expected ${expected}`);
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value).slice(0, 40);
}
