/**
 * The rule language (docs/rule-language.md), the twin of Python's rules/language.py: what one writes the other reads,
 * and both complain in the same words about the same place (tests/report/test_language_parity.py).
 *
 * `IF age <= 47 AND job IN {nurse, teacher} THEN yes WITH confidence 0.9, priority`
 */

import type { Scalar } from "../payload";
import { closest } from "./alike";
import { formatNumber, lowerBound, nextBelow, upperBound } from "./decimals";
import type { Feature, Origin, Rule, RuleSet, Term } from "./rules";

/** A rule that is not yet part of a rule set. */
export type NewRule = Omit<Rule, "id">;

/** What rules may speak of. */
export type Vocabulary = Pick<RuleSet, "features" | "classes" | "classDtype">;

const KEYWORDS = new Set(
  ["IF", "AND", "THEN", "WITH", "IN", "NOT", "IS", "KNOWN", "TRUE", "FALSE"].concat(
    ["FEATURE", "CLASSES", "DEFAULT", "VOTING", "BASE", "SCALE", "COLUMNS"],
  ),
);
const USUAL = { confidence: 1, cover: 0, correct: 0, weight: 1 } as const;
type Statistic = keyof typeof USUAL;
const STATISTICS = Object.keys(USUAL) as Statistic[];

// Comparing long names takes long, and many as well.
const [MEANT_LENGTH, MEANT_NAMES] = [100, 500];

// As in Python, letters and digits are those of all scripts; numbers are written with 0 to 9.
const WORD = String.raw`(?:(?!\p{Nd})[\p{L}\p{N}_])[\p{L}\p{N}_.]*`;
const TOKEN = new RegExp(
  String.raw`(?<space>[\s\x1c-\x1f\x85\ufeff]+|#[^\n]*)` +
    String.raw`|(?<string>"(?:[^"\\\n]|\\[^\n])*")` +
    String.raw`|(?<number>[+\-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?(?![\p{L}\p{N}_.]))` +
    `|(?<word>${WORD})` +
    String.raw`|(?<symbol><=|>=|!=|<>|==|[<>=≤≥≠∈\{\},])`,
  "yu",
);
const BARE_WORD = new RegExp(`^${WORD}$`, "u");
const SAME_SYMBOL: Readonly<Record<string, string>> = { "≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=", "==": "=", "∈": "IN" };
const MIRRORED: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** Text that is not in the rule language, or speaks of something unknown. */
export class RuleTextError extends Error {
  /** Counted from 1, in characters as people count them. */
  readonly line: number;
  readonly column: number;

  constructor(
    /** What is wrong, without the place. */
    readonly problem: string,
    text: string,
    /** Where, as a place in the JavaScript string. */
    readonly position: number,
  ) {
    const begin = text.lastIndexOf("\n", position - 1) + 1;
    const line = text.slice(0, begin).split("\n").length;
    const column = Array.from(text.slice(begin, position)).length + 1;
    super(`line ${line}, column ${column}: ${problem}`);
    this.line = line;
    this.column = column;
  }
}

// --- Writing ---

/** One rule; what has its usual value is left out. */
export function writtenRule(rule: NewRule, known: Vocabulary): string {
  const premise = rule.terms.map((term) => writtenTerm(term, known.features[term.feature])).join(" AND ") || "TRUE";
  const text = `IF ${premise} THEN ${writtenValue(known.classes[rule.classIndex], known.classDtype.startsWith("float"))}`;
  const properties = writtenProperties(rule);
  return properties.length > 0 ? `${text} WITH ${properties.join(", ")}` : text;
}

function writtenProperties(rule: NewRule): string[] {
  const written = STATISTICS.filter((name) => rule[name] !== USUAL[name]).map((name) => `${name} ${formatNumber(rule[name])}`);
  if (rule.priority) written.push("priority");
  if (rule.origin !== null) {
    const { layer, clause } = rule.origin;
    const said = [...(layer === null ? [] : [`layer ${quoted(layer)}`]), ...(clause === null ? [] : [`clause ${quoted(clause)}`])];
    written.push(...(said.length > 0 ? said : ["origin"]));
  }
  return written;
}

