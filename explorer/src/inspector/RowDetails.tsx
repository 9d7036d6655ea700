/** A selected row. */

import { ClassChip } from "../components/ClassMark";
import { Fact } from "../components/Fact";
import { RuleButtons } from "../components/RuleButtons";
import { UnknownDecisions } from "../components/UnknownDecisions";
import { VoteBars } from "../components/VoteBars";
import { firedOn, scoresOf } from "../lib/evaluate";
import { rowDraftOf } from "../lib/rowDraft";
import { counted, describeValue, featureName, formatLabel, shortNumber } from "../lib/text";
import { outcomesOf, startOf, strongestFirst, votesOf } from "../lib/votes";
import { useStore } from "../store";

export function RowDetails({ row }: { row: number }) {
  const store = useStore();
  const { table } = store;
  const found = store.evaluation.value;
  if (table === null || found === null || row >= table.nRows) return <p>This row is not in the report.</p>;
  const set = store.rules.value;
  const decision = found.decisions[row];
  const fired = strongestFirst(firedOn(found, row), set, decision);
  const tested = new Set(set.rules.flatMap((rule) => rule.terms.map((term) => term.feature)));
  const features = set.features.map((_, place) => place).filter((place) => tested.has(place));
  const scores = Array.from(scoresOf(found, row));
  const isPriority = fired.some((place) => set.rules[place].priority);
  const start = isPriority ? [] : startOf(set);
  return (
    <>
      <div>
        <UnknownDecisions />
        <dl class="facts">
          <div>
            <dt>Rules</dt>
            <dd>
              <ClassChip index={found.outcomes[row]} names={outcomesOf(set)} />
            </dd>
          </div>
          {table.network !== null && (
            <div>
              <dt>Network</dt>
              <dd>
                <ClassChip index={table.network.codes[row]} names={table.network.names} />
              </dd>
            </div>
          )}
          {table.truth !== null && (
            <div>
              <dt>Truth</dt>
              <dd>
                <ClassChip index={table.truth.codes[row]} names={table.truth.names} />
              </dd>
            </div>
          )}
        </dl>
        <h3>Votes</h3>
        <VoteBars scores={scores} decision={found.decisions[row]} />
        {start.some((votes) => votes !== 0) && <p class="quiet">of which base votes: {set.classes.flatMap((label, c) => (start[c] === 0 ? [] : [`${formatLabel(label)} ${shortNumber(start[c])}`])).join(", ")}</p>}
      </div>
      <div>
        <h3>{counted(fired.length, "rule")} fired</h3>
        <RuleButtons places={fired} note={(place) => `· ${shortNumber(votesOf(set.rules[place], set.voting))}`} />
        {store.view.value !== "predict" && (
          <p>
            <button
              type="button"
              onClick={() =>
                store.address.step(() => {
                  rowDraftOf(store).setBase(row);
                  store.show("predict");
                })
              }
            >
              Try other values
            </button>
          </p>
        )}
      </div>
      <div>
        <h3>Values tested by rules</h3>
        <dl class="facts">
          {features.map((place) => {
            const column = table.columns[place];
            const value = column === null ? "not in this report" : describeValue(column.values[column.codes[row]], set.features[place]);
            return <Fact key={place} name={featureName(set.features[place])} value={value} />;
          })}
        </dl>
      </div>
    </>
  );
}
