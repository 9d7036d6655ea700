/** The list of changes, and files to save. */

import { withNote, writeChanges } from "../../lib/edits";
import { download, fileName } from "../../lib/save";
import { counted } from "../../lib/text";
import { usePage } from "../../pageStore";

export function Changes() {
  const store = usePage();
  const set = store.rules.value;
  const { title } = store.payload;
  const nBefore = store.original.changes.length;
  const { changes } = set;
  return (
    <section class="changes" aria-label="List of changes">
      <h2>{changes.length === 0 ? "No changes" : counted(changes.length, "change")}</h2>
      <p class="row-buttons">
        <button type="button" disabled={changes.length === 0} onClick={() => download(`${fileName(title, "changes")}.txt`, writeChanges(changes), "text/plain")}>
          Save the list of changes
        </button>
        {store.isEdited.value && (
          <>
            <button type="button" onClick={() => store.show("compare")}>
              Compare
            </button>
            <button type="button" onClick={() => store.edit(store.original)}>
              Discard all
            </button>
          </>
        )}
      </p>
      <ol class="change-list" reversed>
        {[...changes.keys()].reverse().map((i) => {
          const { action, rule, before, after, note } = changes[i];
          return (
            <li key={i}>
              <span>
                {action} rule {rule}
                {i < nBefore && <span class="quiet"> · before this report</span>}
              </span>
              {before !== undefined && <code class="gone">− {before}</code>}
              {after !== undefined && <code class="come">+ {after}</code>}
              {i < nBefore ? (
                note !== undefined && <span class="quiet">{note}</span>
              ) : (
                <input
                  aria-label={`Reason for change ${i + 1}`}
                  placeholder="reason"
                  value={note ?? ""}
                  onChange={(event) => store.edit(withNote(set, i, event.currentTarget.value))}
                />
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
