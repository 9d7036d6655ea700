/** The effect that a draft would have. */

import { Effect } from "../../components/Effect";
import { whyRulesUnknown } from "../../lib/leftOut";
import { measured, measuresOf, nDiffering } from "../../lib/measures";
import type { RuleSet } from "../../lib/rules";
import { counted, percent } from "../../lib/text";
import { useStore } from "../../store";

/** Measures of the current rules with the draft applied. */
export function Preview({ next }: { next: RuleSet }) {
  const store = useStore();
  const { table, evaluator } = store;
  const now = store.evaluation.value;
  const measures = store.measures.value;
  if (table === null || evaluator === null || now === null || measures === null) return null;
  const why = whyRulesUnknown(next, table) ?? store.whyUnknown.value;
  if (why !== null) {
    return (
      <p class="preview" role="status">
        The effect of this edit is not known here: {why}.
      </p>
    );
  }
  const found = evaluator.evaluate(next, now);
  const n = nDiffering(now, found);
  return (
    <div class="preview" role="status">
      <h3>Effect of this edit</h3>
      <Effect label="Effect of this edit" before={measured(measures)} after={measured(measuresOf(found, table))} />
      <p class="quiet">
        {counted(n, "row")} decided differently{table.nRows > 0 && n > 0 ? ` (${percent(n / table.nRows)})` : ""}
      </p>
    </div>
  );
}
