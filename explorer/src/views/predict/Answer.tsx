/** The decision, the votes and the rules behind it. */

import type { ReadonlySignal, Signal } from "@preact/signals";
import { ClassChip } from "../../components/ClassMark";
import { RuleButtons } from "../../components/RuleButtons";
import { CounterfactualSearch } from "../../lib/counterfactuals/search";
import type { RowEvaluation } from "../../lib/evaluateRow";
import { nearMisses } from "../../lib/explain";
import type { RowDraft } from "../../lib/rowDraft";
import { surenessOf, surenessText } from "../../lib/story";
import { counted, describeShortly, describeTerm, featureName, MOST_CATEGORIES } from "../../lib/text";
import { probabilitiesOf, startOf } from "../../lib/votes";
import { useStore } from "../../store";
import { NetworkVerdict } from "./NetworkVerdict";
import { SmallestChange, useSmallestChange } from "./SmallestChange";
import { Waterfall } from "./Waterfall";

const NEAR_AT_ONCE = 6;

interface AnswerProps {
  draft: RowDraft;
  found: ReadonlySignal<RowEvaluation>;
  search: ReadonlySignal<CounterfactualSearch>;
  lit: Signal<number | null>;
}

export function Answer({ draft, found, search, lit }: AnswerProps) {
  const change = useSmallestChange(draft, search);
  return (
    <>
      <NetworkVerdict draft={draft} change={change.found.value} />
      <Waterfall found={found} lit={lit} />
      <SmallestChange draft={draft} change={change} search={search} />
      <NearMisses draft={draft} search={search} />
    </>
  );
}

export function Verdict({ found, draft, parts }: { found: ReadonlySignal<RowEvaluation>; draft: RowDraft; parts: ReadonlySignal<Float64Array> }) {
  const store = useStore();
  const set = store.rules.value;
  const { scores, decision, fired, isAbstained } = found.value;
  const part = probabilitiesOf(scores, set)[decision];
  const hasBase = startOf(set).some((votes) => votes !== 0);
  const unknown = [...draft.leftOut.value].find((feature) => set.rules.some((rule) => rule.terms.some((term) => term.feature === feature)));
  return (
    <div class="verdict" role="status">
      <span class="quiet">{isAbstained ? "The rules abstain: too few votes lead for" : "The rules predict"}</span> <ClassChip index={decision} />{" "}
      <span class="quiet">
        {fired.length > 0 ? `with ${surenessText(surenessOf(store, part, decision, parts.value))}` : hasBase ? "by the base votes: no rule fires" : "by default: no rule fires"}
        {unknown !== undefined && `, assuming that rules that test ${featureName(set.features[unknown])} do not fire: the report has no value for it`}
      </span>
    </div>
  );
}

function NearMisses({ draft, search }: { draft: RowDraft; search: ReadonlySignal<CounterfactualSearch> }) {
  const store = useStore();
  const set = store.rules.value;
  const values = draft.values.value;
  const misses = nearMisses(set, values, search.value.units);
  const missAt = new Map(misses.map((miss) => [miss.place, miss]));
  const noteOf = (place: number): string => {
    const miss = missAt.get(place);
    if (miss === undefined) return "";
    const feature = set.features[miss.failing.feature];
    return `· but not ${describeTerm(miss.failing, feature, MOST_CATEGORIES)}: it is ${describeShortly(values[miss.failing.feature], feature)}`;
  };
  return (
    <>
      <h2 title="Rules with exactly one failing term, the nearest first">{counted(misses.length, "near miss", "near misses")}</h2>
      <RuleButtons places={misses.map((miss) => miss.place)} most={NEAR_AT_ONCE} note={noteOf} />
    </>
  );
}
