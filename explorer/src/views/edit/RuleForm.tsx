/** A rule as a form. */

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { firstTerm, TermEditor } from "../../components/TermEditor";
import type { AnyRule, New, Term } from "../../lib/rules";
import { counted } from "../../lib/text";
import { usePage } from "../../pageStore";
import { useParts } from "../../parts";

const LISTED_FEATURES = 200;

export function RuleForm({ reading, onRule }: { reading: { rules: New<AnyRule>[] } | null; onRule: (rule: New<AnyRule>) => void }) {
  const { kind, rules } = usePage();
  const parts = useParts();
  const set = rules.value;
  if (reading !== null && reading.rules.length !== 1) return <p class="quiet">{counted(reading.rules.length, "rule")}</p>;
  const rule = reading?.rules[0] ?? kind.emptyRule(set);
  const changeTerms = (terms: readonly Term[]) => onRule(kind.withTerms(rule, terms));
  return (
    <div class="rule-form">
      {rule.terms.map((term) => (
        <TermEditor
          key={term.feature}
          term={term}
          strip={parts.strip(term, rule)}
          onTerm={(next) => changeTerms(rule.terms.map((other) => (other.feature === next.feature ? next : other)))}
          onRemove={() => changeTerms(rule.terms.filter((other) => other !== term))}
        />
      ))}
      <AddTerm tested={rule.terms} onTerm={(term) => changeTerms([...rule.terms, term].sort((a, b) => a.feature - b.feature))} />
      <div class="rule-says">{parts.says(rule, set, onRule)}</div>
    </div>
  );
}

function AddTerm({ tested: terms, onTerm }: { tested: readonly Term[]; onTerm: (term: Term) => void }) {
  const store = usePage();
  const id = useId();
  const name = useSignal("");
  const { features } = store.original;
  const tested = new Set(terms.map((term) => term.feature));
  const free = [...features.keys()].filter((place) => !tested.has(place));
  const chosen = free.find((place) => features[place].name === name.value);
  const add = () => {
    if (chosen === undefined) return;
    onTerm(firstTerm(store, chosen));
    name.value = "";
  };
  if (free.length === 0) return null;
  return (
    <p class="row-buttons">
      <label>
        Term on{" "}
        <input
          list={id}
          value={name.value}
          placeholder="feature"
          onInput={(event) => (name.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") add();
          }}
        />
      </label>
      <datalist id={id}>
        {free
          .filter((place) => features[place].name.toLowerCase().includes(name.value.toLowerCase()))
          .slice(0, LISTED_FEATURES)
          .map((place) => (
            <option key={place} value={features[place].name} />
          ))}
      </datalist>
      <button type="button" disabled={chosen === undefined} onClick={add}>
        Add a term
      </button>
    </p>
  );
}
