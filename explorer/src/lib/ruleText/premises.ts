/** Reads what rules of all kinds have: premises, names, values and properties, with one method per construct. */

import type { Scalar } from "../../payload";
import { nextBelow } from "../decimals";
import { type Feature, intersection, type Origin, type Term, termOn } from "../rules";
import { strOf } from "./python";
import { closest } from "./similar";
import { isKeyword, mirrored, TokenCursor } from "./tokens";
import { writeName, writeValue } from "./write";

// Comparing long names, or very many, takes too long.
const [MAX_COMPARED_LENGTH, MAX_COMPARED_NAMES] = [100, 500];

/** A class or category that was read. */
interface Value {
  key: string;
  /** As the language writes it, and as Python's `str` does. */
  written: string;
  plain: string;
}

function valueOf(value: Scalar, isFloat = false): Value {
  return { key: keyOf(value), written: writeValue(value, isFloat), plain: strOf(value, isFloat) };
}

/** Whole numbers are exact in Python, however large they are. */
function wholeNumber(text: string): Value {
  const digits = String(BigInt(text.replace("+", "")));
  return { key: `number:${digits}`, written: digits, plain: digits };
}

/** A key under which true, 1 and "1" differ. */
function keyOf(value: Scalar): string {
  return `${typeof value}:${Number.isInteger(value) ? BigInt(value) : value}`;
}

/** Reads rules about known features; what they conclude, a kind of rules adds. */
export abstract class PremiseReader<R> extends TokenCursor {
  private readonly featureAt: ReadonlyMap<string, number>;

  constructor(
    text: string,
    protected readonly features: readonly Feature[],
  ) {
    super(text);
    this.featureAt = new Map(features.map((feature, place) => [feature.name, place]));
  }

  /** One rule, from IF on. */
  abstract rule(): R;

  /** All rules of the text, at least one; throws a RuleTextError that points at the first mistake. */
  rules(): R[] {
    const rules: R[] = [];
    while (!this.isAtEnd) {
      if (!this.sees("IF")) this.fail(`expected IF, found ${this.shown}`);
      rules.push(this.rule());
    }
    if (rules.length === 0) this.fail("there is no rule; write IF … THEN …");
    return rules;
  }

  protected premise(): Term[] {
    if (this.sees("TRUE") && this.seesAfter("THEN")) {
      this.next();
      return [];
    }
    const terms = [this.term()];
    while (this.take("AND")) terms.push(this.term());
    return terms;
  }

  private term(): Term {
    if (this.token.kind === "number") return this.interval();
    const { position } = this.token;
    const feature = this.knownFeature();
    if (this.take("IS")) {
      if (this.oneOf(["KNOWN", "MISSING"] as const) === "MISSING") return termOn(feature, { missing: true });
      const { categories } = this.features[feature];
      return termOn(feature, { codes: categories === null ? null : categories.map((_, code) => code) });
    }
    if (this.take("∉")) return this.valueSet(feature, this.setCodes(feature), true);
    if (this.take("NOT")) {
      this.expect("IN");
      return this.valueSet(feature, this.setCodes(feature), true);
    }
    if (this.take("IN")) return this.valueSet(feature, this.setCodes(feature), false);
    if (this.sees("=", "!=")) return this.equality(feature, position, this.next().text === "!=");
    return this.oneSided(feature);
  }

  /** `17 < age <= 65` or `65 >= age > 17`, or one side of it: `17 < age`. */
  private interval(): Term {
    const bound = this.number();
    if (!this.sees("<", "<=", ">", ">=")) this.fail(`expected <, <=, > or >=, found ${this.shown}`);
    const comparison = this.next().text;
    const feature = this.knownFeature();
    const term = this.bounded(feature, mirrored(comparison), bound);
    const isUpward = comparison === "<" || comparison === "<=";
    if (!(isUpward ? this.sees("<", "<=") : this.sees(">", ">="))) return term;
    const other = this.next().text;
    return intersection(term, this.bounded(feature, other, this.number()));
  }

