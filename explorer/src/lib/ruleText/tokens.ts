/** Tokens of the rule language, and a cursor that walks over them. */

import { RuleTextError } from "./errors";
import { reprOfCharacter } from "./python";

/** Words, in any case, that must be quoted to be names. */
const KEYWORDS = new Set(
  ["IF", "AND", "THEN", "WITH", "IN", "NOT", "IS", "KNOWN", "TRUE", "FALSE"].concat(
    ["FEATURE", "CLASSES", "DEFAULT", "VOTING", "BASE", "SCALE", "COLUMNS"],
  ),
);

/** A comparison with its sides swapped: `3 < x` is `x > 3`. */
export function mirrored(comparison: string): string {
  return comparison.replace(/[<>]/, (sign) => (sign === "<" ? ">" : "<"));
}

// As in Python, letters and digits are those of all scripts; numbers are written with 0 to 9.
const WORD = String.raw`(?:(?!\p{Nd})[\p{L}\p{N}_])[\p{L}\p{N}_.]*`;
const TOKEN = new RegExp(
  String.raw`(?<space>[\s\x1c-\x1f\x85\ufeff]+|#[^\n]*)` +
    String.raw`|(?<string>"(?:[^"\\\n]|\\[^\n])*")` +
    String.raw`|(?<number>[+\-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?(?![\p{L}\p{N}_.]))` +
    `|(?<word>${WORD})` +
    String.raw`|(?<symbol><=|>=|!=|<>|==|[<>=≤≥≠∈∉\{\}\(\),])`,
  "yu",
);
const BARE_WORD = new RegExp(`^${WORD}$`, "u");
const SAME_SYMBOL: ReadonlyMap<string, string> = new Map([
  ["≤", "<="],
  ["≥", ">="],
  ["≠", "!="],
  ["<>", "!="],
  ["==", "="],
  ["∈", "IN"],
]);

/** Whether a name can be written without quotes. */
export function isBareName(name: string): boolean {
  return BARE_WORD.test(name) && !isKeyword(name);
}

export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word.toUpperCase());
}

export interface Token {
  kind: "string" | "number" | "word" | "symbol" | "end";
  text: string;
  position: number;
}

/** The tokens of a text without spaces and comments; the last one is the end. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let position = 0; position < text.length; ) {
    TOKEN.lastIndex = position;
    const match = TOKEN.exec(text);
    if (match === null) throw new RuleTextError(unreadable(text, position), text, position);
    const found = match[0];
    const kind = (["string", "number", "word", "symbol"] as const).find((name) => match.groups?.[name] !== undefined);
    if (kind !== undefined) tokens.push({ kind, text: SAME_SYMBOL.get(found) ?? found, position });
    position += found.length;
  }
  tokens.push({ kind: "end", text: "", position: text.length });
  return tokens;
}

function unreadable(text: string, position: number): string {
  const character = String.fromCodePoint(text.codePointAt(position) ?? 0);
  if (character === '"') return 'unterminated string; close it with " on the same line (\\n stands for a line break)';
  if (/\p{Nd}/u.test(character)) {
    return 'this is neither a number nor a name; quote a name that starts with a digit: "2nd_try"';
  }
  return `unexpected character ${reprOfCharacter(character)}; quote names that contain it`;
}

/** Walks over the tokens of a text from first to last. */
export class TokenCursor {
  private readonly tokens: readonly Token[];
  private place = 0;

  constructor(private readonly text: string) {
    this.tokens = tokensOf(text);
  }

  /** The next token. */
  protected get token(): Token {
    return this.tokens[this.place];
  }

  /** The position of the token that was read last. */
  protected get lastPosition(): number {
    return this.tokens[this.place - 1].position;
  }

  get isAtEnd(): boolean {
    return this.token.kind === "end";
  }

  /** The next token, shortened for a message. */
  get shown(): string {
    const letters = Array.from(this.token.text);
    return this.isAtEnd ? "the end" : letters.length <= 40 ? this.token.text : `${letters.slice(0, 40).join("")}…`;
  }

  /** Whether the next token is one of these keywords or symbols. */
  sees(...words: string[]): boolean {
    return isOneOf(this.token, words);
  }

  /** Whether the token after the next is one of these keywords or symbols. */
  protected seesAfter(...words: string[]): boolean {
    return this.place + 1 < this.tokens.length && isOneOf(this.tokens[this.place + 1], words);
  }

  /** Read the next token. */
  protected next(): Token {
    return this.tokens[this.place++];
  }

  /** Read the next token if it is one of these keywords or symbols; whether it was. */
  protected take(...words: string[]): boolean {
    const isThere = this.sees(...words);
    if (isThere) this.place++;
    return isThere;
  }

  /** Read the next token, which must be this keyword or symbol. */
  protected expect(word: string): void {
    if (!this.take(word)) this.fail(`expected ${word}, found ${this.shown}`);
  }

  /** Throw an error at the next token, or at a position of the text. */
  fail(problem: string, position = this.token.position): never {
    throw new RuleTextError(problem, this.text, position);
  }

  /** Read the next token, which must be one of these words in any case. */
  protected oneOf<T extends string>(choices: readonly T[]): T {
    const { kind, text } = this.token;
    const found = kind === "word" ? choices.find((choice) => choice.toLowerCase() === text.toLowerCase()) : undefined;
    if (found === undefined) this.fail(`expected ${choices.join(", ")}, found ${this.shown}`);
    this.place++;
    return found;
  }
}

function isOneOf({ kind, text }: Token, words: readonly string[]): boolean {
  return (kind === "word" || kind === "symbol") && words.includes(text.toUpperCase());
}
