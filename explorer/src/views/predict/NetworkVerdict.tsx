/** What the network predicts for the row: recorded in the report, or asked of the server. */

import { useSignal } from "@preact/signals";
import { ClassChip } from "../../components/ClassMark";
import { useReply } from "../../lib/asking";
import type { Counterfactual } from "../../lib/counterfactuals/search";
import { questionOf, type RowDraft } from "../../lib/rowDraft";
import { askNetwork } from "../../lib/served";
import { percent } from "../../lib/text";
import type { ServedEntry } from "../../payload";
import { useStore } from "../../store";

export function NetworkVerdict({ draft, change }: { draft: RowDraft; change: Counterfactual | null }) {
  const store = useStore();
  const { table, payload } = store;
  if (payload.served?.has_network === true) return <AskedNetwork served={payload.served} draft={draft} change={change} />;
  const row = draft.base.value;
  if (table === null || row === null || (table.network === null && table.truth === null)) return null;
  if (draft.changed.value.size > 0) {
    return table.network === null ? null : <p class="quiet">The network is not in this file; `clausewise explore` serves the page with it.</p>;
  }
  return (
    <p class="recorded">
      {table.network !== null && (
        <>
          <span class="quiet">Network</span> <ClassChip index={table.network.codes[row]} names={table.network.names} />{" "}
          <RecordedProbability row={row} />
        </>
      )}
      {table.truth !== null && (
        <>
          <span class="quiet">{table.network !== null && " · "}Truth</span> <ClassChip index={table.truth.codes[row]} names={table.truth.names} />
        </>
      )}
    </p>
  );
}

/** The network's probability of the class it predicted; unknown for a label that is not a class of the rules. */
function RecordedProbability({ row }: { row: number }) {
  const { table, original } = useStore();
  const code = table?.network?.codes[row];
  const nClasses = original.classes.length;
  if (table?.networkProba == null || code === undefined || code >= nClasses) return null;
  return <span class="quiet">{percent(table.networkProba[row * nClasses + code], 0)}</span>;
}

/** Served pages ask the network itself, about this row and about the row with the smallest change. */
function AskedNetwork({ served, draft, change }: { served: ServedEntry; draft: RowDraft; change: Counterfactual | null }) {
  const store = useStore();
  const changed = useSignal<Counterfactual | null>(change);
  changed.value = change;
  const reply = useReply(
    () => {
      const more = new Map((changed.value?.changes ?? []).map(({ feature, after }) => [feature, after]));
      const asked = questionOf(store, draft, new Map());
      const other = questionOf(store, draft, more);
      return typeof asked === "string" ? asked : (signal) => askNetwork(served, typeof other === "string" ? [asked] : [asked, other], signal);
    },
    "Asking the network …",
    "The network",
  );
  if (typeof reply === "string") {
    return (
      <p class="recorded quiet" role="status">
        {reply}
      </p>
    );
  }
  const classes = store.original.classes;
  const names = [...classes, ...reply.labels.filter((label) => !classes.includes(label))];
  const proba = reply.probabilities?.[0];
  const place = reply.classes.indexOf(reply.labels[0]);
  return (
    <p class="recorded" role="status">
      <span class="quiet">The network predicts</span> <ClassChip index={names.indexOf(reply.labels[0])} names={names} />{" "}
      {proba !== undefined && place >= 0 && <span class="quiet">{percent(proba[place], 0)}</span>}
      {change !== null && change.changes.length > 0 && reply.labels.length > 1 && (
        <>
          <br />
          <span class="quiet">with the smallest change</span> <ClassChip index={names.indexOf(reply.labels[1])} names={names} />
          {reply.labels[0] === reply.labels[1] && <span class="quiet"> as before</span>}
        </>
      )}
    </p>
  );
}
