/** Counts and measures of a comparison. */

import { Effect } from "../../components/Effect";
import type { Comparison } from "../../lib/compare";
import { relabelled } from "../../lib/differences";
import type { Evaluation } from "../../lib/evaluate";
import { measured, measuresOf } from "../../lib/measures";
import { counted, grouped } from "../../lib/text";
import { useStore } from "../../store";
import type { Source } from "./sources";

interface SummaryProps {
  comparison: Comparison;
  before: Source;
  after: Source;
  answers: readonly (Evaluation | string)[];
}

export function Summary({ comparison, before, after, answers }: SummaryProps) {
  const { table, original } = useStore();
  const { added, removed, changed, nSame, settings } = comparison;
  const isSame = added.length + removed.length + changed.length + settings.length === 0;
  const [old, newer] = answers;
  const isMeasured = table !== null && typeof old !== "string" && typeof newer !== "string";
  return (
    <section aria-label="Summary" class="compare-summary">
      <p role="status">
        <strong>{grouped(added.length)}</strong> added, <strong>{grouped(removed.length)}</strong> removed, <strong>{grouped(changed.length)}</strong> changed, {counted(nSame, "rule")} unchanged.
        {isSame && " No differences: edit rules or open a second rule file."}
      </p>
      {isMeasured && (
        <Effect
          label="On the rows in this report"
          before={measured(measuresOf(relabelled(old, original), table))}
          after={measured(measuresOf(relabelled(newer, original), table))}
          counts={[["rules", before.set.rules.length, after.set.rules.length]]}
        />
      )}
      {settings.length > 0 && (
        <dl class="facts compare-settings">
          {settings.map((one) => (
            <div key={one.name}>
              <dt>{one.name}</dt>
              <dd>
                <span class="quiet">{one.before} →</span> {one.after}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
