/** A selected rule. */

import { ClassChip } from "../components/ClassMark";
import { EditButton } from "../components/EditButton";
import { Fact } from "../components/Fact";
import { TermStrip } from "../components/TermStrip";
import { type Bits, countBits } from "../lib/bits";
import { whyTermsUnknown } from "../lib/leftOut";
import { agreementOf } from "../lib/measures";
import { layerName } from "../lib/origin";
import { ruleCost } from "../lib/readingCost";
import type { Rule, Term } from "../lib/rules";
import { counted, describeTerm, grouped, MOST_CATEGORIES, percent, shortNumber } from "../lib/text";
import { speaksAgainst, votesOf } from "../lib/votes";
import { useStore } from "../store";

export function RuleDetails({ rule, place }: { rule: Rule; place: number }) {
  const store = useStore();
  const set = store.rules.value;
  const why = store.table === null ? null : whyTermsUnknown(rule.terms, set, store.table);
  const isAgainst = speaksAgainst(rule, set.voting);
  const cover = why === null ? (store.evaluation.value?.covers[place] ?? null) : null;
  return (
    <>
      <div class="two">
        <p class="rule-then">
          {rule.priority && <span class="badge">priority</span>} THEN {isAgainst && "speaks against"} <ClassChip index={rule.classIndex} />
        </p>
        <ul class="terms" aria-label="Terms, all of which must hold">
          {rule.terms.length === 0 && <li>no terms: the rule fires on every row</li>}
          {rule.terms.map((term) => (
            <li key={term.feature}>
              <TermText term={term} />
              <TermStrip term={term} classIndex={rule.classIndex} />
            </li>
          ))}
        </ul>
      </div>
      <dl class="facts">
        {!isAgainst && <Fact name="Confidence" value={percent(rule.confidence)} />}
        <Fact name="Votes where it fires" value={shortNumber(votesOf(rule, set.voting))} />
        {set.voting !== "weights" && rule.weight !== 1 && <Fact name="Weight" value={shortNumber(rule.weight)} />}
        <Fact name="Training rows covered" value={`${grouped(rule.cover)}, ${isAgainst ? `${grouped(rule.correct)} of this class` : `correct on ${grouped(rule.correct)}`}`} />
        <Fact name="Reading cost" value={grouped(ruleCost(rule, set.features))} />
        {cover !== null && <CoverFacts rule={rule} cover={cover} />}
        {why !== null && <Fact name="Fires here on" value={`not known here: ${why}`} />}
        {rule.origin?.layer != null && <Fact name="Layer" value={layerName(rule.origin.layer)} />}
        {rule.origin?.clause != null && <Fact name="Clause" value={rule.origin.clause} />}
      </dl>
      <p class="row-buttons">
        {cover !== null && (
          <button type="button" onClick={() => store.select({ kind: "cohort", cohort: { kind: "covered", rule: rule.id } })}>
            Show its rows
          </button>
        )}
        {store.view.value !== "edit" && <EditButton />}
        <button
          type="button"
          onClick={() =>
            store.address.step(() => {
              store.untickAll();
              store.tick([rule.id], true);
              store.address.param("rules.panel").value = "delete";
              store.show("rules");
            })
          }
        >
          Delete …
        </button>
      </p>
    </>
  );
}

/** A term in words; one with very many categories is shortened until it is opened. */
function TermText({ term }: { term: Term }) {
  const feature = useStore().rules.value.features[term.feature];
  const [shortened, whole] = [describeTerm(term, feature, MOST_CATEGORIES), describeTerm(term, feature)];
  if (shortened === whole) return <span class="term-text">{whole}</span>;
  return (
    <details class="term-text">
      <summary>{shortened}</summary>
      {whole}
    </details>
  );
}

function CoverFacts({ rule, cover }: { rule: Rule; cover: Bits }) {
  const { table, rules } = useStore();
  const n = countBits(cover);
  const judged = (codes: ArrayLike<number> | undefined) => {
    const part = codes === undefined ? null : agreementOf(rule, rules.value.voting, cover, codes);
    return part === null ? null : percent(part);
  };
  const asNetwork = judged(table?.network?.codes);
  const asTruth = judged(table?.truth?.codes);
  return (
    <>
      <Fact name="Fires here on" value={counted(n, "row")} />
      {asNetwork !== null && <Fact name="… network agrees" value={asNetwork} />}
      {asTruth !== null && <Fact name="… correct" value={asTruth} />}
    </>
  );
}