  private oneSided(feature: number): Term {
    if (!this.sees("<", "<=", ">", ">=")) this.fail(`expected <, <=, >, >=, =, !=, IN, NOT IN, IS KNOWN or IS MISSING, found ${this.shown}`);
    return this.bounded(feature, this.next().text, this.number());
  }

  private bounded(feature: number, comparison: string, bound: number): Term {
    const position = this.lastPosition;
    const { name, kind } = this.features[feature];
    if (kind === "categorical") this.fail(`${writeName(name)} is categorical; write = or IN {…}`, position);
    // Intervals are (low, high], so the cut of x < 3 and of x ≥ 3 is the double just below 3.
    const cut = comparison === "<" || comparison === ">=" ? nextBelow(bound) : bound;
    if (!Number.isFinite(cut)) this.fail("no finite number is smaller than this one", position);
    return termOn(feature, comparison === "<" || comparison === "<=" ? { high: cut + 0 } : { low: cut + 0 });
  }

  private equality(feature: number, position: number, isNegated: boolean): Term {
    const { name, kind } = this.features[feature];
    if (kind === "categorical") return this.valueSet(feature, [this.category(feature)], isNegated);
    if (kind === "binary") {
      const { kind: what, text } = this.token;
      const number = what === "number" ? Number(text) : NaN;
      if (!this.sees("TRUE", "FALSE") && number !== 0 && number !== 1) {
        this.fail(`${writeName(name)} is binary; expected TRUE or FALSE, found ${this.shown}`);
      }
      const isTrue = number === 1 || this.sees("TRUE");
      this.next();
      return termOn(feature, isTrue !== isNegated ? { low: 0 } : { high: 0 });
    }
    if (isNegated) {
      this.fail(`${writeName(name)} is numeric, and != is not an interval; write two rules, with < and >`, position);
    }
    const number = this.number();
    return intersection(this.bounded(feature, "<=", number), this.bounded(feature, ">=", number));
  }

  private setCodes(feature: number): number[] {
    const { name, kind } = this.features[feature];
    if (kind !== "categorical") this.fail(`${writeName(name)} is ${kind}, and IN is for categorical features; write a comparison`);
    const end = this.take("(") ? ")" : "}";
    if (end === "}") this.expect("{");
    const codes: number[] = [];
    while (!this.take(end)) {
      if (codes.length > 0 && !this.take(",")) this.fail(`expected , or ${end}, found ${this.shown}`);
      codes.push(this.category(feature));
    }
    return codes;
  }

  private valueSet(feature: number, listed: readonly number[], isNegated: boolean): Term {
    const categories = this.features[feature].categories ?? [];
    const codes = categories.map((_, code) => code).filter((code) => listed.includes(code) !== isNegated);
    return termOn(feature, { codes });
  }

  /** Properties after WITH: numbers by name, which `check` may refuse, words, and the origin. */
  protected properties<N extends string, W extends string>(numbers: readonly N[], words: readonly W[], check: (name: N, number: number) => string | null): { numbers: Map<N, number>; words: Set<W>; origin: Origin | null } {
    const found = new Map<N, number>();
    const flags = new Set<W>();
    const texts: { layer: string | null; clause: string | null } = { layer: null, clause: null };
    const given = new Set<string>();
    do {
      const { position } = this.token;
      const name = this.oneOf([...numbers, ...words, "layer", "clause", "origin"] as const);
      if (given.has(name)) this.fail(`${name} is given twice`, position);
      given.add(name);
      if (name === "layer") texts.layer = this.name();
      if (name === "clause") texts.clause = this.name();
      const flag = words.find((word) => word === name);
      if (flag !== undefined) flags.add(flag);
      const statistic = numbers.find((number) => number === name);
      if (statistic === undefined) continue;
      const { position: place } = this.token;
      const number = this.number() + 0;
      found.set(statistic, number);
      const problem = check(statistic, number);
      if (problem !== null) this.fail(problem, place);
    } while (this.take(","));
    const hasOrigin = given.has("layer") || given.has("clause") || given.has("origin");
    return { numbers: found, words: flags, origin: hasOrigin ? texts : null };
  }

