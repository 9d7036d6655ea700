/** The selected rule or row, below every view that does not show it already. */

import { useSignal } from "@preact/signals";
import { EditButton } from "../components/EditButton";
import { Effect } from "../components/Effect";
import { Fact } from "../components/Fact";
import { SelectionPanel } from "../components/SelectionPanel";
import { rowsOf } from "../lib/bits";
import { rowValues } from "../lib/evaluateRow";
import { layerName } from "../lib/origin";
import { describeTerm, describeValue, featureName, formatNumber, grouped } from "../lib/text";
import { numberOf } from "../lib/csv";
import { spreadOf } from "./lib/errors";
import { withReplaced } from "../lib/edits";
import { NUMBERS } from "./lib/kind";
import type { NumberRule } from "./lib/rules";
import { JUDGES } from "./lib/story";
import { sumOnRow } from "./lib/sums";
import { amount, short, shortSigned, signed } from "./lib/text";
import { Strip } from "./components/Strip";
import { Waterfall } from "./components/Waterfall";
import { type NumberStore, useNumberStore } from "./store";

/** Whether the selection is shown: not where the view itself shows the same. */
export function isShownBelow(store: NumberStore, view: string): boolean {
  const selection = store.selection.value;
  return selection !== null && view !== (selection.kind === "rule" ? "edit" : "predict");
}

export function Inspector() {
  const store = useNumberStore();
  const selection = store.selection.value;
  const rule = store.selectedRule.value;
  if (selection?.kind === "row") {
    return (
      <SelectionPanel title={`Row ${store.table?.numbers[selection.row] ?? selection.row}`}>
        <RowDetails row={selection.row} />
      </SelectionPanel>
    );
  }
  return <SelectionPanel title={rule === null ? "A deleted rule" : `Rule ${rule.place}`}>{rule === null ? <p>It is not part of the rules any more; Undo brings it back.</p> : <RuleDetails key={rule.rule.id} {...rule} />}</SelectionPanel>;
}

function RuleDetails({ rule, place }: { rule: NumberRule; place: number }) {
  const store = useNumberStore();
  const set = store.rules.value;
  const found = store.evaluation.value;
  const { table } = store;
  const judge = store.judge.value;
  const wanted = store.numbersOf(judge);
  const errors = store.errors.value;
  const isUnknown = found !== null && found.nCovered[place] === null;
  const rows = found === null || isUnknown ? null : rowsOf(found.covers[place]);
  const here = rows === null || rows.length === 0 ? null : { wanted: wanted === null ? null : spreadOf(wanted, rows), errors: errors === null ? null : spreadOf(errors, rows) };
  const name = judge === null ? "" : (JUDGES.get(judge)?.name ?? judge);
  return (
    <>
      <div>
        <h3>If</h3>
        <ul class="terms">
          {rule.terms.map((term) => (
            <li key={term.feature}>
              <span class="term-text">{describeTerm(term, set.features[term.feature])}</span>
              <Strip term={term} isNegative={rule.addition < 0} />
            </li>
          ))}
          {rule.terms.length === 0 && <li>always</li>}
        </ul>
      </div>
      <div>
        <h3>It adds</h3>
        <Addition rule={rule} place={place} />
        <dl class="facts">
          {table !== null && rows !== null && <Fact name="holds here on" value={`${grouped(rows.length)} of ${grouped(table.nRows)} rows in this page`} />}
          {isUnknown && <Fact name="holds here on" value={`not known here: ${store.whyUnknown.value}`} />}
          {here?.wanted != null && <Fact name={`mean of ${name} there`} value={short(here.wanted.mean)} />}
          {here?.wanted != null && <Fact name="middle 90 % there" value={`${short(here.wanted.low)} to ${short(here.wanted.high)}`} />}
          {here?.errors != null && <Fact name={`rules − ${name}, mean there`} value={shortSigned(here.errors.mean)} />}
        </dl>
      </div>
      <div>
        <h3>When it was learnt</h3>
        <dl class="facts">
          {rule.cover > 0 && <Fact name="held on" value={`${grouped(rule.cover)} rows`} />}
          {rule.mean !== null && <Fact name="their mean" value={short(rule.mean)} />}
          {rule.interval !== null && <Fact name="middle 90 %" value={`${short(rule.interval[0])} to ${short(rule.interval[1])}`} />}
          {rule.origin?.layer != null && <Fact name="origin" value={layerName(rule.origin.layer)} />}
          {rule.cover === 0 && rule.mean === null && <Fact name="statistics" value="not counted" />}
        </dl>
      </div>
    </>
  );
}

/** What the rule adds, to be changed, and what that does to the fit. */
function Addition({ rule, place }: { rule: NumberRule; place: number }) {
  const store = useNumberStore();
  const problem = useSignal("");
  const original = store.original.rules.find((other) => other.id === rule.id);
  return (
    <>
      <p class="row-buttons">
        <label>
          <span class="visually-hidden">Addition of rule {place}</span>
          <input
            class="addition-input"
            inputMode="decimal"
            value={formatNumber(rule.addition)}
            onChange={(event) => {
              const number = numberOf(event.currentTarget.value.trim().replace("−", "-"));
              // Without a negative zero, as in Python.
              if (Number.isFinite(number)) store.edit(withReplaced(NUMBERS, store.rules.value, place, { ...rule, addition: number + 0 }, ""));
              problem.value = Number.isFinite(number) ? "" : "Write a number, such as 1.4 or -0.6.";
              event.currentTarget.value = formatNumber(store.rules.value.rules[place].addition);
            }}
          />
        </label>
        {original !== undefined && original.addition !== rule.addition && <span class="quiet">was {signed(original.addition)}</span>}
        <EditButton />
        <button type="button" onClick={() => store.remove([place], "")}>
          Delete this rule
        </button>
      </p>
      <p role="status">{problem.value}</p>
      {store.isEdited.value && store.judge.value !== null && (
        <>
          <p class="preview-title">All edits, on the rows in this page</p>
          <Effect label="Effect of all edits" before={store.figuresOf(store.original)} after={store.figuresOf(store.rules.value)} />
        </>
      )}
    </>
  );
}

function RowDetails({ row }: { row: number }) {
  const store = useNumberStore();
  const { table } = store;
  const set = store.rules.value;
  if (table === null || row >= table.nRows) return <p>This row is not in this report.</p>;
  const values = rowValues(table, row);
  const sum = sumOnRow(set, values.map((value) => value ?? NaN));
  return (
    <>
      <div class="two">
        <Waterfall set={set} sum={sum} values={values.map((value) => value ?? NaN)} />
      </div>
      <div>
        <dl class="facts">
          <Fact name="rules" value={amount(sum.response)} />
          {store.network !== null && <Fact name="network" value={short(store.network[row])} />}
          {store.truth !== null && <Fact name="truth" value={short(store.truth[row])} />}
          {store.used.value.map((feature) => {
            const value = values[feature];
            return value === null ? null : <Fact key={feature} name={featureName(set.features[feature])} value={describeValue(value, set.features[feature])} />;
          })}
        </dl>
        <p>
          <button type="button" onClick={() => store.show("predict", { kind: "row", row })}>
            Open it in Predict
          </button>
        </p>
      </div>
    </>
  );
}
