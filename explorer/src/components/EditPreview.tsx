/** The effect that an edit would have, before it is made. */

import { whyRulesUnknown } from "../lib/leftOut";
import type { AnyRules } from "../lib/rules";
import { counted, grouped, percent } from "../lib/text";
import { usePage } from "../pageStore";
import { Effect } from "./Effect";

/** Figures of the current rules and of the next ones, on the rows of the page. */
export function EditPreview({ next, title = "Effect of this edit" }: { next: AnyRules; title?: string }) {
  const store = usePage();
  const { table } = store;
  const now = store.rules.value;
  if (table === null) return null;
  const why = whyRulesUnknown(next, table) ?? store.whyUnknown.value;
  if (why !== null) {
    return (
      <p class="preview" role="status">
        The effect of this edit is not known here: {why}.
      </p>
    );
  }
  const { nRows, note } = store.shiftBetween(now, next);
  return (
    <div class="preview" role="status">
      <p class="preview-title">{title}</p>
      <Effect label={title} before={store.figuresOf(now)} after={store.figuresOf(next)} />
      <p class="quiet">
        {counted(nRows, "row")} {store.kind.verb[1]} differently{nRows > 0 ? ` (${percent(nRows / table.nRows)})` : ""}
        {note}, of the {grouped(table.nRows)} in this page
      </p>
    </div>
  );
}
