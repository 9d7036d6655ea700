/** The error that points at a place in a rule text. */

// Names may be megabytes long.
const MAX_PROBLEM = 1000;

/** Text that is not in the rule language, or names something unknown. */
export class RuleTextError extends Error {
  /** The message without the place. */
  readonly problem: string;
  /** Counted from 1, in Unicode characters. */
  readonly line: number;
  readonly column: number;

  constructor(
    problem: string,
    text: string,
    /** Where, as an index of the JavaScript string. */
    readonly position: number,
  ) {
    const begin = text.lastIndexOf("\n", position - 1) + 1;
    const line = text.slice(0, begin).split("\n").length;
    const column = Array.from(text.slice(begin, position)).length + 1;
    const letters = Array.from(problem);
    const shown = letters.length > MAX_PROBLEM ? `${letters.slice(0, MAX_PROBLEM).join("")}…` : problem;
    super(`line ${line}, column ${column}: ${shown}`);
    this.problem = shown;
    this.line = line;
    this.column = column;
  }
}
