/** A rule as a form. */

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { firstTerm, TermEditor } from "../../components/TermEditor";
import { DEFAULT_STATISTICS, type NewRule, type Term } from "../../lib/rules";
import { counted, formatLabel, formatNumber } from "../../lib/text";
import { speaksAgainst } from "../../lib/votes";
import { useStore } from "../../store";

const LISTED_FEATURES = 200;

export function RuleForm({ reading, onRule }: { reading: { rules: NewRule[] } | null; onRule: (rule: NewRule) => void }) {
  const store = useStore();
  const set = store.rules.value;
  if (reading !== null && reading.rules.length !== 1) return <p class="quiet">{counted(reading.rules.length, "rule")}</p>;
  const rule: NewRule = reading?.rules[0] ?? {
    terms: [],
    classIndex: set.defaultIndex,
    ...DEFAULT_STATISTICS,
    priority: false,
    origin: null,
  };
  const change = (part: Partial<NewRule>) => onRule({ ...rule, ...part });
  // Counts of the old rule do not apply to one with other terms or another class.
  const changeMeaning = (part: Partial<NewRule>) => change({ cover: 0, correct: 0, ...part });
  const withTerm = (term: Term) => changeMeaning({ terms: rule.terms.map((other) => (other.feature === term.feature ? term : other)) });
  return (
    <div class="rule-form">
      {rule.terms.map((term) => (
        <TermEditor
          key={term.feature}
          term={term}
          classIndex={rule.classIndex}
          onTerm={withTerm}
          onRemove={() => changeMeaning({ terms: rule.terms.filter((other) => other !== term) })}
        />
      ))}
      <AddTerm rule={rule} onTerm={(term) => changeMeaning({ terms: [...rule.terms, term].sort((a, b) => a.feature - b.feature) })} />
      <div class="rule-says">
        <label>
          {speaksAgainst(rule, set.voting) ? "Then speaks against" : "Then"}{" "}
          <select value={String(rule.classIndex)} onChange={(event) => changeMeaning({ classIndex: Number(event.currentTarget.value) })}>
            {set.classes.map((label, c) => (
              <option key={c} value={String(c)}>
                {formatLabel(label)}
              </option>
            ))}
          </select>
        </label>
        <NumberField label="Confidence" value={rule.confidence} isValid={(number) => number >= 0 && number <= 1} onNumber={(confidence) => change({ confidence })} />
        {(set.voting === "weights" || rule.weight !== 1) && <NumberField label="Weight" value={rule.weight} isValid={Number.isFinite} onNumber={(weight) => change({ weight })} />}
        <label title="Where a rule with priority fires, only rules with priority vote.">
          <input type="checkbox" checked={rule.priority} onChange={(event) => change({ priority: event.currentTarget.checked })} /> Priority
        </label>
      </div>
    </div>
  );
}

interface NumberProps {
  label: string;
  value: number;
  isValid: (number: number) => boolean;
  onNumber: (number: number) => void;
}

function NumberField({ label, value, isValid, onNumber }: NumberProps) {
  return (
    <label>
      {label}{" "}
      <input
        class="short-number"
        inputMode="decimal"
        value={formatNumber(value)}
        onChange={(event) => {
          const number = Number(event.currentTarget.value);
          if (event.currentTarget.value.trim() !== "" && isValid(number)) onNumber(number + 0);
          else event.currentTarget.value = formatNumber(value);
        }}
      />
    </label>
  );
}

function AddTerm({ rule, onTerm }: { rule: NewRule; onTerm: (term: Term) => void }) {
  const store = useStore();
  const id = useId();
  const name = useSignal("");
  const { features } = store.original;
  const tested = new Set(rule.terms.map((term) => term.feature));
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
