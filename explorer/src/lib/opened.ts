/** Rule files for classes that the reader opens: fully checked first. */

import type { RuleFile } from "../payload";
import { checkChanges, checkFeatures, checkPremise, distinct, type Features, finite, flag, known, knownFields, listOf, oneOf, parsedFile, scalar, shown, wrong } from "./checks";
import { readRuleFile } from "./ruleFile";
import type { RuleSet } from "./rules";

/** The rule set in the text of a file; throws an Error worded as Python's io/json.py words it, without a full stop. */
export function openRules(content: string): RuleSet {
  return readRuleFile(checkedFile(parsedFile(content, 1, "RuleSet")));
}

function checkAbstention(value: unknown, classes: ReadonlySet<unknown>): void {
  const entry = knownFields(value, "abstention", ["margin", "label"], ["promise"]);
  if (!(finite(entry.get("margin"), "abstention.margin") >= 0)) throw wrong(entry.get("margin"), "abstention.margin", "a number of 0 or more");
  scalar(entry.get("label"), "abstention.label");
  if (classes.has(entry.get("label"))) throw new Error("abstention.label is one of the classes");
}

/** Rejects what `RuleSet.load` rejects. */
function checkedFile(value: object): RuleFile {
  const file = knownFields(value, "the file", ["format", "version", "voting", "default", "classes", "class_dtype", "named", "features", "rules"], ["base", "scale", "abstention", "changes", "guarantee", "learnt_rows"]);
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
  if (file.get("abstention") !== undefined) checkAbstention(file.get("abstention"), classes);
  const features = checkFeatures(file.get("features"));
  listOf(file.get("rules"), "rules").forEach((entry, i) => checkRule(entry, `rules[${i}]`, features, classes));
  checkChanges(file.get("changes"));
  return value as RuleFile;
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

function checkRule(entry: unknown, place: string, features: Features, classes: ReadonlySet<unknown>): void {
  const rule = knownFields(entry, place, ["if", "then", "confidence", "cover", "correct", "weight"], ["origin", "priority"]);
  known(rule.get("then"), classes, `${place}.then`, "classes");
  const number = (name: string): number => finite(rule.get(name), `${place}.${name}`);
  if (!(number("confidence") >= 0 && number("confidence") <= 1)) throw wrong(rule.get("confidence"), `${place}.confidence`, "a number from 0 to 1");
  if (!(number("correct") >= 0 && number("correct") <= number("cover"))) throw wrong(rule.get("correct"), `${place}.correct`, `a number from 0 to its cover, ${number("cover")}`);
  number("weight");
  if (rule.get("priority") !== undefined) flag(rule.get("priority"), `${place}.priority`);
  checkPremise(rule, place, features);
}
