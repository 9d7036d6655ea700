/** Edits that outlive the page: kept by the browser until they are discarded, or saved inside the page itself. */

import type { AnyPayload, EditsEntry, Payload } from "../payload";
import { readRuleFile, writeRuleFile } from "./ruleFile";
import type { Rule, RuleSet } from "./rules";

const PREFIX = "clausewise-edits-";

export function editsOf(set: RuleSet): EditsEntry {
  return { rules: writeRuleFile(set), ids: set.rules.map((rule) => rule.id) };
}

/** The edited rules; those that equal a rule of the report are that rule, so that nothing is computed twice. */
export function withEdits(original: RuleSet, edits: EditsEntry): RuleSet {
  const read = readRuleFile(edits.rules);
  const file = writeRuleFile(original);
  const sameSettings = original.classes.length === read.classes.length && original.base.every((votes, c) => votes === read.base[c]);
  const rules = read.rules.map((rule, place): Rule => {
    const id = edits.ids[place] ?? original.rules.length + place;
    const before = original.rules[id];
    const isSame = before !== undefined && JSON.stringify(file.rules[id]) === JSON.stringify(edits.rules.rules[place]);
    return isSame ? before : { ...rule, id };
  });
  // Shared with the original, so that an evaluation knows that only rules differ.
  return { ...original, ...(sameSettings ? {} : { base: read.base }), rules, changes: read.changes };
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
export class KeptText {
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
export class EditKeeper {
  private readonly text: KeptText;

  constructor(
    window: Window,
    payload: Payload,
    private readonly original: RuleSet,
  ) {
    this.text = new KeptText(window, payload);
  }

  /** The edits that were kept; null if there are none. */
  kept(): RuleSet | null {
    const text = this.text.read();
    if (text === null) return null;
    try {
      const edits: EditsEntry = JSON.parse(text);
      return withEdits(this.original, edits);
    } catch {
      return null;
    }
  }

  /** Keep edits, or forget them with null; returns whether that was possible. */
  keep(set: RuleSet | null): boolean {
    return this.text.write(set === null ? null : JSON.stringify(editsOf(set)));
  }
}
