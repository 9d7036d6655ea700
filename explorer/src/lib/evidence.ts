/** What speaks for a rule: on how many rows it fires, and on how many of them the network (else the truth) agrees. */

import type { Store } from "../store";
import { countBits } from "./bits";
import { whyTermsUnknown } from "./leftOut";
import { agreementOf } from "./measures";
import { speaksAgainst } from "./votes";

export interface Evidence {
  /** Rows on which the rule fires, and those of them that agree with it; of the page, or else of the training. */
  readonly n: number;
  readonly nAgree: number;
  readonly basis: "network" | "truth" | "training";
}

/** Null where it is not known on which rows the rule fires. */
export function evidenceOf(store: Store, place: number): Evidence | null {
  const set = store.rules.value;
  const rule = set.rules[place];
  const { table } = store;
  const found = store.evaluation.value;
  const judge = table?.network != null ? ("network" as const) : ("truth" as const);
  const reference = table?.[judge] ?? null;
  if (table === null || found === null || reference === null) {
    return { n: rule.cover, nAgree: speaksAgainst(rule, set.voting) ? rule.cover - rule.correct : rule.correct, basis: "training" };
  }
  if (whyTermsUnknown(rule.terms, set, table) !== null) return null;
  const n = countBits(found.covers[place]);
  const part = agreementOf(rule, set.voting, found.covers[place], reference.codes);
  return { n, nAgree: part === null ? 0 : Math.round(part * n), basis: judge };
}
