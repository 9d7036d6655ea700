/** Columns that a report left out to stay small: whether terms that test them hold is unknown here. */

import type { AnyRules, Feature, Term } from "./rules";
import type { Table } from "./table";
import { featureName } from "./text";

/** The reason why it is unknown on which rows these terms hold; null if it is known. */
export function whyTermsUnknown(terms: Iterable<Pick<Term, "feature">>, set: { readonly features: readonly Feature[] }, table: Table): string | null {
  const names = new Set<string>();
  for (const { feature } of terms) if (table.columns[feature] === null) names.add(featureName(set.features[feature]));
  if (names.size === 0) return null;
  const shown = [...names].slice(0, 3).join(", ") + (names.size > 3 ? ` and ${names.size - 3} more features` : "");
  return `the report has no values for ${shown}`;
}

/** The reason why the decisions of these rules are unknown; null if they are known. */
export function whyRulesUnknown(set: AnyRules, table: Table): string | null {
  return whyTermsUnknown(termsOf(set), set, table);
}

function* termsOf(set: AnyRules): Iterable<Term> {
  for (const rule of set.rules) yield* rule.terms;
}
