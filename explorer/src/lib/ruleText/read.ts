/** Reads rules for classes. */

import { canonicalTerms, DEFAULT_STATISTICS, type NewRule, type Statistic } from "../rules";
import { placesByKey, PremiseReader } from "./premises";
import { statisticsProblem } from "./statistics";
import type { Vocabulary } from "./vocabulary";
import { STATISTICS } from "./write";

/** The rules in a text, at least one; throws a RuleTextError that points at the first mistake. */
export function readRules(text: string, known: Vocabulary): NewRule[] {
  return new RuleReader(text, known).rules();
}

/** Reads rules about known features and classes. */
class RuleReader extends PremiseReader<NewRule> {
  private readonly classAt: ReadonlyMap<string, number>;

  constructor(
    text: string,
    private readonly known: Vocabulary,
  ) {
    super(text, known.features);
    this.classAt = placesByKey(known.classes);
  }

  /** `IF` premise `THEN` [`NOT`] class [`WITH` properties]. */
  rule(): NewRule {
    const { position } = this.token;
    this.expect("IF");
    const terms = this.premise();
    this.expect("THEN");
    const isAgainst = this.takesNot();
    const { position: conclusionPosition } = this.token;
    const classIndex = this.label();
    const given = this.take("WITH") ? this.classProperties() : { ...DEFAULT_STATISTICS, priority: false, origin: null };
    if (isAgainst && given.weight < 0) this.fail("after NOT, the weight must not be negative", conclusionPosition);
    const properties = isAgainst ? { ...given, weight: 0 - given.weight } : given;
    const rule = { terms: canonicalTerms(terms, this.known.features), classIndex, ...properties };
    const problem = statisticsProblem(rule);
    if (problem !== null) this.fail(problem, position);
    return rule;
  }

  /** NOT before a class: the rule takes votes from it. Only rules that vote by weights do. */
  private takesNot(): boolean {
    const { voting } = this.known;
    if (this.sees("NOT") && voting !== "weights") this.fail(`NOT before a class needs voting by weights; these rules vote by ${voting}`);
    return this.take("NOT");
  }

  private classProperties(): Omit<NewRule, "terms" | "classIndex"> {
    const { numbers, words, origin } = this.properties(STATISTICS, ["priority"] as const, (name, number) => (name === "confidence" ? statisticsProblem({ ...DEFAULT_STATISTICS, confidence: number }) : null));
    const statistic = (name: Statistic) => numbers.get(name) ?? DEFAULT_STATISTICS[name];
    return { confidence: statistic("confidence"), cover: statistic("cover"), correct: statistic("correct"), weight: statistic("weight"), priority: words.has("priority"), origin };
  }

  private label(): number {
    const isFloat = this.known.classDtype.startsWith("float");
    return this.found(this.classAt, this.known.classes, "class", isFloat);
  }
}