  // --- Names and values ---

  private knownFeature(): number {
    const { position } = this.token;
    const name = this.name();
    const place = this.featureAt.get(name);
    if (place === undefined) {
      const hint = didYouMean(name, new Map([...this.featureAt.keys()].map((other) => [other, writeName(other)])));
      this.fail(`there is no feature ${writeName(name)}${hint}`, position);
    }
    return place;
  }

  /** A bare or quoted word. */
  private name(): string {
    const { kind, text } = this.token;
    if (kind === "string") return this.string();
    if (kind !== "word") this.fail(`expected a name, found ${this.shown}`);
    if (isKeyword(text)) this.fail(`expected a name, found the keyword ${text}; if it is a name, quote it: "${text}"`);
    return this.next().text;
  }

  private string(): string {
    const { text, position } = this.next();
    try {
      // JSON requires control characters to be escaped, this language does not.
      const escaped = text.replace(/\\.|[\x00-\x1f]/gs, (part) =>
        part.length > 1 ? part : `\\u${part.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      return JSON.parse(escaped) as string;
    } catch {
      this.fail("unknown escape sequence after a backslash; write \\\\ for a backslash", position);
    }
  }

  private value(): Value {
    const { kind, text } = this.token;
    if (kind === "number") {
      const number = this.number();
      return /^[+-]?[0-9]+$/.test(text) ? wholeNumber(text) : valueOf(number, true);
    }
    if (this.sees("TRUE", "FALSE")) return valueOf(this.next().text.toUpperCase() === "TRUE");
    if (kind !== "word" && kind !== "string") this.fail(`expected a value, found ${this.shown}`);
    return valueOf(this.name());
  }

  protected number(): number {
    const { kind, text, position } = this.token;
    if (kind !== "number") this.fail(`expected a number, found ${this.shown}`);
    this.next();
    const number = Number(text);
    if (text.length > 400 || !Number.isFinite(number)) this.fail("this number is too long or too large", position);
    return number;
  }

  private category(feature: number): number {
    const { name, categories } = this.features[feature];
    const listed = categories ?? [];
    return this.found(placesByKey(listed), listed, `category of ${writeName(name)}`, false);
  }

  /** The place of the known value that is meant: `1` may mean the text "1" where values are text. */
  protected found(places: ReadonlyMap<string, number>, listed: readonly Scalar[], what: string, isFloat: boolean): number {
    const { text: raw, position } = this.token;
    const value = this.value();
    const place = places.get(value.key) ?? places.get(keyOf(raw));
    if (place !== undefined) return place;
    const known = listed.map((other) => valueOf(other, isFloat));
    const first = known.slice(0, 8).map((other) => other.written);
    const expected = first.length > 0 ? `; expected ${first.join(", ")}${known.length > 8 ? ", …" : ""}` : "";
    const hint = didYouMean(value.plain, new Map(known.map((other) => [other.plain, other.written])));
    this.fail(`${value.written} is not a ${what}${expected}${hint}`, position);
  }
}

export function placesByKey(values: readonly Scalar[]): Map<string, number> {
  return new Map(values.map((value, place) => [keyOf(value), place]));
}

/** `; did you mean age?` if something known (as in a text, by name) is similar, else nothing. */
function didYouMean(name: string, known: ReadonlyMap<string, string>): string {
  const length = Array.from(name).length;
  if (length > MAX_COMPARED_LENGTH) return "";
  const candidates = [...known.keys()].slice(0, MAX_COMPARED_NAMES).filter((other) => Math.abs(Array.from(other).length - length) <= length);
  const near = closest(name, candidates);
  return near === null ? "" : `; did you mean ${known.get(near)}?`;
}
