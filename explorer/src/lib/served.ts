/** The requests of a served page: predictions of the network, and measures on all rows. Files on disk send none. */

import type { NumberMeasuresEntry, NumberRuleFile, RuleFile, Scalar, ServedEntry } from "../payload";

/** The network's predictions, one label per row. */
export interface NetworkAnswer {
  labels: Scalar[];
  /** Per row one number per class of `classes`; null if the network gives none. */
  probabilities: number[][] | null;
  classes: Scalar[];
}

/** Measures of rules on all rows of the server. */
export interface ServedMeasures {
  n_rows: number;
  fidelity: number | null;
  accuracy: number | null;
  coverage: number;
}

/** Raw values, one per feature, null where missing; or other values, by feature, of a row of the data. */
export type AskedRow = readonly (Scalar | null)[] | { number: number; changes: readonly (readonly [feature: number, value: Scalar | null])[] };

export function askNetwork(served: ServedEntry, rows: readonly AskedRow[], signal: AbortSignal): Promise<NetworkAnswer> {
  return ask<NetworkAnswer>(`${served.api}predict`, { rows }, signal);
}

export function askMeasures(served: ServedEntry, rules: RuleFile, signal: AbortSignal): Promise<ServedMeasures> {
  return ask<ServedMeasures>(`${served.api}measures`, { rules }, signal);
}

/** The network's numbers, one per row. */
export function askNumbers(served: ServedEntry, rows: readonly AskedRow[], signal: AbortSignal): Promise<{ numbers: number[] }> {
  return ask<{ numbers: number[] }>(`${served.api}predict`, { rows }, signal);
}

export function askNumberMeasures(served: ServedEntry, rules: NumberRuleFile, signal: AbortSignal): Promise<NumberMeasuresEntry> {
  return ask<NumberMeasuresEntry>(`${served.api}measures`, { rules }, signal);
}

async function ask<T>(address: string, question: object, signal: AbortSignal): Promise<T> {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
    signal,
  });
  const reply = (await answer.json()) as T & { error?: string };
  if (!answer.ok) throw new Error(reply.error ?? `the server answered with status ${answer.status}`);
  return reply;
}
