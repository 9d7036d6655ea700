/** Classes are marked by colour and shape together, never by colour alone; up to 64 combinations differ. */

import { colourOf } from "../lib/colours";
import type { Rule, RuleSet } from "../lib/rules";
import { formatLabel } from "../lib/text";
import { speaksAgainst } from "../lib/votes";
import type { Scalar } from "../payload";
import { useStore } from "../store";
import { widthOfChips } from "./GroupChip";

const N_SHAPES = 8;

// Shapes of about equal weight inside a 10 × 10 box.
const SHAPES = [
  "M5 .6a4.4 4.4 0 1 0 0 8.8a4.4 4.4 0 1 0 0-8.8z",
  "M1 1h8v8h-8z",
  "M5 .6l4.6 8.4h-9.2z",
  "M5 .2l4.8 4.8l-4.8 4.8l-4.8-4.8z",
  "M5 9.4l-4.6-8.4h9.2z",
  "M3.4.6h3.2v2.8h2.8v3.2h-2.8v2.8h-3.2v-2.8h-2.8v-3.2h2.8z",
  "M5 0l1.5 3.3l3.5.4l-2.6 2.4l.7 3.6l-3.1-1.8l-3.1 1.8l.7-3.6l-2.6-2.4l3.5-.4z",
  "M2.6.8h4.8l2.4 4.2l-2.4 4.2h-4.8l-2.4-4.2z",
];

export function shapeOf(classIndex: number): string {
  return SHAPES[(classIndex + Math.floor(classIndex / N_SHAPES)) % SHAPES.length];
}

export function ClassMark({ index }: { index: number }) {
  return (
    <svg class={`mark ${colourOf(index)}`} viewBox="0 0 10 10" aria-hidden="true">
      <path d={shapeOf(index)} />
    </svg>
  );
}

/** The mark and the name of a class. `names` are the labels of a judge, some of which the rules may not know. */
export function ClassChip({ index, names }: { index: number; names?: readonly Scalar[] }) {
  const classes = names ?? useStore().rules.value.classes;
  const label = classes[index];
  const text = label === undefined ? "?" : formatLabel(label);
  return (
    <span class="chip" title={text}>
      <ClassMark index={index} />
      <span class="chip-text">{text}</span>
    </span>
  );
}

/** The class that a rule speaks for, or against; the rule may be of another set, whose classes are marked as in the report if it has them. */
export function ConclusionChip({ rule, of }: { rule: Rule; of?: RuleSet }) {
  const { original, rules } = useStore();
  const set = of ?? rules.value;
  return (
    <>
      <Against isAgainst={speaksAgainst(rule, set.voting)} />
      <LabelChip label={set.classes[rule.classIndex]} known={original.classes} />
    </>
  );
}

/** A class of any rule set, marked as in the report if the report has it. */
export function LabelChip({ label, known }: { label: Scalar; known: readonly Scalar[] }) {
  const names = known.includes(label) ? known : [...known, label];
  return <ClassChip index={names.indexOf(label)} names={names} />;
}

function Against({ isAgainst }: { isAgainst: boolean }) {
  return isAgainst ? (
    <span class="against" title="The rule takes votes from this class: its weight is below 0">
      against{" "}
    </span>
  ) : null;
}

/** The width in px of a table's column that holds the conclusions of these rules. */
export function conclusionWidth(set: RuleSet): number {
  return chipWidth(set.classes) + (set.rules.some((rule) => speaksAgainst(rule, set.voting)) ? 52 : 0);
}

/** The width in px of a table's column that holds chips of these labels. */
export function chipWidth(names: readonly Scalar[]): number {
  return widthOfChips(names.map(formatLabel));
}
