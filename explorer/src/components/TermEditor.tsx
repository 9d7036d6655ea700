/** An editor for one term of a rule. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { type AxisSource, middleOf } from "../lib/axis";
import { lowerBound, nextBelow, upperBound } from "../lib/decimals";
import { type Term, termOn } from "../lib/rules";
import { featureName, formatCategory, grouped } from "../lib/text";
import { usePage } from "../pageStore";

interface Props {
  term: Term;
  /** The term, drawn. */
  strip: ComponentChildren;
  onTerm: (term: Term) => void;
  onRemove: () => void;
}

export function TermEditor({ term, strip, onTerm, onRemove }: Props) {
  const about = usePage().original.features[term.feature];
  const { kind } = about;
  const name = featureName(about);
  return (
    <fieldset class="term-editor">
      <legend>{name}</legend>
      <button type="button" class="term-remove" aria-label={`Remove the term on ${name}`} onClick={onRemove}>
        ✕
      </button>
      {kind === "binary" ? (
        <TrueOrFalse term={term} onTerm={onTerm} name={name} />
      ) : (
        <>
          {term.missing ? null : kind === "categorical" ? (
            <Categories term={term} onTerm={onTerm} name={name} />
          ) : (
            <div class="term-bounds">
              <Bound term={term} side="low" onTerm={onTerm} name={name} />
              <Bound term={term} side="high" onTerm={onTerm} name={name} />
            </div>
          )}
          <IsMissing term={term} onTerm={onTerm} />
        </>
      )}
      {strip}
    </fieldset>
  );
}

type PartProps = Pick<Props, "term" | "onTerm">;

/** A first term on a feature: the lower half, true, or the first category. */
export function firstTerm(store: AxisSource, feature: number): Term {
  const { kind } = store.original.features[feature];
  if (kind === "categorical") return termOn(feature, { codes: [0] });
  return termOn(feature, kind === "binary" ? { low: 0 } : { high: middleOf(store, feature) });
}

/** Switches between a test for missing values and the term that was there before. */
function IsMissing({ term, onTerm }: PartProps) {
  const store = usePage();
  const before = useRef<Term | null>(null);
  return (
    <label class="term-missing">
      <input
        type="checkbox"
        checked={term.missing}
        onChange={(event) => {
          if (event.currentTarget.checked) {
            before.current = term;
            onTerm(termOn(term.feature, { missing: true }));
          } else onTerm(before.current ?? firstTerm(store, term.feature));
        }}
      />
      is missing
    </label>
  );
}

/** `> 30`, `>= 30` or `30` for the lower end, `<= 47`, `< 47` or `47` for the upper one; nothing where it is open. */
function Bound({ term, side, name, onTerm }: PartProps & { side: "low" | "high"; name: string }) {
  const isLow = side === "low";
  const written = !Number.isFinite(term[side]) ? "" : isLow ? lowerBound(term.low) : upperBound(term.high);
  return (
    <input
      aria-label={`${name}, ${isLow ? "lower" : "upper"} bound`}
      value={written}
      placeholder={isLow ? "> no bound" : "≤ no bound"}
      onChange={(event) => {
        const bound = readBound(event.currentTarget.value, isLow);
        if (bound === null) event.currentTarget.value = written;
        else onTerm({ ...term, [side]: bound });
      }}
    />
  );
}

/** The stored bound (low < x ≤ high) that a text means; null if it cannot be read. */
export function readBound(text: string, isLow: boolean): number | null {
  const plain = text.trim().replace("≥", ">=").replace("≤", "<=");
  if (plain === "") return isLow ? -Infinity : Infinity;
  const match = (isLow ? /^(>=?)?\s*(\S+)$/ : /^(<=?)?\s*(\S+)$/).exec(plain);
  const number = match === null || !/^[+-]?[\d.]/.test(match[2]) ? NaN : Number(match[2]);
  if (!Number.isFinite(number)) return null;
  return match?.[1] === ">=" || match?.[1] === "<" ? nextBelow(number) + 0 : number + 0;
}

function TrueOrFalse({ term, name, onTerm }: PartProps & { name: string }) {
  const value = term.missing ? "missing" : term.low === 0 ? "true" : term.high === 0 ? "false" : "known";
  return (
    <select
      aria-label={`${name} is`}
      value={value}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        onTerm(termOn(term.feature, { low: chosen === "true" ? 0 : -Infinity, high: chosen === "false" ? 0 : Infinity, missing: chosen === "missing" }));
      }}
    >
      <option value="true">true</option>
      <option value="false">false</option>
      <option value="known">known</option>
      <option value="missing">missing</option>
    </select>
  );
}

/** From this number of categories, there is a search and buttons that select or clear all. */
const MANY_CATEGORIES = 12;

function Categories({ term, name, onTerm }: PartProps & { name: string }) {
  const id = useId();
  const query = useSignal("");
  const about = usePage().original.features[term.feature];
  const categories = about.categories ?? [];
  const accepted = new Set(term.codes ?? []);
  const words = query.value.trim().toLowerCase();
  const shown = [...categories.keys()].filter((code) => formatCategory(categories[code], about).toLowerCase().includes(words));
  const accept = (codes: readonly number[], isAccepted: boolean) => {
    const next = new Set(accepted);
    for (const code of codes) {
      if (isAccepted) next.add(code);
      else next.delete(code);
    }
    onTerm({ ...term, codes: [...next].sort((a, b) => a - b) });
  };
  const isAll = shown.length === categories.length;
  return (
    <>
      {categories.length >= MANY_CATEGORIES && (
        <div class="term-choose">
          <input type="search" aria-label={`Find categories of ${name}`} placeholder="find" value={query.value} onInput={(event) => (query.value = event.currentTarget.value)} />
          <button type="button" disabled={shown.every((code) => accepted.has(code))} onClick={() => accept(shown, true)}>
            {isAll ? "All" : "Select found"}
          </button>
          <button type="button" disabled={!shown.some((code) => accepted.has(code))} onClick={() => accept(shown, false)}>
            {isAll ? "None" : "Clear found"}
          </button>
          <span class="quiet" role="status">
            {grouped(accepted.size)} of {grouped(categories.length)}
            {isAll ? "" : `, ${grouped(shown.length)} found`}
          </span>
        </div>
      )}
      <div class="term-categories">
        {shown.map((code) => (
          <label key={code} for={`${id}-${code}`}>
            <input id={`${id}-${code}`} type="checkbox" checked={accepted.has(code)} onChange={(event) => accept([code], event.currentTarget.checked)} />
            {formatCategory(categories[code], about)}
          </label>
        ))}
      </div>
    </>
  );
}
