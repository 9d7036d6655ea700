/** What there is to say about a rule set at first sight: how often it decides as it should, against what, and where it is weakest. */

import { computed, type ReadonlySignal } from "@preact/signals";
import type { Scalar } from "../payload";
import type { Store } from "../store";
import { allBits, countBits } from "./bits";
import { agreementOf, type Confusion, confusionGiven, confusionHere, decidedOnly } from "./confusion";
import { scoresOf } from "./evaluate";
import { intervalText, wilson } from "./intervals";
import { agreementOf as ruleAgreement } from "./measures";
import { misleading } from "./misled";
import { perStore } from "./perStore";
import { type Judge, samePlaces } from "./selection";
import { counted, formatLabel, grouped, percent } from "./text";
import { probabilitiesOf, votesOf } from "./votes";

/** How often two judges agree, with all that is needed to read the number. */
export interface Agreement {
  readonly a: Judge;
  readonly b: Judge;
  readonly nRows: number;
  /** Whether counted on all data given, or on the rows in this page. */
  readonly isOfAll: boolean;
  readonly part: number;
  readonly interval: readonly [number, number];
  /** Always answering the most frequent class of `a`. */
  readonly baseline: number;
  readonly baselineClass: Scalar;
  /** Per label that `a` gives to a row. */
  readonly classes: readonly ClassAgreement[];
}

export interface ClassAgreement {
  /** The place of the label among those of `a`. */
  readonly place: number;
  readonly label: Scalar;
  readonly nRows: number;
  readonly part: number;
  readonly interval: readonly [number, number];
}

/** On all data given if that is known, else on the rows in this page; null if the labels are not there. */
export function agreementBetween(store: Store, a: Judge, b: Judge): Agreement | null {
  return agreementsOf(store)(a, b).value;
}

/** Counted once per pair and edit, however many parts of the page show it. */
const agreementsOf = perStore((store) => {
  const known = new Map<string, ReadonlySignal<Agreement | null>>();
  return (a: Judge, b: Judge) => {
    let found = known.get(`${a}.${b}`);
    if (found === undefined) known.set(`${a}.${b}`, (found = computed(() => countAgreement(store, a, b))));
    return found;
  };
});

function countAgreement(store: Store, a: Judge, b: Judge): Agreement | null {
  const { table } = store;
  const found = store.evaluation.value;
  const given = store.payload.confusion?.find((entry) => entry.rows === a && entry.columns === b);
  if (given !== undefined && !(store.isEdited.value && b === "rules")) return agreementIn(decidedOnly(confusionGiven(given, store.original.classes), store.original), true);
  const here = table === null || found === null ? null : confusionHere(a, b, table, found);
  return here === null ? null : agreementIn(decidedOnly(here, store.rules.value), table !== null && table.nRows === table.nTotal);
}

function agreementIn(confusion: Confusion, isOfAll: boolean): Agreement | null {
  const { a, b, aNames, bNames, counts, nRows } = confusion;
  if (nRows === 0) return null;
  const same = samePlaces(aNames, bNames);
  const sums = counts.map((row) => row.reduce((sum, n) => sum + n, 0));
  const largest = sums.indexOf(Math.max(...sums));
  const part = agreementOf(confusion);
  const classes = aNames.flatMap((label, place): ClassAgreement[] => {
    const hits = counts[place][same[place]] ?? 0;
    return sums[place] === 0 ? [] : [{ place, label, nRows: sums[place], part: hits / sums[place], interval: wilson(hits, sums[place]) }];
  });
  return { a, b, nRows, isOfAll, part, interval: wilson(Math.round(part * nRows), nRows), baseline: sums[largest] / nRows, baselineClass: aNames[largest], classes };
}

/** The class on which the judges agree least, if that is less than elsewhere. */
export function weakest({ classes, part }: Agreement): ClassAgreement | null {
  const sorted = [...classes].sort((x, y) => x.part - y.part || y.nRows - x.nRows);
  return sorted.length > 1 && sorted[0].part < part ? sorted[0] : null;
}

/** The story in one or two sentences. */
export function headline(store: Store): string {
  const set = store.rules.value;
  const rules = set.rules.length === 0 ? "No rules: the default" : counted(set.rules.length, "rule");
  const why = store.whyUnknown.value;
  if (why !== null) return `${rules}. How often they decide as they should is not known here: ${why}, which the edited rules test.`;
  const verb = (plural: string, singular: string) => (set.rules.length > 1 ? plural : singular);
  const asNetwork = agreementBetween(store, "network", "rules");
  const asTruth = agreementBetween(store, "truth", "rules");
  const shown = asNetwork ?? asTruth;
  if (shown === null) {
    const tested = new Set(set.rules.flatMap((rule) => rule.terms.map((term) => term.feature)));
    return `${rules} ${verb("test", "tests")} ${counted(tested.size, "feature")} and ${verb("decide", "decides")} between ${counted(set.classes.length, "class", "classes")}. The report was made without labels, so how often they are right is not known.`;
  }
  const what = shown === asNetwork ? `${verb("decide", "decides")} as the network does` : `${verb("are", "is")} right`;
  const where = `${shown.isOfAll ? "" : "the "}${counted(shown.nRows, "row")}${shown.isOfAll ? "" : " in this page"}`;
  const least = weakest(shown);
  return (
    `${rules} ${what} on ${percent(shown.part)} of ${where} (${intervalText(shown.interval)}); ` +
    `always answering ${formatLabel(shown.baselineClass)} would reach ${percent(shown.baseline)}.` +
    (least === null ? "" : ` Weakest: class ${formatLabel(least.label)}, ${percent(least.part, 0)}.`)
  );
}

