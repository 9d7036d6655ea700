/** The rules that differ. */

import { useSignal } from "@preact/signals";
import { VirtualTable, WRAPPED_ROWS } from "../../components/VirtualTable";
import type { Comparison } from "../../lib/compare";
import { type Covered, differenceInWords, nearestRule } from "../../lib/nearest";
import type { AnyRules } from "../../lib/rules";
import { describePremise, grouped, MOST_CATEGORIES, percent } from "../../lib/text";
import { type PageStore, usePage } from "../../pageStore";
import { useParts } from "../../parts";

type Kind = "added" | "removed" | "changed";

interface Difference {
  kind: Kind;
  before: number | null;
  after: number | null;
}

const SIGNS: Readonly<Record<Kind, string>> = { added: "+", removed: "−", changed: "~" };

interface DifferencesProps {
  comparison: Comparison;
  before: AnyRules;
  after: AnyRules;
  /** Both over the page's features, or why they cannot be. */
  own: readonly (AnyRules | string)[];
  /** Whether the later rules are the working rules, which can be selected. */
  isNow: boolean;
}

export function Differences({ comparison, before, after, own, isNow }: DifferencesProps) {
  const store = usePage();
  const parts = useParts();
  const kind = store.address.param("compare.kind", "");
  const at = useSignal(-1);
  const all: Difference[] = [
    ...comparison.removed.map((place): Difference => ({ kind: "removed", before: place, after: null })),
    ...comparison.changed.map(([old, newer]): Difference => ({ kind: "changed", before: old, after: newer })),
    ...comparison.added.map((place): Difference => ({ kind: "added", before: null, after: place })),
  ];
  const shown = all.filter((one) => kind.value === "" || one.kind === kind.value);
  const current = shown[at.value];
  const [old, newer] = own.map((set) => coveredOf(store, set));
  const nearness = old === null || newer === null ? null : { old, newer };
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
        wraps={shown.length <= WRAPPED_ROWS}
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
              const difference = old === null || newer === null ? "" : store.kind.whatDiffers(before, before.rules[old], after, after.rules[newer]);
              return (
                <span class="clip" title={describePremise(rule, set.features)}>
                  {parts.conclusion(rule, set)} {difference !== "" && <strong>{difference}</strong>} {describePremise(rule, set.features, MOST_CATEGORIES)}
                </span>
              );
            },
          },
          ...(nearness === null ? [] : [{ key: "nearest", title: "Nearest of the other set", cell: (row: number) => <NearestText difference={shown[row]} {...nearness} /> }]),
        ]}
      />
      <div class="compare-texts" role="status">
        {current?.before != null && <code class="gone">− {store.kind.writeRule(before.rules[current.before], before)}</code>}
        {current?.after != null && <code class="come">+ {store.kind.writeRule(after.rules[current.after], after)}</code>}
      </div>
    </section>
  );
}

function coveredOf(store: PageStore, set: AnyRules | string): Covered | null {
  const found = typeof set === "string" ? null : store.evaluate(set);
  return typeof set === "string" || found === null ? null : { set, covers: found.covers };
}

/** The nearest rule of the other set, and what the rule has instead, in words. */
function NearestText({ difference, old, newer }: { difference: Difference; old: Covered; newer: Covered }) {
  const { kind } = usePage();
  if (difference.before !== null && difference.after !== null) return <span class="quiet">the same premise</span>;
  const [own, other, place] = difference.after !== null ? [newer, old, difference.after] : [old, newer, difference.before ?? 0];
  const rule = own.set.rules[place];
  const nearest = nearestRule(kind, rule, own.covers[place], own.set, other);
  if (nearest === null) return <span class="quiet">none is like it</span>;
  const text = `as rule ${nearest.place}, but ${differenceInWords(kind, rule, own.set, other.set.rules[nearest.place], other.set)}; ${percent(nearest.shared, 0)} of rows shared`;
  return (
    <span class="clip" title={text}>
      {text}
    </span>
  );
}
