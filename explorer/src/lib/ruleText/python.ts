/** Values as Python's `repr` and `str` write them, so that messages are worded alike. */

import type { Scalar } from "../../payload";

/** A character as Python's `repr` writes it. */
export function reprOfCharacter(character: string): string {
  if (character === "'") return `"'"`;
  if (character === "\\") return "'\\\\'";
  if (!/[\p{C}\p{Z}]/u.test(character)) return `'${character}'`;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return `'${code.length <= 2 ? `\\x${code.padStart(2, "0")}` : code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`}'`;
}

/** A value as Python's `str` writes it. */
export function strOf(value: Scalar, isFloat: boolean): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return value;
  return isFloat ? strOfFloat(value) : String(value);
}

/** A float as Python writes it: `2.0`, `1e+16`, `1e-05`. */
export function strOfFloat(number: number): string {
  if (Object.is(number, -0)) return "-0.0";
  const size = Math.abs(number);
  if (size >= 1e16 || (size > 0 && size < 1e-4)) return number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return Number.isInteger(number) ? `${number}.0` : String(number);
}