export function writtenTerm(term: Term, feature: Feature): string {
  const name = writtenName(feature.name);
  const { low, high } = term;
  if (term.codes !== null) {
    const values = term.codes.map((code) => writtenValue((feature.categories ?? [])[code]));
    return values.length === 1 ? `${name} = ${values[0]}` : `${name} IN {${values.join(", ")}}`;
  }
  if (feature.kind === "binary" && low !== high && Number.isFinite(low) !== Number.isFinite(high)) {
    return `${name} = ${low === 0 ? "TRUE" : "FALSE"}`;
  }
  if (low === -Infinity && high === Infinity) return `${name} IS KNOWN`;
  if (low === -Infinity) return `${name} ${upperBound(high)}`;
  if (high === Infinity) return `${name} ${lowerBound(low)}`;
  const [comparison, number] = lowerBound(low).split(" ");
  return `${number} ${MIRRORED[comparison]} ${name} ${upperBound(high)}`;
}

/** A class or category. Whole numbers that are floats in Python keep a fraction there: `2.0`. */
export function writtenValue(value: Scalar, isFloat = false): string {
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "string") return writtenName(value);
  const text = formatNumber(value);
  return isFloat && Number.isInteger(value) && !text.includes("e") ? `${text}.0` : text;
}

export function writtenName(name: string): string {
  return BARE_WORD.test(name) && !KEYWORDS.has(name.toUpperCase()) ? name : quoted(name);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

// --- Reading ---

/** The rules in a text, at least one; throws a RuleTextError that points at what is wrong. */
export function readRules(text: string, known: Vocabulary): NewRule[] {
  const reader = new Reader(text, known);
  const rules: NewRule[] = [];
  while (!reader.isAtEnd) {
    if (!reader.sees("IF")) reader.fail(`expected IF, found ${reader.shown}`);
    rules.push(reader.rule());
  }
  if (rules.length === 0) reader.fail("there is no rule; write IF … THEN …");
  return rules;
}

interface Token {
  kind: "string" | "number" | "word" | "symbol" | "end";
  text: string;
  position: number;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let position = 0; position < text.length; ) {
    TOKEN.lastIndex = position;
    const match = TOKEN.exec(text);
    if (match === null) throw new RuleTextError(unreadable(text, position), text, position);
    const found = match[0];
    const kind = (["string", "number", "word", "symbol"] as const).find((name) => match.groups?.[name] !== undefined);
    if (kind !== undefined) tokens.push({ kind, text: SAME_SYMBOL[found] ?? found, position });
    position += found.length;
  }
  tokens.push({ kind: "end", text: "", position: text.length });
  return tokens;
}

function unreadable(text: string, position: number): string {
  const character = String.fromCodePoint(text.codePointAt(position) ?? 0);
  if (character === '"') return 'this text does not end; close it with " on the same line (\\n stands for a new line)';
  if (/\p{Nd}/u.test(character)) {
    return 'this is neither a number nor a name; a name that begins with a digit is quoted: "2nd_try"';
  }
  return `${shownCharacter(character)} means nothing here; names with such characters are quoted`;
}

/** As Python's `repr` shows a character. */
function shownCharacter(character: string): string {
  if (character === "'") return `"'"`;
  if (character === "\\") return "'\\\\'";
  if (!/[\p{C}\p{Z}]/u.test(character)) return `'${character}'`;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return `'${code.length <= 2 ? `\\x${code.padStart(2, "0")}` : code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`}'`;
}

/** A class or category as it was written. */
interface Value {
  value: Scalar;
  isFloat: boolean;
}

/** True is not 1, and "1" neither. */
function keyOf(value: Scalar): string {
  return `${typeof value}:${Object.is(value, -0) ? 0 : value}`;
}

class Reader {
  private readonly tokens: readonly Token[];
  private place = 0;
  private readonly featureAt: ReadonlyMap<string, number>;
  private readonly classAt: ReadonlyMap<string, number>;

  constructor(
    private readonly text: string,
    private readonly known: Vocabulary,
  ) {
    this.tokens = tokensOf(text);
    this.featureAt = new Map(known.features.map((feature, place) => [feature.name, place]));
    this.classAt = placesByKey(known.classes);
  }

