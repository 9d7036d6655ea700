/** Rules that add numbers, as a kind of rules. */

import type { RuleKind } from "../../lib/kind";
import { openNumberRules } from "./opened";
import { type NumberRule, numberReadingCost, type NumberRules, readNumberFile, writeNumberFile } from "./rules";
import { readNumberRules, writeNumberRule } from "./ruleText";
import { amount, describeLimits, describeLinear, short, signed } from "./text";

export const NUMBERS: RuleKind<NumberRule, NumberRules> = {
  loader: "RegressionRules",
  verb: ["predict", "predicted"],
  readFile: readNumberFile,
  writeFile: writeNumberFile,
  openFile: openNumberRules,
  readRules: (text, set) => readNumberRules(text, set.features),
  writeRule: (rule, set) => writeNumberRule(rule, set.features),
  emptyRule: () => ({ terms: [], addition: 1, cover: 0, mean: null, interval: null, origin: null }),
  withTerms: (rule, terms) => ({ ...rule, terms, cover: 0, mean: null, interval: null }),
  isReweighting: (a, b) => a.cover === b.cover && a.mean === b.mean && a.interval?.join() === b.interval?.join(),
  editedSettings: () => ({}),
  describeConclusion: (rule) => signed(rule.addition),
  groupNames: () => ["adds", "takes away"],
  groupOf: (rule) => (rule.addition < 0 ? 1 : 0),
  readingCost: numberReadingCost,
  otherFeatures: (set) => set.linear.map((term) => term.feature),
  withPlaces: (set, places) => ({ ...set, linear: set.linear.map((term) => ({ ...term, feature: places[term.feature] })) }),
  // What a rule adds is compared like its statistics, as in Python.
  conclusionKey: () => "",
  statisticsKey: ({ addition, mean, interval }) => JSON.stringify([addition, mean, interval]),
  settings: (set) => [
    { name: "base", text: amount(set.base) },
    { name: "linear", text: set.linear.map((term) => [describeLinear(term, set), describeLimits(term)].filter((part) => part !== "").join(" for ")).join(", ") || "none" },
    { name: "link", text: set.link },
    { name: "response", text: set.response ?? "no name" },
    { name: "response_range", text: set.responseRange === null ? "not known" : set.responseRange.map(short).join(" to ") },
  ],
  whatDiffers(_before, old, _after, newer) {
    const parts: string[] = [];
    if (old.addition !== newer.addition) parts.push(`was ${signed(old.addition)}`);
    if (old.cover !== newer.cover || old.mean !== newer.mean || old.interval?.join() !== newer.interval?.join()) parts.push("different statistics");
    if (old.origin?.layer !== newer.origin?.layer || old.origin?.clause !== newer.origin?.clause) parts.push("different origin");
    return parts.join(", ");
  },
  isAlike: (rule, _own, other) => rule.addition < 0 === other.addition < 0,
  insteadOf: (rule, _own, other) => [[], rule.addition === other.addition ? [] : [`${signed(rule.addition)} instead of ${signed(other.addition)}`]],
};
