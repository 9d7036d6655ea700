/** On how many rows the rules abstain, if they may; all measures are about the others. */

import { counted, grouped, percent, shortNumber } from "../../lib/text";
import { useStore } from "../../store";

export function Abstentions() {
  const store = useStore();
  const { abstention, classes } = store.rules.value;
  const found = store.evaluation.value;
  if (abstention === null) return null;
  const n = found === null ? 0 : found.outcomes.reduce((sum, outcome) => sum + Number(outcome === classes.length), 0);
  const here = found === null || found.nRows === 0 ? "" : `: on ${grouped(n)} of ${counted(found.nRows, "row")} in this page (${percent(n / found.nRows)})`;
  return (
    <p class="abstentions">
      The rules abstain where the lead is below {shortNumber(abstention.margin)} votes{here}. What follows is about the rows that they decide.
    </p>
  );
}