/** Places of the rules that decide most: those that cast most votes on the rows here, or on the training rows. */
export function strongestRules(store: Store, most: number): number[] {
  const set = store.rules.value;
  const found = store.evaluation.value;
  const strength = set.rules.map((rule, place) => Math.abs(votesOf(rule, set.voting)) * (found === null ? rule.cover : countBits(found.covers[place])));
  return [...set.rules.keys()].sort((a, b) => strength[b] - strength[a] || a - b).slice(0, most);
}

// --- Needs attention ---

export interface Concern {
  readonly place: number;
  /** The reason, in words; there may be thousands, of which a few are shown. */
  readonly text: () => string;
}

/** A rule hardly fires below this fraction of the rows, if there are enough rows to say so. */
const HARDLY = 0.002;
const ENOUGH_ROWS = 500;

/** Rules that hardly fire, that the network contradicts, or that mislead; the worst first, one reason each. */
export function concernsOf(store: Store): Concern[] {
  const { table } = store;
  const found = store.evaluation.value;
  if (table === null || found === null || table.nRows === 0 || store.whyUnknown.value !== null) return [];
  const set = store.rules.value;
  const judge = table.network !== null ? ("network" as const) : table.truth !== null ? ("truth" as const) : null;
  const reference = judge === null ? null : table[judge];
  const concerns = new Map<number, () => string>();
  const fires = found.covers.map(countBits);
  const nFires = (place: number) => fires[place];
  if (reference !== null && judge !== null) {
    const everywhere = allBits(table.nRows);
    const contradicted = [...set.rules.keys()].flatMap((place) => {
      const rule = set.rules[place];
      const part = ruleAgreement(rule, set.voting, found.covers[place], reference.codes);
      if (part === null || nFires(place) < 5) return [];
      // Fitted weights shift the odds: a rule is contradicted if its class is rarer where it fires than elsewhere.
      const common = set.voting === "weights" ? (ruleAgreement(rule, set.voting, everywhere, reference.codes) ?? 0) : 0.5;
      return part < common ? [{ place, part, common }] : [];
    });
    contradicted.sort((a, b) => a.part - a.common - (b.part - b.common) || a.place - b.place);
    const who = judge === "network" ? "the network agrees" : "the truth agrees";
    for (const { place, part, common } of contradicted) {
      concerns.set(place, () => `${who} on only ${percent(part, 0)} of its ${counted(nFires(place), "row")}${set.voting === "weights" ? `, less than on all rows (${percent(common, 0)})` : ""}`);
    }
    const all = Array.from({ length: table.nRows }, (_, row) => row);
    for (const { place, nRows } of misleading(found, table, all, judge).slice(0, 3)) {
      if (nRows >= 3 && !concerns.has(place)) concerns.set(place, () => `its class won on ${grouped(nRows)} of its ${counted(nFires(place), "row")} although ${judge === "network" ? "the network says otherwise" : "the truth is another"}`);
    }
  }
  if (table.nRows >= ENOUGH_ROWS) {
    const rare = [...set.rules.keys()].filter((place) => nFires(place) < HARDLY * table.nRows).sort((a, b) => nFires(a) - nFires(b) || a - b);
    for (const place of rare) if (!concerns.has(place)) concerns.set(place, () => (nFires(place) === 0 ? `fires on none of the ${grouped(table.nRows)} rows in this page` : `fires on only ${grouped(nFires(place))} of ${grouped(table.nRows)} rows in this page`));
  }
  return [...concerns].map(([place, text]) => ({ place, text }));
}

// --- How sure a decision is ---

export interface Sureness {
  /** The share of the votes, or the probability if the weights are calibrated. */
  readonly part: number;
  readonly isProbability: boolean;
  /** Rows of this page with the same decision and about the same share, and the fraction of them on which the judge agrees. */
  readonly nAlike: number;
  readonly agreed: number | null;
  readonly judge: "network" | "truth";
}

/** Of each row of the page, the share of votes (or the probability) of the class that is decided. */
export function winningParts(store: Store): Float64Array {
  const found = store.evaluation.value;
  if (found === null) return new Float64Array(0);
  return Float64Array.from({ length: found.nRows }, (_, row) => probabilitiesOf(scoresOf(found, row), found.set)[found.decisions[row]]);
}

/** Shares that differ by at most this are alike. */
const ALIKE = 0.05;

export function surenessOf(store: Store, part: number, decision: number, parts: Float64Array): Sureness {
  const { table } = store;
  const found = store.evaluation.value;
  const judge = table?.network != null ? ("network" as const) : ("truth" as const);
  const labels = table?.[judge] ?? null;
  let [n, hits] = [0, 0];
  for (let row = 0; found !== null && row < found.nRows; row++) {
    if (found.decisions[row] !== decision || Math.abs(parts[row] - part) > ALIKE || found.nFired[row] === 0) continue;
    n++;
    if (labels !== null && labels.codes[row] === decision) hits++;
  }
  return { part, isProbability: isCalibrated(store), nAlike: n, agreed: labels === null || n === 0 ? null : hits / n, judge };
}

/** Fitted weights have a scale on which their softmax is a probability; votes of other schemes are only shares. */
export function isCalibrated(store: Store): boolean {
  const { voting, scale, base } = store.rules.value;
  return voting === "weights" && (scale !== 1 || base.some((votes) => votes !== 0));
}

export function surenessText({ part, isProbability, nAlike, agreed, judge }: Sureness): string {
  const share = `${isProbability ? "probability" : "vote share"} ${percent(part, 0)}`;
  if (agreed === null) return share;
  return `${share} · of such rows ${percent(agreed, 0)} ${judge === "network" ? "agreed with the network" : "were right"} (${counted(nAlike, "row")})`;
}

