/** How rules for classes are drawn. */

import { colourOf } from "../lib/colours";
import type { Rule, RuleSet } from "../lib/rules";
import { counted, formatLabel, percent, shortNumber } from "../lib/text";
import { speaksAgainst } from "../lib/votes";
import type { RuleParts } from "../parts";
import { FlipList } from "../views/compare/FlipList";
import { ClassMark, ConclusionChip, conclusionWidth } from "./ClassMark";
import { NumberField } from "./NumberField";
import { TermStrip } from "./TermStrip";

const SETTINGS: ReadonlyMap<string, string> = new Map([
  ["base", "base votes"],
  ["scale", "votes per unit of log-odds"],
  ["default", "default class"],
]);

export const CLASS_PARTS: RuleParts<Rule, RuleSet> = {
  groups: "classes",
  groupTitle: "Class",
  finding: "feature, value or class",
  groupMark: (group) => <ClassMark index={group} />,
  groupColour: colourOf,
  conclusion: (rule, set) => <ConclusionChip rule={rule} of={set} />,
  conclusionTitle: "THEN",
  conclusionWidth,
  marks: (rule) => rule.priority && <span class="badge">priority</span>,
  figure: (rule, set) => (speaksAgainst(rule, set.voting) ? "" : percent(rule.confidence, 0)),
  figureTitle: "Conf.",
  outputs: (set) => ({ n: set.classes.length, text: counted(set.classes.length, "class", "classes") }),
  strip: (term, rule) => <TermStrip term={term} classIndex={rule.classIndex} height={20} />,
  says(rule, set, onRule) {
    const change = (part: Partial<typeof rule>) => onRule({ ...rule, ...part });
    return (
      <>
        <label>
          {speaksAgainst(rule, set.voting) ? "Then speaks against" : "Then"}{" "}
          {/* Counts of the old rule do not apply to another class. */}
          <select value={String(rule.classIndex)} onChange={(event) => change({ classIndex: Number(event.currentTarget.value), cover: 0, correct: 0 })}>
            {set.classes.map((label, c) => (
              <option key={c} value={String(c)}>
                {formatLabel(label)}
              </option>
            ))}
          </select>
        </label>
        <NumberField label="Confidence" value={rule.confidence} isValid={(number) => number >= 0 && number <= 1} onNumber={(confidence) => change({ confidence })} />
        {(set.voting === "weights" || rule.weight !== 1) && <NumberField label="Weight" value={rule.weight} isValid={Number.isFinite} onNumber={(weight) => change({ weight })} />}
        <label title="Where a rule with priority fires, only rules with priority vote.">
          <input type="checkbox" checked={rule.priority} onChange={(event) => change({ priority: event.currentTarget.checked })} /> Priority
        </label>
      </>
    );
  },
  setting(name, set) {
    const shown = SETTINGS.get(name);
    if (shown === undefined) return null;
    const usual = name === "scale" ? shortNumber(set.scale) : formatLabel(set.classes[set.defaultIndex]);
    // Base votes with the classes they are for: `no 4.34, yes 0`.
    return { name: shown, text: name === "base" ? set.classes.map((label, c) => `${formatLabel(label)} ${shortNumber(set.base[c])}`).join(", ") : usual };
  },
  comparedRowsTitle: "Rows that flip",
  comparedRows: (before, after) => <FlipList sets={[before, after]} />,
};
