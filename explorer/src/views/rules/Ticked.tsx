/** What can be done with the rules that are ticked: compare a few side by side, or delete them, after a preview. */

import { useId } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { ConclusionChip } from "../../components/ClassMark";
import { EvidenceBar } from "../../components/EvidenceBar";
import { EditPreview } from "../../components/EditPreview";
import { TermStrip } from "../../components/TermStrip";
import { allBits, andInto, countBits, countCommon } from "../../lib/bits";
import { CLASSES } from "../../lib/classes";
import { withoutRules } from "../../lib/edits";
import { evidenceOf } from "../../lib/evidence";
import { counted, describeCondition, describePremise, featureName, grouped, MOST_CATEGORIES, percent, shortNumber } from "../../lib/text";
import { votesOf } from "../../lib/votes";
import { type Store, useStore } from "../../store";
import { paramsOf } from "./listed";

const MOST_COMPARED = 4;

export function Ticked({ shown }: { shown: readonly number[] }) {
  const store = useStore();
  const { panel } = paramsOf(store);
  const set = store.rules.value;
  const places = [...store.ticked.value].map((id) => store.placeOf.value.get(id) ?? -1).filter((place) => place >= 0).sort((a, b) => a - b);
  if (places.length === 0) return null;
  const canCompare = places.length >= 2 && places.length <= MOST_COMPARED;
  const isComparing = panel.value === "compare" && canCompare;
  const isDeleting = panel.value === "delete";
  const toggle = (name: string) => (panel.value = panel.value === name ? "" : name);
  return (
    <section class="ticked" aria-label="Ticked rules">
      <div class="ticked-head">
        <strong role="status">{counted(places.length, "rule")} ticked</strong>
        <button type="button" aria-expanded={isComparing} class={isComparing ? "is-on" : ""} disabled={!canCompare} title={canCompare ? "" : `Tick 2 to ${MOST_COMPARED} rules to compare them`} onClick={() => toggle("compare")}>
          Compare
        </button>
        <button type="button" aria-expanded={isDeleting} class={isDeleting ? "is-on" : ""} onClick={() => toggle("delete")}>
          Delete …
        </button>
        <button type="button" disabled={shown.every((place) => store.ticked.value.has(set.rules[place].id))} onClick={() => store.tick(shown.map((place) => set.rules[place].id), true)}>
          Tick all {grouped(shown.length)} listed
        </button>
        <button
          type="button"
          onClick={() => {
            store.untickAll();
            panel.value = "";
          }}
        >
          Untick
        </button>
      </div>
      {isComparing && <SideBySide places={places} />}
      {isDeleting && <Deletion places={places} onDone={() => (panel.value = "")} />}
    </section>
  );
}

/** The rules in columns, the terms on one feature in one line, drawn on one axis. */
function SideBySide({ places }: { places: readonly number[] }) {
  const store = useStore();
  const set = store.rules.value;
  const rules = places.map((place) => set.rules[place]);
  const features = [...new Set(rules.flatMap((rule) => rule.terms.map((term) => term.feature)))].sort((a, b) => nTesting(b) - nTesting(a) || a - b);
  function nTesting(feature: number): number {
    return rules.filter((rule) => rule.terms.some((term) => term.feature === feature)).length;
  }
  const evidence = places.map((place) => evidenceOf(store, place));
  const most = Math.max(1, ...evidence.map((one) => one?.n ?? 0));
  return (
    <>
      <table aria-label="Rules side by side">
        <thead>
          <tr>
            <th scope="col">Feature</th>
            {places.map((place, i) => (
              <th key={place} scope="col">
                Rule {place} → <ConclusionChip rule={rules[i]} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {features.map((feature) => (
            <tr key={feature}>
              <th scope="row">{featureName(set.features[feature])}</th>
              {rules.map((rule) => {
                const term = rule.terms.find((one) => one.feature === feature);
                return (
                  <td key={rule.id}>
                    {term === undefined ? <span class="quiet">any value</span> : describeCondition(term, set.features[feature], MOST_CATEGORIES)}
                    <TermStrip term={term ?? null} feature={feature} classIndex={rule.classIndex} height={16} />
                  </td>
                );
              })}
            </tr>
          ))}
          <tr>
            <th scope="row">votes</th>
            {rules.map((rule) => (
              <td key={rule.id}>{shortNumber(votesOf(rule, set.voting))}</td>
            ))}
          </tr>
          <tr>
            <th scope="row">rows · agree</th>
            {rules.map((rule, i) => (
              <td key={rule.id}>
                <EvidenceBar evidence={evidence[i]} most={most} />
              </td>
            ))}
          </tr>
        </tbody>
      </table>
      <SharedRows store={store} places={places} />
    </>
  );
}

function SharedRows({ store, places }: { store: Store; places: readonly number[] }) {
  const found = store.evaluation.value;
  if (found === null) return null;
  const pairs = places.flatMap((a, i) => places.slice(i + 1).map((b) => [a, b] as const));
  const all = allBits(found.nRows);
  for (const place of places) andInto(all, found.covers[place]);
  const of = (n: number, place: number) => percent(n / Math.max(1, countBits(found.covers[place])), 0);
  return (
    <ul aria-label="Shared rows">
      {pairs.map(([a, b]) => {
        const n = countCommon(found.covers[a], found.covers[b]);
        return (
          <li key={`${a}.${b}`}>
            Rules {a} and {b} fire together on <strong>{counted(n, "row")}</strong> in this page{n > 0 && `: ${of(n, a)} of those of rule ${a}, ${of(n, b)} of those of rule ${b}`}.
          </li>
        );
      })}
      {places.length > 2 && <li>All {places.length} fire together on {counted(countBits(all), "row")}.</li>}
    </ul>
  );
}

function Deletion({ places, onDone }: { places: readonly number[]; onDone: () => void }) {
  const store = useStore();
  const id = useId();
  const note = useSignal("");
  const set = store.rules.value;
  const next = withoutRules(CLASSES, set, places, note.value);
  return (
    <>
      <ul class="ticked-list">
        {places.map((place) => (
          <li key={place}>
            <span class="number quiet">{place}</span> {describePremise(set.rules[place], set.features, MOST_CATEGORIES)} <span class="quiet">→</span> <ConclusionChip rule={set.rules[place]} />
          </li>
        ))}
      </ul>
      <EditPreview next={next} title={`Without ${places.length === 1 ? "it" : "them"}`} />
      <p class="row-buttons">
        <label for={id}>Reason</label>
        <input id={id} value={note.value} placeholder="optional, for the list of changes" onInput={(event) => (note.value = event.currentTarget.value)} />
        <button
          type="button"
          class="danger"
          onClick={() => {
            store.remove(places, note.value);
            onDone();
            document.querySelector<HTMLElement>('main [role="grid"]')?.focus();
          }}
        >
          Delete {counted(places.length, "rule")}
        </button>
        <button type="button" onClick={onDone}>
          Keep {places.length === 1 ? "it" : "them"}
        </button>
      </p>
    </>
  );
}
