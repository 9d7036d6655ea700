/** Checks of what the reader opens, with errors that name the place, worded as Python's io words them, without a full stop. */

export const MAX_FILE_BYTES = 64 * 2 ** 20;
const MAX_SHOWN = 60;

/** The newest version of rule files: version 1 is for classes, version 2 for numbers. */
const NEWEST = 2;
const MEANT: ReadonlyMap<number, string> = new Map([
  [1, "classes"],
  [2, "numbers"],
]);

type Fields = ReadonlyMap<string, unknown>;

/** The JSON object in the text of a rule file of this version. */
export function parsedFile(content: string, version: number, loader: string): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    throw new Error(`this is not JSON (${error instanceof Error ? error.message : String(error)}); open a file that ${loader}.save wrote`);
  }
  if (!isObject(parsed) || fieldsOf(parsed).get("format") !== "clausewise-rules") {
    throw new Error('this is not a rule file; expected an object with "format": "clausewise-rules"');
  }
  checkVersion(fieldsOf(parsed).get("version"), version);
  return parsed;
}

function checkVersion(found: unknown, version: number): void {
  if (!isWholeFrom(found, 1)) throw wrong(found, "version", "a whole number of 1 or more");
  if (found > NEWEST) throw new Error(`the file has version ${found}, but this page reads versions up to ${NEWEST}; make the report with a newer clausewise`);
  if (found !== version) throw new Error(`these are rules for ${MEANT.get(found)}; this report is on rules for ${MEANT.get(version)}`);
}

/** Per name the categories of a feature; null where it has none. */
export type Features = ReadonlyMap<string, { kind: string; categories: ReadonlySet<unknown> | null }>;

export function checkFeatures(value: unknown): Features {
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

/** What rules of all kinds have: a premise and an origin. */
export function checkPremise(rule: Fields, place: string, features: Features): void {
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
  const change = knownFields(entry, place, ["action", "rule"], ["before", "after", "note", "author"]);
  oneOf(change.get("action"), ["added", "removed", "replaced", "reweighted"], `${place}.action`);
  const number = change.get("rule");
  if (!isWholeFrom(number, 0)) throw wrong(number, `${place}.rule`, "a whole number of 0 or more");
  for (const part of ["before", "after", "note", "author"]) if (change.get(part) !== undefined) text(change.get(part), `${place}.${part}`);
}

/** The changes of a file, which may have none. */
export function checkChanges(changes: unknown): void {
  if (changes !== undefined) listOf(changes, "changes").forEach((change, i) => checkChange(change, `changes[${i}]`));
}

// --- Single values ---

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a JSON object, in a map, as a file may hold any key. */
function fieldsOf(value: object): Fields {
  return new Map<string, unknown>(Object.entries(value));
}

export function knownFields(value: unknown, place: string, required: readonly string[], optional: readonly string[]): Fields {
  if (!isObject(value)) throw wrong(value, place, "an object");
  const fields = fieldsOf(value);
  for (const key of required) if (!fields.has(key)) throw new Error(`${place} has no ${shown(key)}; the file is damaged`);
  for (const key of fields.keys()) if (!required.includes(key) && !optional.includes(key)) throw new Error(`${place} has the unknown key ${shown(key)}`);
  return fields;
}

/** The values as a set; throws if one occurs twice. */
export function distinct(values: readonly unknown[], problem: (value: unknown) => string): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  for (const value of values) {
    if (found.has(value)) throw new Error(problem(value));
    found.add(value);
  }
  return found;
}

export function known(value: unknown, listed: ReadonlySet<unknown>, place: string, what: string): void {
  scalar(value, place);
  if (!listed.has(value)) throw new Error(`${place} is ${shown(value)}, which is not one of the ${what}`);
}

export function listOf(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(value, place, "a list");
  return value;
}

export function scalar(value: unknown, place: string): void {
  if (!["string", "number", "boolean"].includes(typeof value)) throw wrong(value, place, "text, a number or a boolean");
  if (typeof value === "number") finite(value, place);
}

export function text(value: unknown, place: string): string {
  if (typeof value !== "string") throw wrong(value, place, "text");
  return value;
}

export function flag(value: unknown, place: string): void {
  if (typeof value !== "boolean") throw wrong(value, place, "true or false");
}

function isWholeFrom(value: unknown, least: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least;
}

/** A finite number; JSON can hold numbers that overflow a double. */
export function finite(value: unknown, place: string): number {
  if (typeof value !== "number") throw wrong(value, place, "a number");
  if (!Number.isFinite(value)) throw new Error(`${place} is too large for a double`);
  return value;
}

export function oneOf<T extends string>(value: unknown, choices: readonly T[], place: string): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw wrong(value, place, `one of ${choices.join(", ")}`);
  return found;
}

export function wrong(value: unknown, place: string, expected: string): Error {
  return new Error(`${place} is ${shown(value)}; expected ${expected}`);
}

/** A value of the file, short enough for a message. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  if (value === undefined) return "null";
  const written = JSON.stringify(value);
  const letters = Array.from(written);
  return letters.length <= MAX_SHOWN ? written : `${letters.slice(0, MAX_SHOWN).join("")}…`;
}
