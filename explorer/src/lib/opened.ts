/** Rule files that the reader opens: checked before anything is made of them, with errors that name the place. */

import type { RuleFile } from "../payload";
import { readRuleFile, type RuleSet } from "./rules";

export const MAX_FILE_BYTES = 64 * 2 ** 20;

type Fields = Readonly<Record<string, unknown>>;

/** The rule set in the text of a file; throws an Error with a message for people. */
export function openRules(text: string): RuleSet {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON (${error instanceof Error ? error.message : String(error)}); open a file that RuleSet.save wrote`);
  }
  return readRuleFile(checkedFile(parsed));
}

function checkedFile(value: unknown): RuleFile {
  const file = fieldsOf(value, "the file");
  if (file["format"] !== "clausewise-rules") throw new Error("it is no rule file; open a file that RuleSet.save wrote");
  if (file["version"] !== 1) throw new Error(`it has version ${String(file["version"])}; this page reads version 1`);
  oneOf(file["voting"], ["confidence", "majority", "share", "weights"], "voting");
  const classes = listOf(file["classes"], "classes");
  classes.forEach((label, i) => scalar(label, `classes[${i}]`));
  scalar(file["default"], "default");
  kind(file["class_dtype"], "string", "class_dtype");
  kind(file["named"], "boolean", "named");
  if (file["base"] !== undefined) {
    const base = listOf(file["base"], "base");
    if (base.length !== classes.length) throw new Error(`base has ${base.length} numbers for ${classes.length} classes`);
    base.forEach((votes, i) => kind(votes, "number", `base[${i}]`));
  }
  if (file["scale"] !== undefined && !(Number(file["scale"]) > 0)) throw new Error("scale is no positive number");
  listOf(file["features"], "features").forEach((entry, i) => {
    const feature = fieldsOf(entry, `features[${i}]`);
    kind(feature["name"], "string", `features[${i}].name`);
    oneOf(feature["kind"], ["numeric", "binary", "categorical"], `features[${i}].kind`);
    if (feature["kind"] !== "categorical") return;
    listOf(feature["categories"], `features[${i}].categories`).forEach((category, c) => scalar(category, `features[${i}].categories[${c}]`));
  });
  listOf(file["rules"], "rules").forEach((entry, i) => checkRule(fieldsOf(entry, `rules[${i}]`), `rules[${i}]`));
  if (file["changes"] !== undefined) {
    listOf(file["changes"], "changes").forEach((change, i) => fieldsOf(change, `changes[${i}]`));
  }
  return value as RuleFile;
}

function checkRule(rule: Fields, place: string): void {
  scalar(rule["then"], `${place}.then`);
  for (const name of ["confidence", "cover", "correct", "weight"]) kind(rule[name], "number", `${place}.${name}`);
  if (rule["priority"] !== undefined) kind(rule["priority"], "boolean", `${place}.priority`);
  listOf(rule["if"], `${place}.if`).forEach((entry, t) => {
    const term = fieldsOf(entry, `${place}.if[${t}]`);
    kind(term["feature"], "string", `${place}.if[${t}].feature`);
    for (const end of ["low", "high"]) if (term[end] != null) kind(term[end], "number", `${place}.if[${t}].${end}`);
    if (term["values"] !== undefined) {
      listOf(term["values"], `${place}.if[${t}].values`).forEach((one, v) => scalar(one, `${place}.if[${t}].values[${v}]`));
    }
  });
}

function fieldsOf(value: unknown, place: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(value, place, "an object");
  return value as Fields;
}

function listOf(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(value, place, "a list");
  return value;
}

function scalar(value: unknown, place: string): void {
  if (!["string", "number", "boolean"].includes(typeof value)) throw wrong(value, place, "text, a number or a boolean");
}

function kind(value: unknown, expected: "string" | "number" | "boolean", place: string): void {
  if (typeof value !== expected) throw wrong(value, place, `a ${expected}`);
}

function oneOf(value: unknown, choices: readonly string[], place: string): void {
  if (typeof value !== "string" || !choices.includes(value)) throw wrong(value, place, choices.join(", "));
}

function wrong(value: unknown, place: string, expected: string): Error {
  const shown = value === undefined ? "missing" : JSON.stringify(value).slice(0, 40);
  return new Error(`${place} is ${shown}; expected ${expected}`);
}
