/** Edits that outlive the page: kept by the browser until they are discarded, or saved inside the page itself. */

import type { AnyPayload } from "../payload";
import { withId } from "./edits";
import type { AnyRuleFile, RuleKind } from "./kind";
import type { AnyRule, AnyRules } from "./rules";

const PREFIX = "clausewise-edits-";

/** Edited rules: a rule file, and for each rule its id. */
export interface Edits {
  readonly rules: AnyRuleFile;
  readonly ids: readonly number[];
}

export function editsOf<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S): Edits {
  return { rules: kind.writeFile(set), ids: set.rules.map((rule) => rule.id) };
}

/** The edited rules; those that equal a rule of the report are that rule, so that nothing is computed twice. */
export function withEdits<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, original: S, edits: Edits): S {
  const read = kind.readFile(edits.rules);
  const file = kind.writeFile(original);
  const rules = read.rules.map((rule, place): R => {
    const id = edits.ids[place] ?? original.rules.length + place;
    const before = original.rules[id];
    const isSame = before !== undefined && JSON.stringify(file.rules[id]) === JSON.stringify(edits.rules.rules[place]);
    return isSame ? before : withId<R>(rule, id);
  });
  // Shared with the original, so that an evaluation knows that only rules differ.
  return { ...original, ...kind.editedSettings(original, read), rules, changes: read.changes };
}

/** A key under which the browser keeps edits of this report and of no other. */
function keyOf({ title, rules, edits, rows }: AnyPayload): string {
  return PREFIX + hash(JSON.stringify([title, rules, edits ?? null, rows?.n_total ?? 0, rows?.seed ?? 0]));
}

/** FNV-1a twice, from two starts: 64 bits, enough to tell reports apart. */
function hash(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36);
}

/** A text that the browser keeps for one report; it may refuse, as in a notebook's frame. */
class KeptText {
  private readonly key: string;

  constructor(
    private readonly window: Window,
    payload: AnyPayload,
  ) {
    this.key = keyOf(payload);
  }

  /** The text that was kept; null if there is none. */
  read(): string | null {
    try {
      return this.window.localStorage.getItem(this.key);
    } catch {
      return null;
    }
  }

  /** Keep a text, or forget it with null; returns whether that was possible. */
  write(text: string | null): boolean {
    try {
      if (text === null) this.window.localStorage.removeItem(this.key);
      else this.window.localStorage.setItem(this.key, text);
      return true;
    } catch {
      return false;
    }
  }
}

/** Where the browser keeps the edits of one report. */
export class EditKeeper<R extends AnyRule, S extends AnyRules<R>> {
  private readonly text: KeptText;

  constructor(
    window: Window,
    payload: AnyPayload,
    private readonly kind: RuleKind<R, S>,
    private readonly original: S,
  ) {
    this.text = new KeptText(window, payload);
  }

  /** The edits that were kept; null if there are none. */
  kept(): S | null {
    const text = this.text.read();
    if (text === null) return null;
    try {
      const edits: Edits = JSON.parse(text);
      return withEdits(this.kind, this.original, edits);
    } catch {
      return null;
    }
  }

  /** Keep edits, or forget them with null; returns whether that was possible. */
  keep(set: S | null): boolean {
    return this.text.write(set === null ? null : JSON.stringify(editsOf(this.kind, set)));
  }
}
