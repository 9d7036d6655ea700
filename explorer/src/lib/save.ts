/** Files that the page makes: rule files as `RuleSet.save` writes them, and plain text. */

import type { NumberRuleFile, RuleFile } from "../payload";

/** JSON with one rule per line, so that versions of a file can be compared line by line. */
export function ruleFileText(file: RuleFile | NumberRuleFile): string {
  const { features, rules, changes, ...head } = file;
  const lines = Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${spaced(value)},`);
  const lists = [listed("features", features), listed("rules", rules), ...(changes === undefined ? [] : [listed("changes", changes)])];
  return ["{", ...lines, lists.join(",\n"), "}", ""].join("\n");
}

function listed(key: string, entries: readonly object[]): string {
  const inside = entries.map((entry) => `    ${spaced(entry)}`).join(",\n");
  return entries.length === 0 ? `  "${key}": []` : `  "${key}": [\n${inside}\n  ]`;
}

/** JSON in one line, with spaces where Python puts them. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${spaced(field)}`);
  return `{${fields.join(", ")}}`;
}

/** Offers a file for download. */
export function download(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * This page as a file, with another payload: the same head, script and style sheet, byte for byte, so that the policy of
 * the page still allows them.
 */
export function pageWith(page: Document, payload: string): string {
  const root = page.documentElement.cloneNode(true) as HTMLElement;
  root.removeAttribute("data-theme");
  const app = root.querySelector("#app");
  if (app !== null) app.textContent = "";
  const data = root.querySelector("#clausewise-payload");
  // "<" only occurs in strings of JSON; escaped, it cannot end the element.
  if (data !== null) data.textContent = payload.replaceAll("<", "\\u003c");
  return `<!doctype html>\n${root.outerHTML}\n`;
}

/** Puts a text on the clipboard; returns whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not allowed here, or not focused: the old way, through a selected field.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    return isDone;
  }
}

/** A file name made of the report's title. */
export function fileName(title: string, what: string): string {
  const plain = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 40);
  return plain === "" ? what : `${plain}-${what}`;
}
