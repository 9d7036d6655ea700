/** Rule files for numbers that the reader opens: fully checked first. */

import { checkChanges, checkFeatures, checkPremise, distinct, type Features, finite, flag, knownFields, listOf, oneOf, parsedFile, shown, text, wrong } from "../../lib/checks";
import type { NumberRuleFile } from "../../payload";
import { type NumberRules, readNumberFile } from "./rules";

/** The rules in the text of a file; throws an Error worded as Python's io/numbers.py words it, without a full stop. */
export function openNumberRules(content: string): NumberRules {
  return readNumberFile(checkedFile(parsedFile(content, 2, "RegressionRules")));
}

/** Rejects what `RegressionRules.load` rejects. */
function checkedFile(value: object): NumberRuleFile {
  const file = knownFields(value, "the file", ["format", "version", "voting", "link", "base", "linear", "named", "features", "rules"], ["response", "response_range", "changes"]);
  oneOf(file.get("voting"), ["sum"], "voting");
  oneOf(file.get("link"), ["identity", "log"], "link");
  finite(file.get("base"), "base");
  flag(file.get("named"), "named");
  if (file.get("response") != null) text(file.get("response"), "response");
  checkInterval(file.get("response_range"), "response_range");
  const features = checkFeatures(file.get("features"));
  const listed = listOf(file.get("linear"), "linear").map((entry, i) => checkLinear(entry, `linear[${i}]`, features));
  distinct(listed, (name) => `${shown(name)} has two coefficients; add them up`);
  listOf(file.get("rules"), "rules").forEach((entry, i) => checkRule(entry, `rules[${i}]`, features));
  checkChanges(file.get("changes"));
  return value as NumberRuleFile;
}

/** The name of the feature that has the coefficient. */
function checkLinear(entry: unknown, place: string, features: Features): string {
  const fields = knownFields(entry, place, ["feature", "coefficient"], ["fill", "low", "high"]);
  const name = text(fields.get("feature"), `${place}.feature`);
  const feature = features.get(name);
  if (feature === undefined) throw new Error(`${place}.feature is ${shown(name)}, which is not one of the features`);
  if (feature.kind === "categorical") throw new Error(`${shown(name)} is categorical; a coefficient needs a numeric or binary feature`);
  if (finite(fields.get("coefficient"), `${place}.coefficient`) === 0) throw wrong(0, `${place}.coefficient`, "a number other than 0");
  const number = (key: string, fallback: number) => (fields.has(key) ? finite(fields.get(key), `${place}.${key}`) : fallback);
  const [low, fill, high] = [number("low", -Infinity), number("fill", 0), number("high", Infinity)];
  if (!(low <= fill && fill <= high)) throw new Error(`${place} has low ${low}, fill ${fill} and high ${high}; expected low ≤ fill ≤ high`);
  return name;
}

function checkRule(entry: unknown, place: string, features: Features): void {
  const rule = knownFields(entry, place, ["if", "add", "cover"], ["mean", "interval", "origin"]);
  finite(rule.get("add"), `${place}.add`);
  if (finite(rule.get("cover"), `${place}.cover`) < 0) throw wrong(rule.get("cover"), `${place}.cover`, "a number of 0 or more");
  if (rule.get("mean") != null) finite(rule.get("mean"), `${place}.mean`);
  checkInterval(rule.get("interval"), `${place}.interval`);
  checkPremise(rule, place, features);
}

function checkInterval(value: unknown, place: string): void {
  if (value == null) return;
  const bounds = listOf(value, place).map((bound, i) => finite(bound, `${place}[${i}]`));
  if (bounds.length !== 2 || bounds[0] > bounds[1]) throw new Error(`${place} is not an interval; expected two numbers, ascending`);
}
