/** Rules that vote for classes, as a kind of rules. */

import { scalarKey } from "./compare";
import type { RuleKind } from "./kind";
import { openRules } from "./opened";
import { readingCost } from "./readingCost";
import { readRuleFile, writeRuleFile } from "./ruleFile";
import { DEFAULT_STATISTICS, type Rule, type RuleSet } from "./rules";
import { readRules, writeRule, writeValue } from "./ruleText";
import { describeConclusion, formatLabel, formatNumber, shortNumber } from "./text";

export const CLASSES: RuleKind<Rule, RuleSet> = {
  loader: "RuleSet",
  verb: ["decide", "decided"],
  readFile: readRuleFile,
  writeFile: writeRuleFile,
  openFile: openRules,
  readRules,
  writeRule,
  emptyRule: (set) => ({ terms: [], classIndex: set.defaultIndex, ...DEFAULT_STATISTICS, priority: false, origin: null }),
  withTerms: (rule, terms) => ({ ...rule, terms, cover: 0, correct: 0 }),
  isReweighting: (a, b) => a.classIndex === b.classIndex && a.cover === b.cover && a.correct === b.correct,
  editedSettings(original, edited) {
    const isSame = original.classes.length === edited.classes.length && original.base.every((votes, c) => votes === edited.base[c]);
    return isSame ? {} : { base: edited.base };
  },
  describeConclusion,
  groupNames: (set) => set.classes.map(formatLabel),
  groupOf: (rule) => rule.classIndex,
  readingCost,
  otherFeatures: () => [],
  withPlaces: (set) => set,
  conclusionKey: (rule, set) => scalarKey(set.classes[rule.classIndex]),
  statisticsKey: ({ confidence, correct, weight, priority }) => JSON.stringify([confidence, correct, weight, priority]),
  settings: (set) => [
    { name: "voting", text: set.voting },
    { name: "default", text: writeValue(set.classes[set.defaultIndex]) },
    { name: "scale", text: formatNumber(set.scale) },
    { name: "classes", text: set.classes.map((label) => writeValue(label)).join(", ") },
    { name: "abstention", text: set.abstention === null ? "none" : `${writeValue(set.abstention.label)} below a margin of ${formatNumber(set.abstention.margin)}` },
    { name: "base", text: set.base.map(formatNumber).join(", ") },
  ],
  whatDiffers(before, old, after, newer) {
    const parts: string[] = [];
    const [was, is] = [before.classes[old.classIndex], after.classes[newer.classIndex]];
    if (was !== is) parts.push(`then ${formatLabel(was)} → ${formatLabel(is)}`);
    for (const name of ["confidence", "weight", "cover", "correct"] as const) {
      if (old[name] !== newer[name]) parts.push(`${name} ${shortNumber(old[name])} → ${shortNumber(newer[name])}`);
    }
    if (old.priority !== newer.priority) parts.push(newer.priority ? "now with priority" : "no longer with priority");
    if (old.origin?.layer !== newer.origin?.layer || old.origin?.clause !== newer.origin?.clause) parts.push("different origin");
    return parts.join(", ");
  },
  isAlike: (rule, own, other, others) => own.classes[rule.classIndex] === others.classes[other.classIndex],
  insteadOf(rule, own, other, others) {
    const [is, was] = [own.classes[rule.classIndex], others.classes[other.classIndex]];
    const hasOtherWeight = own.voting === "weights" && others.voting === "weights" && rule.weight !== other.weight;
    return [
      is === was ? [] : [`for ${formatLabel(is)} instead of ${formatLabel(was)}`],
      hasOtherWeight ? [`weight ${shortNumber(rule.weight)} instead of ${shortNumber(other.weight)}`] : [],
    ];
  },
};
