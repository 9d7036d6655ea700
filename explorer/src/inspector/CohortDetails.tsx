/** A selected cohort: rows that have something in common. */

import { MisleadingRules } from "../components/RuleButtons";
import { UnknownDecisions } from "../components/UnknownDecisions";
import { rowsOf } from "../lib/bits";
import { judgeOf, misleading } from "../lib/misled";
import type { Cohort } from "../lib/selection";
import { counted, grouped, percent } from "../lib/text";
import { type Store, useStore } from "../store";

export function CohortDetails({ cohort }: { cohort: Cohort }) {
  const store = useStore();
  const bits = store.selectedRows.value;
  const { table } = store;
  if (bits === null || table === null) return <p>The report has no rows.</p>;
  const rows = rowsOf(bits);
  const found = store.evaluation.value;
  const judge = judgeOf(cohort, table);
  const misled = found === null ? [] : misleading(found, table, rows, judge);
  return (
    <>
      <div>
        <p>
          {counted(rows.length, "row")} of the {grouped(table.nRows)} in this page
          {table.nRows > 0 && ` (${percent(rows.length / table.nRows)})`}
        </p>
        {cohort.kind === "covered" && <BackToRule store={store} id={cohort.rule} />}
        <UnknownDecisions />
        <h3>Rows</h3>
        <RowButtons rows={rows} />
      </div>
      {table[judge] !== null && (
        <div class="two">
          <h3>Misleading rules</h3>
          <p class="quiet">They fired and their class won, but the {judge} differs.</p>
          <MisleadingRules misled={misled} />
        </div>
      )}
    </>
  );
}

function BackToRule({ store, id }: { store: Store; id: number }) {
  return (
    <p>
      <button type="button" onClick={() => store.selectRule(id)}>
        Back to the rule
      </button>
    </p>
  );
}

function RowButtons({ rows, most = 24 }: { rows: Uint32Array; most?: number }) {
  const store = useStore();
  return (
    <p class="row-buttons">
      {Array.from(rows.slice(0, most)).map((row) => (
        <button key={row} type="button" onClick={() => store.select({ kind: "row", row })}>
          {store.table?.numbers[row] ?? row}
        </button>
      ))}
      {rows.length > most && <span class="quiet">… and {grouped(rows.length - most)} more</span>}
    </p>
  );
}