  // --- Tokens ---

  private get token(): Token {
    return this.tokens[this.place];
  }

  get isAtEnd(): boolean {
    return this.token.kind === "end";
  }

  /** The next token for a message. */
  get shown(): string {
    const letters = Array.from(this.token.text);
    return this.isAtEnd ? "the end" : letters.length <= 40 ? this.token.text : `${letters.slice(0, 40).join("")}…`;
  }

  /** Whether the next token is one of these keywords or symbols. */
  sees(...words: string[]): boolean {
    const { kind, text } = this.token;
    return (kind === "word" || kind === "symbol") && words.includes(text.toUpperCase());
  }

  private next(): Token {
    return this.tokens[this.place++];
  }

  private take(...words: string[]): boolean {
    const isThere = this.sees(...words);
    if (isThere) this.place++;
    return isThere;
  }

  private expect(word: string): void {
    if (!this.take(word)) this.fail(`expected ${word}, found ${this.shown}`);
  }

  fail(problem: string, position = this.token.position): never {
    throw new RuleTextError(problem, this.text, position);
  }

  // --- Rules ---

  /** `IF` premise `THEN` class [`WITH` properties]. */
  rule(): NewRule {
    const { position } = this.token;
    this.expect("IF");
    const terms = this.premise();
    this.expect("THEN");
    const classIndex = this.label();
    const properties = this.take("WITH") ? this.properties() : { ...USUAL, priority: false, origin: null };
    const rule = { terms: mergedTerms(terms), classIndex, ...properties };
    const problem = wrongStatistics(rule);
    if (problem !== null) this.fail(problem, position);
    return rule;
  }

  private premise(): Term[] {
    if (this.sees("TRUE") && this.tokens[this.place + 1].text.toUpperCase() === "THEN") {
      this.place++;
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
      this.expect("KNOWN");
      const { categories } = this.known.features[feature];
      return this.made(feature, { codes: categories === null ? null : categories.map((_, code) => code) });
    }
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
    const term = this.bounded(feature, MIRRORED[comparison], bound);
    const isUpward = comparison === "<" || comparison === "<=";
    if (!(isUpward ? this.sees("<", "<=") : this.sees(">", ">="))) return term;
    const other = this.next().text;
    return intersection(term, this.bounded(feature, other, this.number()));
  }

  private oneSided(feature: number): Term {
    if (!this.sees("<", "<=", ">", ">=")) this.fail(`expected <, <=, >, >=, =, !=, IN, NOT IN or IS KNOWN, found ${this.shown}`);
    return this.bounded(feature, this.next().text, this.number());
  }

  private bounded(feature: number, comparison: string, bound: number): Term {
    const { position } = this.tokens[this.place - 1];
    const { name, kind } = this.known.features[feature];
    if (kind === "categorical") this.fail(`${writtenName(name)} is categorical; write = or IN {…}`, position);
    // Intervals are (low, high], so x < 3 and x ≥ 3 are met by the double just below 3.
    const cut = comparison === "<" || comparison === ">=" ? nextBelow(bound) : bound;
    if (!Number.isFinite(cut)) this.fail("there is no number below the smallest one", position);
    return this.made(feature, comparison === "<" || comparison === "<=" ? { high: cut + 0 } : { low: cut + 0 });
  }

  private equality(feature: number, position: number, isNegated: boolean): Term {
    const { name, kind } = this.known.features[feature];
    if (kind === "categorical") return this.valueSet(feature, [this.category(feature)], isNegated);
    if (kind === "binary") {
      const { kind: what, text } = this.token;
      const number = what === "number" ? Number(text) : NaN;
      if (!this.sees("TRUE", "FALSE") && number !== 0 && number !== 1) {
        this.fail(`${writtenName(name)} is binary; expected TRUE or FALSE, found ${this.shown}`);
      }
      const isTrue = number === 1 || this.sees("TRUE");
      this.place++;
      return this.made(feature, isTrue !== isNegated ? { low: 0 } : { high: 0 });
    }
    if (isNegated) {
      this.fail(`${writtenName(name)} is numeric, and all numbers but one are no interval; write two rules`, position);
    }
    const number = this.number();
    return intersection(this.bounded(feature, "<=", number), this.bounded(feature, ">=", number));
  }

