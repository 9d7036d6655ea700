/** The key figures of the rules. */

import { READING_COST, readingCost } from "../../lib/readingCost";
import { rowsShown } from "../../lib/rows";
import { counted, grouped, percent } from "../../lib/text";
import { useStore } from "../../store";

export function Figures({ nTerms, nFeatures, meanLength }: { nTerms: number; nFeatures: number; meanLength: number }) {
  const store = useStore();
  const { measures: given } = store.payload;
  const set = store.rules.value;
  const here = store.measures.value;
  const isEdited = store.isEdited.value;
  const why = store.whyUnknown.value;
  const shown = why !== null ? null : isEdited || given === undefined ? here : { ...given, nUncovered: given.n_uncovered, nRows: given.n_rows };
  const basis =
    why !== null
      ? `edited rules: their decisions are not known here, because ${why}, which they test`
      : shown === null
        ? "no data given: only the rules themselves are described"
        : isEdited
          ? `edited rules on the ${grouped(shown.nRows)} rows in this page`
          : `on all ${counted(shown.nRows, "row")} given; ${rowsShown(store.table)} are in this page`;
  return (
    <section class="figures" aria-label="Figures">
      {shown?.fidelity != null && <Figure name="Fidelity to the network" value={percent(shown.fidelity)} />}
      {shown?.accuracy != null && <Figure name="Accuracy of the rules" value={percent(shown.accuracy)} />}
      {!isEdited && given?.network_accuracy != null && <Figure name="Accuracy of the network" value={percent(given.network_accuracy)} />}
      <Figure name="Rules" value={grouped(set.rules.length)} />
      <Figure name="Reading cost" value={grouped(readingCost(set))} hint={READING_COST} />
      <Figure name="Terms per rule" value={meanLength.toFixed(1)} />
      <Figure name="Different terms" value={grouped(nTerms)} />
      <Figure name="Features tested" value={`${grouped(nFeatures)} of ${grouped(set.features.length)}`} />
      {shown !== null && (
        <Figure
          name="Rows without a rule"
          value={`${grouped(shown.nUncovered)} (${percent(1 - shown.coverage)})`}
          {...(here !== null && here.nUncovered > 0 ? { onClick: () => store.select({ kind: "cohort", cohort: { kind: "uncovered" } }) } : {})}
        />
      )}
      {!isEdited && given !== undefined && <Figure name="Rows with conflicting rules" value={percent(given.conflict)} />}
      <p class="basis quiet">
        {basis}. Voting: {VOTING_NOTES[set.voting]}
      </p>
    </section>
  );
}

export const VOTING_NOTES = {
  confidence: "each rule that fires adds its confidence (per mille).",
  majority: "each rule that fires has one vote.",
  share: "rules that fire ÷ all rules of the class.",
  weights: "base votes plus the weights of the rules that fire.",
} as const;

function Figure({ name, value, hint, onClick }: { name: string; value: string; hint?: string; onClick?: () => void }) {
  return (
    <div class="figure" title={hint}>
      <span class="figure-name">{name}</span>
      {onClick === undefined ? (
        <span class="figure-value">{value}</span>
      ) : (
        <button type="button" class="plain figure-value" title="Show those in this page" onClick={onClick}>
          {value}
        </button>
      )}
    </div>
  );
}
