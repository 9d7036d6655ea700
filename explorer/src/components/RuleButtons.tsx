/** Lists of rules that can be clicked to select them. */

import type { Misled } from "../lib/misled";
import { counted, describePremise, grouped, MOST_CATEGORIES } from "../lib/text";
import { useStore } from "../store";
import { ConclusionChip } from "./ClassMark";

/** Rules that can be clicked to select them, by their places. */
export function RuleButtons({ places, most = 12, note }: { places: readonly number[]; most?: number; note?: (place: number) => string }) {
  const store = useStore();
  const set = store.rules.value;
  return (
    <ul class="rule-buttons">
      {places.slice(0, most).map((place) => {
        const rule = set.rules[place];
        if (rule === undefined) return null;
        return (
          <li key={rule.id}>
            <button type="button" class="plain" onClick={() => store.selectRule(rule.id)}>
              <span class="number quiet">{place}</span> {describePremise(rule, set.features, MOST_CATEGORIES)} <span class="quiet">→</span> <ConclusionChip rule={rule} />
              {note !== undefined && <span class="quiet"> {note(place)}</span>}
            </button>
          </li>
        );
      })}
      {places.length > most && <li class="quiet">… and {grouped(places.length - most)} more</li>}
      {places.length === 0 && <li class="quiet">none</li>}
    </ul>
  );
}

/** Misleading rules, with the number of rows they misled on. */
export function MisleadingRules({ misled, most }: { misled: readonly Misled[]; most?: number }) {
  const nRows = new Map(misled.map(({ place, nRows }) => [place, nRows]));
  return <RuleButtons places={misled.map(({ place }) => place)} most={most ?? 12} note={(place) => `· ${counted(nRows.get(place) ?? 0, "row")}`} />;
}
