/** Columns that a report left out to stay small: terms that test them neither hold nor fail here. */

import type { RuleSet, Term } from "./rules";
import type { Table } from "./table";
import { formatName } from "./text";

/** Why it is not known on which rows these terms hold; null where it is. */
export function whyTermsUnknown(terms: Iterable<Term>, set: RuleSet, table: Table): string | null {
  const names = new Set<string>();
  for (const { feature } of terms) if (table.columns[feature] === null) names.add(formatName(set.features[feature].name));
  if (names.size === 0) return null;
  const shown = [...names].slice(0, 3).join(", ") + (names.size > 3 ? ` and ${names.size - 3} more features` : "");
  return `the report holds no values of ${shown}`;
}

/** Why it is not known how these rules decide; null where it is. */
export function whyRulesUnknown(set: RuleSet, table: Table): string | null {
  return whyTermsUnknown(termsOf(set), set, table);
}

function* termsOf(set: RuleSet): Iterable<Term> {
  for (const rule of set.rules) yield* rule.terms;
}
