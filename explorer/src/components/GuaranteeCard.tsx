/** What was promised about fresh rows: one sentence, and every interval for whoever asks. */

import { grouped, percent } from "../lib/text";
import type { GuaranteeEntry } from "../payload";

interface Properties {
  readonly guarantee: GuaranteeEntry;
  /** Whether the reader has edited the rules, so that nothing is promised about them any more. */
  readonly isEdited: boolean;
}

export function GuaranteeCard({ guarantee, isEdited }: Properties) {
  return (
    <section class="card full guarantee" aria-labelledby="guarantee">
      <h2 id="guarantee">Guarantee</h2>
      <p>{guarantee.summary.replaceAll(" %", "\u00a0%")}</p>
      {isEdited && <p class="quiet">It is about the rules of the report, not about your edits.</p>}
      <details>
        <summary>All intervals, and what is promised</summary>
        <p>{guarantee.explanation}</p>
        <table>
          <thead>
            <tr>
              <th scope="col">Of all rows like these</th>
              <th scope="col" class="end">at least</th>
              <th scope="col" class="end">at most</th>
              <th scope="col" class="end">fresh rows</th>
            </tr>
          </thead>
          <tbody>
            {guarantee.promises.map(({ subject, interval, n_rows }) => (
              <tr key={subject}>
                <th scope="row">{subject}</th>
                <td class="end">{percent(Math.floor(1000 * interval[0]) / 1000)}</td>
                <td class="end">{percent(Math.ceil(1000 * interval[1]) / 1000)}</td>
                <td class="end">{grouped(n_rows)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {guarantee.notes.map((note) => (
          <p key={note} class="quiet">
            {note}
          </p>
        ))}
      </details>
    </section>
  );
}
