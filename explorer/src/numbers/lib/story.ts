/** What the page says first: one sentence on how well the rules do. */

import { counted, percent } from "../../lib/text";
import type { ErrorsEntry } from "../../payload";
import type { Judge, NumberStore } from "../store";
import { responseName, short } from "./text";

export const JUDGES: ReadonlyMap<Judge, { whose: string; name: string }> = new Map([
  ["network", { whose: "the network's numbers", name: "the network" }],
  ["truth", { whose: "the true numbers", name: "the truth" }],
]);

/** How well the rules do against a judge: on all rows given, or, once they are edited, on the rows in the page. */
export interface Standing {
  readonly nRows: number;
  readonly isOfAll: boolean;
  readonly rSquared: number;
  readonly interval: readonly number[] | null;
  readonly meanAbsolute: number;
  readonly baseline: number;
}

export function standingOf(store: NumberStore, judge: Judge): Standing | null {
  const given = givenErrors(store, judge);
  if (given !== null && !store.isEdited.value) {
    return {
      nRows: store.payload.measures?.n_rows ?? 0,
      isOfAll: true,
      rSquared: given.r_squared ?? NaN,
      interval: given.r_squared_interval,
      meanAbsolute: given.mean_absolute ?? NaN,
      baseline: given.baseline_mean_absolute ?? NaN,
    };
  }
  const fit = store.fitTo(judge);
  return fit === null ? null : { ...fit, isOfAll: store.table?.nRows === store.table?.nTotal, interval: null };
}

export function givenErrors(store: NumberStore, judge: Judge): ErrorsEntry | null {
  const { measures } = store.payload;
  return (judge === "network" ? measures?.to_network : measures?.to_truth) ?? null;
}

/** "12 rules explain 91 % (89–93) of the variation in the network's numbers on 1,200 rows; …". */
export function headline(store: NumberStore): string {
  const set = store.rules.value;
  const who = `${counted(set.rules.length, "rule")}${set.linear.length > 0 ? ` and ${counted(set.linear.length, "coefficient")}` : ""}`;
  const judge = store.judge.value;
  const found = judge === null ? null : standingOf(store, judge);
  const why = store.whyUnknown.value;
  if (why !== null) return `${who}; what they predict is not known here: ${why}.`;
  if (judge === null || found === null) return `${who} for ${set.response === null ? "a number" : responseName(set)}: ${start(store)}`;
  const rows = `${counted(found.nRows, "row")}${found.isOfAll ? "" : " in this page"}`;
  const whose = JUDGES.get(judge)?.whose ?? judge;
  const off = `On average they are off by ${short(rounded(found.meanAbsolute))}; always answering the mean would be off by ${short(rounded(found.baseline))}.`;
  if (!Number.isFinite(found.meanAbsolute)) return `${who}, on ${rows}; some predictions are not finite.`;
  if (Number.isNaN(found.rSquared)) return `${who}, on ${rows} on which ${whose} are all the same. ${off}`;
  if (found.rSquared <= 0) return `${who} explain none of the variation in ${whose} on ${rows}. ${off}`;
  const [low, high] = (found.interval ?? []).map((bound) => percent(Math.max(0, bound), 0).replace(" %", ""));
  const interval = found.interval === null ? "" : ` (${low === high ? low : `${low}–${high}`})`;
  return `${who} explain${set.rules.length + set.linear.length === 1 ? "s" : ""} ${percent(found.rSquared, 0)}${interval} of the variation in ${whose} on ${rows}. ${off}`;
}

function start(store: NumberStore): string {
  return `start at ${short(store.rules.value.base)}, and add what each rule that holds says.`;
}

/** Two significant digits, as in "off by 0.21". */
export function rounded(number: number): number {
  return Number.isFinite(number) ? Number(number.toPrecision(2)) : number;
}

/** Places of the rules, those that move the numbers most first: by the standard deviation of what they add. */
export function strongest(store: NumberStore): number[] {
  const set = store.rules.value;
  const found = store.evaluation.value;
  const parts = set.rules.map((_, place) => (store.table === null ? 0.5 : (found?.nCovered[place] ?? store.table.nRows / 2) / Math.max(1, store.table.nRows)));
  const strength = set.rules.map((rule, place) => Math.abs(rule.addition) * Math.sqrt(parts[place] * (1 - parts[place])));
  return [...set.rules.keys()].sort((a, b) => strength[b] - strength[a] || a - b);
}
