/** The effect that an edit would have, before it is made. */

import { whyRulesUnknown } from "../lib/leftOut";
import { measured, measuresOf, nDiffering } from "../lib/measures";
import type { RuleSet } from "../lib/rules";
import { counted, grouped, percent } from "../lib/text";
import { useStore } from "../store";
import { Effect } from "./Effect";

/** Measures of the current rules and of the next ones, on the rows of the page. */
export function EditPreview({ next, title = "Effect of this edit" }: { next: RuleSet; title?: string }) {
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
      <p class="preview-title">{title}</p>
      <Effect label={title} before={measured(measures)} after={measured(measuresOf(found, table))} />
      <p class="quiet">
        {counted(n, "row")} decided differently{table.nRows > 0 && n > 0 ? ` (${percent(n / table.nRows)})` : ""}, of the {grouped(table.nRows)} in this page
      </p>
    </div>
  );
}
