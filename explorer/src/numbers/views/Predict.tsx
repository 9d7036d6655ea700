/** One row, to be changed value by value, and the sum that the rules make of it. */

import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals";
import { useReply } from "../../lib/asking";
import { nearMisses } from "../../lib/explain";
import { questionOf, type RowDraft, rowDraftOf } from "../../lib/rowDraft";
import { askNumbers } from "../../lib/served";
import { describePremise, describeTerm, featureName, MOST_CATEGORIES } from "../../lib/text";
import type { ServedEntry } from "../../payload";
import { PredictPage } from "../../views/predict/PredictPage";
import { Fields } from "../components/Fields";
import { Waterfall } from "../components/Waterfall";
import { quantile } from "../lib/errors";
import { JUDGES } from "../lib/story";
import { type RowSum, sumOnRow } from "../lib/sums";
import { amount, responseName, short, signed } from "../lib/text";
import { useNumberStore } from "../store";

const MOST_MISSES = 5;

export function Predict() {
  const store = useNumberStore();
  const draft = rowDraftOf(store);
  const sum = useComputed(() => sumOnRow(store.rules.value, draft.values.value));
  const lit = useSignal<number | null>(null);
  const answer = (
    <>
      <h2>How the number comes about</h2>
      <Waterfall set={store.rules.value} sum={sum.value} values={draft.values.value} lit={lit} />
      <NearMisses draft={draft} lit={lit} />
    </>
  );
  return <PredictPage draft={draft} verdict={<Verdict sum={sum} draft={draft} />} fields={<Fields draft={draft} lit={lit} />} answer={answer} />;
}

function Verdict({ sum, draft }: { sum: ReadonlySignal<RowSum>; draft: RowDraft }) {
  const store = useNumberStore();
  const set = store.rules.value;
  const { served } = store.payload;
  const isChanged = draft.base.value !== null && draft.changed.value.size > 0;
  const unknown = store.used.value.find((feature) => draft.leftOut.value.has(feature));
  const before = useComputed(() => sumOnRow(store.rules.value, draft.baseValues.value).response);
  const judge = store.judge.value;
  const usual = useComputed(() => {
    const errors = store.errors.value;
    return errors === null ? null : quantile(errors.map(Math.abs).sort(), 0.9);
  }).value;
  return (
    <div class="verdict" role="status">
      {responseName(set)}: <strong class="verdict-number">{amount(sum.value.response)}</strong>
      {unknown !== undefined && <span class="quiet"> (the report has no value for {featureName(set.features[unknown])}, so it counts as missing)</span>}
      {isChanged && <span class="quiet"> (before the changes {amount(before.value)})</span>}
      {served?.has_network === true ? <AskedNetwork served={served} sum={sum} draft={draft} /> : !isChanged && <Recorded draft={draft} />}
      {usual !== null && judge !== null && <p class="recorded quiet">On nine of ten rows, the rules are within {short(Number(usual.toPrecision(2)))} of {JUDGES.get(judge)?.name}.</p>}
    </div>
  );
}

/** What is known of a row of the report. */
function Recorded({ draft }: { draft: RowDraft }) {
  const { network, truth } = useNumberStore();
  const row = draft.base.value;
  const known = [
    ...(network !== null && row !== null ? [`the network says ${short(network[row])}`] : []),
    ...(truth !== null && row !== null ? [`the truth is ${short(truth[row])}`] : []),
  ];
  return known.length === 0 ? null : <p class="recorded quiet">Here {known.join(", and ")}.</p>;
}

/** On a served page, the network itself is asked about the row, whatever its values are. */
function AskedNetwork({ served, sum, draft }: { served: ServedEntry; sum: ReadonlySignal<RowSum>; draft: RowDraft }) {
  const store = useNumberStore();
  const reply = useReply(
    () => {
      const asked = questionOf(store, draft, new Map());
      return typeof asked === "string" ? asked : (signal) => askNumbers(served, [asked], signal);
    },
    "Asking the network …",
    "The network",
  );
  if (typeof reply === "string") return <p class="recorded quiet">{reply}</p>;
  const row = draft.changed.value.size > 0 ? null : draft.base.value;
  const [number] = reply.numbers;
  const difference = sum.value.response - number;
  return (
    <p class="recorded">
      <span class="quiet">The network says</span> <strong class="number">{short(number)}</strong>
      <span class="quiet">: the rules say {difference === 0 ? "the same" : `${short(Number(Math.abs(difference).toPrecision(3)))} ${difference > 0 ? "more" : "less"}`}</span>
      {row !== null && store.truth !== null && <span class="quiet">; the truth is {short(store.truth[row])}</span>}
    </p>
  );
}

function NearMisses({ draft, lit }: { draft: RowDraft; lit: Signal<number | null> }) {
  const store = useNumberStore();
  const set = store.rules.value;
  const found = nearMisses(set, draft.values.value, new Float64Array(set.features.length).fill(1)).sort((a, b) => Math.abs(set.rules[b.place].addition) - Math.abs(set.rules[a.place].addition));
  if (found.length === 0) return null;
  return (
    <>
      <h2>One condition away</h2>
      <ul class="rule-buttons">
        {found.slice(0, MOST_MISSES).map(({ place, failing }) => {
          const rule = set.rules[place];
          const point = (id: number | null) => () => (lit.value = id);
          return (
            <li key={rule.id} onMouseEnter={point(rule.id)} onMouseLeave={point(null)}>
              <button type="button" class="plain" onClick={() => store.selectRule(rule.id)} onFocus={point(rule.id)} onBlur={point(null)}>
                <strong class="number">{signed(rule.addition)}</strong> if {describeTerm(failing, set.features[failing.feature], MOST_CATEGORIES)}{" "}
                {rule.terms.length > 1 && <span class="quiet">({describePremise({ terms: rule.terms.filter((term) => term !== failing) }, set.features, MOST_CATEGORIES)} holds)</span>}
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
