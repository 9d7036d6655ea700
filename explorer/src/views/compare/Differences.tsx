/** The rules that differ. */

import { useSignal } from "@preact/signals";
import { Against } from "../../components/ClassMark";
import { VirtualTable } from "../../components/VirtualTable";
import type { Comparison } from "../../lib/compare";
import { whatDiffers } from "../../lib/differences";
import type { Evaluation } from "../../lib/evaluate";
import { differenceInWords, nearestRule } from "../../lib/nearest";
import type { Rule, RuleSet } from "../../lib/rules";
import { writeRule } from "../../lib/ruleText";
import { describePremise, grouped, MOST_CATEGORIES, percent } from "../../lib/text";
import { speaksAgainst } from "../../lib/votes";
import { useStore } from "../../store";
import { WRAPPED_RULES } from "../rules/RuleTable";
import { chipOf } from "./LabelChip";

type Kind = "added" | "removed" | "changed";

interface Difference {
  kind: Kind;
  before: number | null;
  after: number | null;
}

const SIGNS: Readonly<Record<Kind, string>> = { added: "+", removed: "−", changed: "~" };

interface DifferencesProps {
  comparison: Comparison;
  before: RuleSet;
  after: RuleSet;
  answers: readonly (Evaluation | string)[];
  /** Whether the later rules are the working rules, which can be selected. */
  isNow: boolean;
}

export function Differences({ comparison, before, after, answers, isNow }: DifferencesProps) {
  const store = useStore();
  const kind = store.address.param("compare.kind", "");
  const at = useSignal(-1);
  const all: Difference[] = [
    ...comparison.removed.map((place): Difference => ({ kind: "removed", before: place, after: null })),
    ...comparison.changed.map(([old, newer]): Difference => ({ kind: "changed", before: old, after: newer })),
    ...comparison.added.map((place): Difference => ({ kind: "added", before: null, after: place })),
  ];
  const shown = all.filter((one) => kind.value === "" || one.kind === kind.value);
  const current = shown[at.value];
  const [old, newer] = answers;
  const nearness = typeof old === "string" || typeof newer === "string" ? null : { old, newer };
  const names = [...store.original.classes];
  const chip = (set: RuleSet, rule: Rule) => (
    <>
      <Against isAgainst={speaksAgainst(rule, set.voting)} />
      {chipOf(names, set.classes[rule.classIndex])}
    </>
  );
  return (
    <section aria-label="Rules that differ" class="compare-rules">
      <div class="controls">
        <h2>Rules that differ</h2>
        <label>
          Show{" "}
          <select
            value={kind.value}
            onChange={(event) => {
              kind.value = event.currentTarget.value;
              at.value = -1;
            }}
          >
            <option value="">all ({grouped(all.length)})</option>
            {(["added", "removed", "changed"] as const).map((one) => (
              <option key={one} value={one}>
                {one} ({grouped(comparison[one].length)})
              </option>
            ))}
          </select>
        </label>
      </div>
      <VirtualTable
        label="Rules that differ"
        nRows={shown.length}
        active={shown.length > at.value ? at.value : -1}
        onActivate={(row) => {
          at.value = row;
          const place = shown[row].after;
          if (isNow && place !== null) store.selectRule(after.rules[place].id);
        }}
        wraps={shown.length <= WRAPPED_RULES}
        minWidth={nearness === null ? 520 : 900}
        empty="No rule differs."
        columns={[
          { key: "kind", title: "Change", width: 92, cell: (row) => `${SIGNS[shown[row].kind]} ${shown[row].kind}` },
          { key: "before", title: "Before", width: 60, align: "end", cell: (row) => shown[row].before ?? "" },
          { key: "after", title: "After", width: 60, align: "end", cell: (row) => shown[row].after ?? "" },
          {
            key: "rule",
            title: "Rule",
            cell: (row) => {
              const { before: old, after: newer } = shown[row];
              const [set, rule] = newer === null ? [before, before.rules[old ?? 0]] : [after, after.rules[newer]];
              const difference = old === null || newer === null ? "" : whatDiffers(before, before.rules[old], after, after.rules[newer]);
              return (
                <span class="clip" title={describePremise(rule, set.features)}>
                  {chip(set, rule)} {difference !== "" && <strong>{difference}</strong>} {describePremise(rule, set.features, MOST_CATEGORIES)}
                </span>
              );
            },
          },
          ...(nearness === null ? [] : [{ key: "nearest", title: "Nearest of the other set", cell: (row: number) => <NearestText difference={shown[row]} {...nearness} /> }]),
        ]}
      />
      <div class="compare-texts" role="status">
        {current?.before != null && <code class="gone">− {writeRule(before.rules[current.before], before)}</code>}
        {current?.after != null && <code class="come">+ {writeRule(after.rules[current.after], after)}</code>}
      </div>
    </section>
  );
}

/** The nearest rule of the other set, and what the rule has instead, in words. */
function NearestText({ difference, old, newer }: { difference: Difference; old: Evaluation; newer: Evaluation }) {
  if (difference.before !== null && difference.after !== null) return <span class="quiet">the same premise</span>;
  const [own, other, place] = difference.after !== null ? [newer, old, difference.after] : [old, newer, difference.before ?? 0];
  const rule = own.set.rules[place];
  const nearest = nearestRule(rule, own.covers[place], own.set, other);
  if (nearest === null) return <span class="quiet">none is like it</span>;
  const text = `as rule ${nearest.place}, but ${differenceInWords(rule, own.set, other.set.rules[nearest.place], other.set)}; ${percent(nearest.shared, 0)} of rows shared`;
  return (
    <span class="clip" title={text}>
      {text}
    </span>
  );
}
