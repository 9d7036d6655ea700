/** Slices in words: kinds of rows on which the rules differ often, found by the rule learner when the report was made. */

import type { Cohort, Judge } from "../../lib/selection";
import { counted, describeTerm, grouped, percent } from "../../lib/text";
import { useStore } from "../../store";

interface Props {
  pair: readonly [Judge, Judge];
  cohort: Cohort;
  onChoose: (cohort: Cohort) => void;
}

export function Slices({ pair, cohort, onChoose }: Props) {
  const store = useStore();
  const { differences } = store.payload;
  if (differences === undefined || pair[1] !== "rules" || pair[0] !== differences.against || differences.n_differ === 0) return null;
  const { features } = store.original;
  const common = differences.n_differ / differences.n_rows;
  return (
    <section class="slices" aria-labelledby="slices">
      <h2 id="slices">Where they differ most</h2>
      {differences.slices.length === 0 && <p class="quiet">No kind of rows stands out: they differ on {percent(common)} of all rows, and nowhere much more.</p>}
      <ul>
        {differences.slices.map(({ n_rows, n_differ }, slice) => {
          const isChosen = cohort.kind === "slice" && cohort.slice === slice;
          return (
            <li key={slice}>
              <button type="button" class={isChosen ? "is-on" : ""} aria-pressed={isChosen} onClick={() => onChoose({ kind: "slice", slice })}>
                {store.slices[slice].map((term) => describeTerm(term, features[term.feature])).join(" and ")}: <strong>{percent(n_differ / n_rows, 0)} differ</strong>, {counted(n_rows, "row")}
              </button>
            </li>
          );
        })}
      </ul>
      {differences.slices.length > 0 && (
        <p class="quiet">
          Learnt on one half of the rows and confirmed on the other; counted on all {grouped(differences.n_rows)}, of which {percent(common)} differ{store.isEdited.value ? ", before the edits" : ""}. A slice opens its rows.
        </p>
      )}
    </section>
  );
}
