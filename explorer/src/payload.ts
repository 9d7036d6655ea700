/**
 * The JSON inside a report, as payload.py and number_payload.py in src/clausewise/report write it. Its types are generated from the schemas
 * (scripts/payloadTypes.mjs); here is how it is read.
 */

import type { AnyPayload, FeatureEntry, NumberPayload, RuleFile } from "./payload.generated";

export type * from "./payload.generated";

export type Kind = FeatureEntry["kind"];
export type Voting = RuleFile["voting"];

/** The payload of this page; throws an Error with a readable message if there is none. */
export function readPayload(root: Document): AnyPayload {
  const element = root.getElementById("clausewise-payload");
  if (element === null) throw new Error("This page contains no report data.");
  const parsed: unknown = JSON.parse(element.textContent ?? "");
  if (!isPayload(parsed)) {
    throw new Error("The data in this page is not a clausewise report, or it has a version that this page cannot show.");
  }
  return parsed;
}

/** Whether a report is on rules for numbers. */
export function isForNumbers(payload: AnyPayload): payload is NumberPayload {
  return "kind" in payload;
}

function isPayload(value: unknown): value is AnyPayload {
  if (typeof value !== "object" || value === null) return false;
  return "format" in value && value.format === "clausewise-report" && "version" in value && value.version === 1;
}