  private setCodes(feature: number): number[] {
    const { name, kind } = this.known.features[feature];
    if (kind !== "categorical") this.fail(`${writtenName(name)} is ${kind}, and IN is for categories; write a comparison`);
    this.expect("{");
    const codes: number[] = [];
    while (!this.take("}")) {
      if (codes.length > 0) this.expect(",");
      codes.push(this.category(feature));
    }
    return codes;
  }

  private valueSet(feature: number, listed: readonly number[], isNegated: boolean): Term {
    const categories = this.known.features[feature].categories ?? [];
    const codes = categories.map((_, code) => code).filter((code) => listed.includes(code) !== isNegated);
    return this.made(feature, { codes });
  }

  private made(feature: number, part: Partial<Term>): Term {
    return { feature, low: -Infinity, high: Infinity, codes: null, ...part };
  }

  private properties(): Omit<NewRule, "terms" | "classIndex"> {
    const numbers: Record<Statistic, number> = { ...USUAL };
    const texts: { layer: string | null; clause: string | null } = { layer: null, clause: null };
    const given = new Set<string>();
    do {
      const { position } = this.token;
      const name = this.oneOf([...STATISTICS, "priority", "layer", "clause", "origin"] as const);
      if (given.has(name)) this.fail(`${name} stands twice`, position);
      given.add(name);
      if (name === "layer" || name === "clause") texts[name] = this.name();
      else if (name !== "priority" && name !== "origin") {
        const { position: place } = this.token;
        numbers[name] = this.number() + 0;
        const problem = name === "confidence" ? wrongStatistics({ ...USUAL, confidence: numbers[name] }) : null;
        if (problem !== null) this.fail(problem, place);
      }
    } while (this.take(","));
    const hasOrigin = given.has("layer") || given.has("clause") || given.has("origin");
    const origin: Origin | null = hasOrigin ? texts : null;
    return { ...numbers, priority: given.has("priority"), origin };
  }

  // --- Names and values ---

  private knownFeature(): number {
    const { position } = this.token;
    const name = this.name();
    const place = this.featureAt.get(name);
    if (place === undefined) this.fail(`there is no feature ${writtenName(name)}${meant(name, [...this.featureAt.keys()])}`, position);
    return place;
  }

  /** A bare or quoted word. */
  private name(): string {
    const { kind, text } = this.token;
    if (kind === "string") return this.string();
    if (kind !== "word") this.fail(`expected a name, found ${this.shown}`);
    if (KEYWORDS.has(text.toUpperCase())) this.fail(`expected a name, found ${text}; a name that is such a word is quoted: "${text}"`);
    return this.next().text;
  }

