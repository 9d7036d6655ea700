/** Counts over a rule set for the Overview. Pure functions. */

import { type Rule, type RuleSet, type Term, termKey } from "./rules";
import { speaksAgainst } from "./votes";

export interface Summary {
  rulesPerClass: number[];
  /** Those of them that speak against the class. */
  againstPerClass: number[];
  /** Number of rules by number of terms, from 0. */
  lengths: number[];
  meanLength: number;
  /** Features that rules test, most used first: in how many rules, in all and per class. */
  features: FeatureUse[];
  /** Different terms, most used first. */
  terms: TermUse[];
  nPriority: number;
}

export interface FeatureUse {
  feature: number;
  nRules: number;
  perClass: number[];
}

export interface TermUse {
  term: Term;
  nRules: number;
  perClass: number[];
}

export function summaryOf(set: RuleSet): Summary {
  const nClasses = set.classes.length;
  const rulesPerClass = new Array<number>(nClasses).fill(0);
  const againstPerClass = new Array<number>(nClasses).fill(0);
  const lengths: number[] = [];
  const features = new Map<number, FeatureUse>();
  const terms = new Map<string, TermUse>();
  let nTerms = 0;
  for (const rule of set.rules) {
    rulesPerClass[rule.classIndex]++;
    if (speaksAgainst(rule, set.voting)) againstPerClass[rule.classIndex]++;
    while (lengths.length <= rule.terms.length) lengths.push(0);
    lengths[rule.terms.length]++;
    nTerms += rule.terms.length;
    for (const term of rule.terms) {
      count(features, term.feature, rule, () => ({ feature: term.feature, nRules: 0, perClass: new Array<number>(nClasses).fill(0) }));
      count(terms, termKey(term), rule, () => ({ term, nRules: 0, perClass: new Array<number>(nClasses).fill(0) }));
    }
  }
  return {
    rulesPerClass,
    againstPerClass,
    lengths,
    meanLength: set.rules.length === 0 ? 0 : nTerms / set.rules.length,
    features: [...features.values()].sort((a, b) => b.nRules - a.nRules || a.feature - b.feature),
    terms: [...terms.values()].sort((a, b) => b.nRules - a.nRules || a.term.feature - b.term.feature),
    nPriority: set.rules.filter((rule) => rule.priority).length,
  };
}

function count<K, U extends { nRules: number; perClass: number[] }>(uses: Map<K, U>, key: K, rule: Rule, make: () => U): void {
  let use = uses.get(key);
  if (use === undefined) uses.set(key, (use = make()));
  use.nRules++;
  use.perClass[rule.classIndex]++;
}
