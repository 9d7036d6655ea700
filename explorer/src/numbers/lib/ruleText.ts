/** Rules that add numbers in the rule language, as Python's rules/text/regression.py reads and writes them. */

import { canonicalTerms, type Feature, type New } from "../../lib/rules";
import { PremiseReader, writeOrigin, writePremise } from "../../lib/ruleText";
import { strOfFloat } from "../../lib/ruleText/python";
import { formatNumber } from "../../lib/text";
import type { NumberRule } from "./rules";

const STATISTICS = ["cover", "mean", "lower", "upper"] as const;

/** The rules in a text, at least one; throws a RuleTextError that points at the first mistake. */
export function readNumberRules(text: string, features: readonly Feature[]): New<NumberRule>[] {
  return new NumberRuleReader(text, features).rules();
}

class NumberRuleReader extends PremiseReader<New<NumberRule>> {
  /** `IF` premise `THEN` `ADD` number [`WITH` properties]. */
  rule(): New<NumberRule> {
    const { position } = this.token;
    this.expect("IF");
    const terms = canonicalTerms(this.premise(), this.features);
    this.expect("THEN");
    this.expect("ADD");
    // Without a negative zero, as in Python.
    const addition = this.number() + 0;
    if (!this.take("WITH")) return { terms, addition, cover: 0, mean: null, interval: null, origin: null };
    const { numbers, origin } = this.properties(STATISTICS, [] as const, () => null);
    const [lower, upper, cover] = [numbers.get("lower"), numbers.get("upper"), numbers.get("cover") ?? 0];
    if ((lower === undefined) !== (upper === undefined)) this.fail("lower and upper belong together; write both or neither", position);
    if (cover < 0) this.fail(`The rule covers ${strOfFloat(cover)} rows; it must be finite and not below 0`, position);
    if (lower !== undefined && upper !== undefined && lower > upper) this.fail(`The rule has the interval (${strOfFloat(lower)}, ${strOfFloat(upper)}); expected two finite numbers, ascending`, position);
    return { terms, addition, cover, mean: numbers.get("mean") ?? null, interval: lower === undefined || upper === undefined ? null : [lower, upper], origin };
  }
}

/** One rule: `IF income > 5.1 THEN ADD 1.4 WITH cover 120`; unknown statistics are omitted. */
export function writeNumberRule(rule: New<NumberRule>, features: readonly Feature[]): string {
  const known = [
    ...(rule.cover > 0 ? [`cover ${formatNumber(rule.cover)}`] : []),
    ...(rule.mean === null ? [] : [`mean ${formatNumber(rule.mean)}`]),
    ...(rule.interval === null ? [] : [`lower ${formatNumber(rule.interval[0])}`, `upper ${formatNumber(rule.interval[1])}`]),
    ...writeOrigin(rule.origin),
  ];
  return `IF ${writePremise(rule.terms, features)} THEN ADD ${formatNumber(rule.addition)}${known.length === 0 ? "" : ` WITH ${known.join(", ")}`}`;
}