  private string(): string {
    const { text, position } = this.next();
    try {
      // JSON wants control characters escaped, this language does not.
      const escaped = text.replace(/\\.|[\x00-\x1f]/gs, (part) =>
        part.length > 1 ? part : `\\u${part.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      return JSON.parse(escaped) as string;
    } catch {
      this.fail("a backslash is followed by something unknown; write \\\\ for one", position);
    }
  }

  private value(): Value {
    const { kind, text } = this.token;
    if (kind === "number") return { value: this.number(), isFloat: !/^[+-]*[0-9]+$/.test(text) };
    if (this.sees("TRUE", "FALSE")) return { value: this.next().text.toUpperCase() === "TRUE", isFloat: false };
    if (kind !== "word" && kind !== "string") this.fail(`expected a value, found ${this.shown}`);
    return { value: this.name(), isFloat: false };
  }

  private number(): number {
    const { kind, text, position } = this.token;
    if (kind !== "number") this.fail(`expected a number, found ${this.shown}`);
    this.place++;
    const number = Number(text);
    if (text.length > 400 || !Number.isFinite(number)) this.fail("this number is too long or too large", position);
    return number;
  }

  private label(): number {
    const isFloat = this.known.classDtype.startsWith("float");
    return this.found(this.classAt, this.known.classes, "class", isFloat);
  }

  private category(feature: number): number {
    const { name, categories } = this.known.features[feature];
    const listed = categories ?? [];
    return this.found(placesByKey(listed), listed, `category of ${writtenName(name)}`, false);
  }

  /** The place of the known value that is meant: `1` may mean the text "1" where values are text. */
  private found(places: ReadonlyMap<string, number>, listed: readonly Scalar[], what: string, isFloat: boolean): number {
    const { text: raw, position } = this.token;
    const { value, isFloat: isWrittenFloat } = this.value();
    const place = places.get(keyOf(value)) ?? places.get(keyOf(raw));
    if (place !== undefined) return place;
    const near = meant(
      plain(value, isWrittenFloat),
      listed.map((other) => plain(other, isFloat)),
    );
    const first = listed.slice(0, 8).map((other) => writtenValue(other, isFloat));
    const more = listed.length > 8 ? ", …" : "";
    this.fail(`${writtenValue(value, isWrittenFloat)} is no ${what}${near}; there are ${first.join(", ")}${more}`, position);
  }

  private oneOf<T extends string>(choices: readonly T[]): T {
    const { kind, text } = this.token;
    const found = kind === "word" ? choices.find((choice) => choice === text.toLowerCase()) : undefined;
    if (found === undefined) this.fail(`expected ${choices.join(", ")}, found ${this.shown}`);
    this.place++;
    return found;
  }
}

function placesByKey(values: readonly Scalar[]): Map<string, number> {
  return new Map(values.map((value, place) => [keyOf(value), place]));
}

/** `; did you mean age?`, if something known looks alike. */
function meant(name: string, known: readonly string[]): string {
  const length = Array.from(name).length;
  if (length > MEANT_LENGTH) return "";
  const alike = [...new Set(known)].slice(0, MEANT_NAMES).filter((other) => Math.abs(Array.from(other).length - length) <= length);
  const near = closest(name, alike);
  return near === null ? "" : `; did you mean ${writtenName(near)}?`;
}

/** As Python's `str` writes a value. */
function plain(value: Scalar, isFloat: boolean): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return value;
  return isFloat ? pythonFloat(value) : String(value);
}

/** As Python writes floats: `2.0`, `1e+16`, `1e-05`. */
function pythonFloat(number: number): string {
  const size = Math.abs(number);
  if (size >= 1e16 || (size > 0 && size < 1e-4)) return number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return Number.isInteger(number) ? `${number}.0` : String(number);
}

// --- Canonical rules ---

/** One term per feature, sorted by feature; terms on the same feature are merged into their intersection. */
export function mergedTerms(terms: readonly Term[]): Term[] {
  const byFeature = new Map<number, Term>();
  for (const term of terms) {
    const known = byFeature.get(term.feature);
    byFeature.set(term.feature, known === undefined ? term : intersection(known, term));
  }
  return [...byFeature.values()].sort((a, b) => a.feature - b.feature);
}

function intersection(a: Term, b: Term): Term {
  const codes = a.codes === null || b.codes === null ? null : a.codes.filter((code) => b.codes?.includes(code));
  return { feature: a.feature, low: Math.max(a.low, b.low), high: Math.min(a.high, b.high), codes };
}

/** What is wrong with the numbers of a rule, or null. */
export function wrongStatistics({ confidence, cover, correct, weight }: Record<Statistic, number>): string | null {
  if (!(confidence >= 0 && confidence <= 1)) {
    return `The rule has confidence ${pythonFloat(confidence)}; it must lie between 0 and 1`;
  }
  // Sums of sample weights may differ in their last digits.
  if (!(correct >= 0 && correct * (1 - 1e-9) <= cover && cover < Infinity)) {
    const [given, right] = [pythonFloat(cover), pythonFloat(correct)];
    return `The rule covers ${given} rows and is correct on ${right}; expected 0 ≤ correct ≤ cover, both finite`;
  }
  return Number.isFinite(weight) ? null : `The rule has weight ${pythonFloat(weight)}; it must be finite`;
}
