/** How rules for numbers are drawn: what adds points up, what takes away points down. */

import { NumberField } from "../../components/NumberField";
import type { RuleParts } from "../../parts";
import { NUMBERS } from "../lib/kind";
import type { NumberRule, NumberRules } from "../lib/rules";
import { responseName, signed } from "../lib/text";
import { ComparedRows } from "./ComparedRows";
import { Strip } from "./Strip";

/** A triangle that points up (0) or down (1). */
function SignMark({ group }: { group: number }) {
  return (
    <svg class={`mark ${colourOf(group)}`} viewBox="0 0 10 10" aria-hidden="true">
      <path d={group === 0 ? "M5 .6l4.6 8.4h-9.2z" : "M5 9.4l-4.6-8.4h9.2z"} />
    </svg>
  );
}

function colourOf(group: number): string {
  return group === 0 ? "sign-up" : "sign-down";
}

const SETTINGS: ReadonlyMap<string, string> = new Map([
  ["base", "start"],
  ["linear", "linear terms"],
  ["response", "what is predicted"],
  ["response_range", "range when learnt"],
]);

export const NUMBER_PARTS: RuleParts<NumberRule, NumberRules> = {
  groups: "signs",
  groupTitle: "Sign",
  finding: "feature or value",
  groupMark: (group) => <SignMark group={group} />,
  groupColour: colourOf,
  conclusion: (rule) => (
    <span class="conclusion">
      <SignMark group={rule.addition < 0 ? 1 : 0} /> <strong class="number">{signed(rule.addition)}</strong>
    </span>
  ),
  conclusionTitle: "Adds",
  conclusionWidth: (set) => set.rules.reduce((most, rule) => Math.max(most, 36 + 9 * signed(rule.addition).length), 84),
  marks: () => null,
  figure: () => "",
  figureTitle: null,
  outputs: (set) => ({ n: 1, text: responseName(set) }),
  strip: (term, rule) => <Strip term={term} isNegative={rule.addition < 0} />,
  says: (rule, _set, onRule) => <NumberField label="Then add" value={rule.addition} isValid={Number.isFinite} onNumber={(addition) => onRule({ ...rule, addition })} />,
  setting(name, set) {
    const found = NUMBERS.settings(set).find((one) => one.name === name);
    return found === undefined ? null : { name: SETTINGS.get(name) ?? name, text: found.text };
  },
  comparedRowsTitle: "Rows that differ most",
  comparedRows: (before, after) => <ComparedRows before={before} after={after} />,
};
