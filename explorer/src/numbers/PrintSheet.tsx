/** What is printed: the headline, all rules in full, the linear part and all changes. */

import { writeChanges } from "../lib/edits";
import { rowsShown } from "../lib/rows";
import { describePremise, formatName } from "../lib/text";
import { headline } from "./lib/story";
import { amount, describeLimits, describeLinear, signed } from "./lib/text";
import { useNumberStore } from "./store";

export function PrintSheet() {
  const store = useNumberStore();
  const set = store.rules.value;
  return (
    <>
      <h1>{formatName(store.payload.title)}</h1>
      <p class="print-headline">{headline(store)}</p>
      <p class="print-basis">
        {store.payload.created_with} · {store.table === null ? "no data" : `${rowsShown(store.table)} in the page`}
        {store.isEdited.value ? " · edited" : ""}
      </p>
      <h2>Start at {amount(set.base)}, and add{set.link === "log" ? "; the prediction is e to the power of the sum" : ""}</h2>
      <ol class="print-rules" start={0}>
        {set.rules.map((rule) => (
          <li key={rule.id}>
            <strong>{signed(rule.addition)}</strong> if {describePremise(rule, set.features)}
          </li>
        ))}
      </ol>
      {set.linear.length > 0 && (
        <ul>
          {set.linear.map((term) => (
            <li key={term.feature}>
              {describeLinear(term, set)} {describeLimits(term) === "" ? "" : `(${describeLimits(term)})`}
            </li>
          ))}
        </ul>
      )}
      {set.changes.length > 0 && (
        <>
          <h2>Changes</h2>
          <pre>{writeChanges(set.changes)}</pre>
        </>
      )}
    </>
  );
}
