/** Rules as the page works with them: immutable, with features and classes by their places. */

import type { ChangeEntry, Kind, RuleFile, Scalar, Voting } from "../payload";

/**
 * low < x ≤ high, infinite where open; or, if `codes` is not null, one of these categories (ascending); or, if
 * `missing`, a missing value, which satisfies no other term.
 */
export interface Term {
  readonly feature: number;
  readonly low: number;
  readonly high: number;
  readonly codes: readonly number[] | null;
  readonly missing: boolean;
}

export interface Origin {
  readonly layer: string | null;
  readonly clause: string | null;
}

/**
 * One rule of any kind. Rules are never changed: an edit makes a new object, so that results for a rule can be
 * cached by its identity. `id` stays the same through edits; those of the report are numbered from 0.
 */
export interface AnyRule {
  readonly id: number;
  readonly terms: readonly Term[];
  /** Rows that the rule held on when it was learnt. */
  readonly cover: number;
  readonly origin: Origin | null;
}

/** A rule that predicts a class. */
export interface Rule extends AnyRule {
  readonly classIndex: number;
  readonly confidence: number;
  readonly correct: number;
  readonly weight: number;
  readonly priority: boolean;
}

export interface Feature {
  readonly name: string;
  readonly kind: Kind;
  readonly categories: readonly Scalar[] | null;
}

/** Rules of one kind, over the same features. */
export interface AnyRules<R extends AnyRule = AnyRule> {
  readonly features: readonly Feature[];
  readonly named: boolean;
  readonly rules: readonly R[];
  readonly changes: readonly ChangeEntry[];
}

export interface RuleSet extends AnyRules<Rule> {
  readonly classes: readonly Scalar[];
  readonly classDtype: RuleFile["class_dtype"];
  readonly voting: Voting;
  readonly defaultIndex: number;
  /** One number per class. */
  readonly base: readonly number[];
  readonly scale: number;
  /** The margin below which the rules abstain, and the label of such rows; null if they decide every row. */
  readonly abstention: { readonly margin: number; readonly label: Scalar } | null;
}

/** A rule that is not yet part of a rule set. */
export type New<R extends AnyRule> = Omit<R, "id">;
export type NewRule = New<Rule>;

/** The numbers of a rule, with the values that a rule text may omit. */
export const DEFAULT_STATISTICS = { confidence: 1, cover: 0, correct: 0, weight: 1 } as const;
export type Statistic = keyof typeof DEFAULT_STATISTICS;

/** The term on a feature that any known value satisfies, or with parts of it replaced. */
export function termOn(feature: number, part: Partial<Omit<Term, "feature">> = {}): Term {
  return { feature, low: -Infinity, high: Infinity, codes: null, missing: false, ...part };
}

/** Whether an encoded value (NaN where missing) satisfies a term. */
export function holds(term: Term, value: number): boolean {
  if (value !== value || term.missing) return value !== value && term.missing;
  if (term.codes !== null) return term.codes.includes(value);
  // An open lower end is satisfied by −∞ itself.
  return value <= term.high && (value > term.low || term.low === -Infinity);
}

export function sameTerm(a: Term, b: Term): boolean {
  return termKey(a) === termKey(b);
}

/** Categories by which a set is shown: those that it accepts, or those that it excludes, if these are fewer. */
export interface NamedCategories {
  readonly codes: readonly number[];
  readonly areExcluded: boolean;
}

export function namedCategories(accepted: readonly number[], feature: Feature): NamedCategories {
  const all = [...(feature.categories ?? []).keys()];
  if (all.length - accepted.length >= accepted.length) return { codes: accepted, areExcluded: false };
  const isAccepted = new Set(accepted);
  return { codes: all.filter((code) => !isAccepted.has(code)), areExcluded: true };
}

/** Equal for equal terms only. */
export function termKey(term: Term): string {
  if (term.missing) return `${term.feature}?`;
  return term.codes === null ? `${term.feature}:${term.low}:${term.high}` : `${term.feature}=${term.codes.join(",")}`;
}

/**
 * Terms in the form in which Python keeps them, so that equal conditions are equal terms: one per feature, the
 * intersection of all on it, sorted by feature; on a binary feature x ≤ 0, x > 0 or "is known".
 */
export function canonicalTerms(terms: readonly Term[], features: readonly Feature[]): Term[] {
  return mergedTerms(terms).map((term) => (features[term.feature].kind === "binary" ? withBinaryBounds(term) : term));
}

/** A binary feature is 0 or 1, so 0 stands for all bounds in [0, 1). A term that neither satisfies becomes (0, 0]. */
function withBinaryBounds(term: Term): Term {
  const { low, high } = term;
  if (low >= 1 || high < 0 || low >= high) return { ...term, low: 0, high: 0 };
  return { ...term, low: low < 0 ? -Infinity : 0, high: high >= 1 ? Infinity : 0 };
}

function mergedTerms(terms: readonly Term[]): Term[] {
  const byFeature = new Map<number, Term>();
  // "Is missing" comes last, so that contradictions with it are the same term in any order.
  for (const term of [...terms].sort((a, b) => Number(a.missing) - Number(b.missing))) {
    const known = byFeature.get(term.feature);
    byFeature.set(term.feature, known === undefined ? term : intersection(known, term));
  }
  return [...byFeature.values()].sort((a, b) => a.feature - b.feature);
}

/** The term that holds where both terms hold; (0, 0] or no category if one of them only is "is missing". */
export function intersection(a: Term, b: Term): Term {
  if (a.missing && b.missing) return a;
  if (a.missing || b.missing) return termOn(a.feature, (a.codes ?? b.codes) === null ? { low: 0, high: 0 } : { codes: [] });
  const codes = a.codes === null || b.codes === null ? null : a.codes.filter((code) => b.codes?.includes(code));
  return termOn(a.feature, { low: Math.max(a.low, b.low), high: Math.min(a.high, b.high), codes });
}
