/** The decision, the votes and the rules behind it. */

import type { ReadonlySignal } from "@preact/signals";
import { ClassChip } from "../../components/ClassMark";
import { RuleButtons } from "../../components/RuleButtons";
import { VoteBars } from "../../components/VoteBars";
import { CounterfactualSearch } from "../../lib/counterfactuals/search";
import type { RowEvaluation } from "../../lib/evaluateRow";
import { nearMisses } from "../../lib/explain";
import type { RowDraft } from "../../lib/rowDraft";
import { counted, describeShortly, describeTerm, formatName, MOST_CATEGORIES, percent, shortNumber } from "../../lib/text";
import { probabilitiesOf, startOf, strongestFirst, votesOf } from "../../lib/votes";
import { useStore } from "../../store";
import { NetworkVerdict } from "./NetworkVerdict";
import { SmallestChange, useSmallestChange } from "./SmallestChange";

const NEAR_AT_ONCE = 6;

interface AnswerProps {
  draft: RowDraft;
  found: ReadonlySignal<RowEvaluation>;
  search: ReadonlySignal<CounterfactualSearch>;
}

export function Answer({ draft, found, search }: AnswerProps) {
  const store = useStore();
  const set = store.rules.value;
  const { scores, decision, fired, isPriority } = found.value;
  const list = Array.from(scores);
  const change = useSmallestChange(draft, search);
  const votes = (place: number) => votesOf(set.rules[place], set.voting);
  const listed = strongestFirst(fired, set, decision);
  return (
    <>
      <NetworkVerdict draft={draft} change={change.found.value} />
      <h2>Votes ({set.voting})</h2>
      <VoteBars scores={list} decision={decision} />
      <SmallestChange draft={draft} change={change} />
      <h2>{counted(fired.length, "rule")} fired</h2>
      <RuleButtons
        places={listed}
        most={8}
        note={(place) => (set.rules[place].priority === isPriority ? `· ${shortNumber(votes(place))} votes` : "· overruled by rules with priority")}
      />
      <NearMisses draft={draft} search={search} />
    </>
  );
}

export function Verdict({ found, draft }: { found: ReadonlySignal<RowEvaluation>; draft: RowDraft }) {
  const set = useStore().rules.value;
  const { scores, decision, fired } = found.value;
  const probability = probabilitiesOf(scores, set)[decision];
  const hasBase = startOf(set).some((votes) => votes !== 0);
  const unknown = [...draft.leftOut.value].find((feature) => set.rules.some((rule) => rule.terms.some((term) => term.feature === feature)));
  return (
    <div class="verdict" role="status">
      <span class="quiet">The rules predict</span> <ClassChip index={decision} />{" "}
      <span class="quiet">
        {fired.length > 0 ? `with a probability of ${percent(probability, 0)}` : hasBase ? "by the base votes: no rule fires" : "by default: no rule fires"}
        {unknown !== undefined && `, assuming that rules that test ${formatName(set.features[unknown].name)} do not fire: the report has no value for it`}
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
