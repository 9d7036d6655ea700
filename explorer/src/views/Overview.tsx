/** The first look: one sentence, how often the rules agree and where, the strongest rules, and what needs attention. */

import { useComputed } from "@preact/signals";
import { GuaranteeCard } from "../components/GuaranteeCard";
import { headline, strongestRules } from "../lib/story";
import { useStore } from "../store";
import { Abstentions } from "./overview/Abstentions";
import { Agreements, ClassBars } from "./overview/Agreements";
import { Concerns } from "./overview/Concerns";
import { showRules } from "./overview/filters";
import { Frontier } from "./overview/Frontier";
import { Sizes } from "./overview/Sizes";
import { RuleMatrix } from "./rules/RuleMatrix";
import "./overview.css";

const N_STRONGEST = 9;

export function Overview() {
  const store = useStore();
  const strongest = useComputed(() => strongestRules(store, N_STRONGEST)).value;
  const set = store.rules.value;
  const selected = store.selectedRule.value;
  const { frontier, guarantee } = store.payload;
  return (
    <div class="overview" data-ready>
      <p class="headline">{headline(store).replaceAll(" %", "\u00a0%")}</p>
      <Abstentions />
      <div class="cards">
        <Agreements />
        <ClassBars />
        <Concerns />
      </div>
      {guarantee !== undefined && <GuaranteeCard guarantee={guarantee} isEdited={store.isEdited.value} />}
      {strongest.length > 0 && (
        <section class="card full" aria-labelledby="strongest">
          <div class="card-head">
            <h2 id="strongest">{set.rules.length > N_STRONGEST ? `The ${N_STRONGEST} rules that cast most votes` : "The rules, by the votes they cast"}</h2>
            <button type="button" onClick={() => showRules(store, {})}>
              All {set.rules.length} rules
            </button>
          </div>
          <RuleMatrix isPart label="Strongest rules" places={strongest} active={selected === null ? -1 : strongest.indexOf(selected.place)} onActivate={(row) => store.selectRule(set.rules[strongest[row]].id)} />
        </section>
      )}
      {frontier !== undefined && (
        <section class="card full" aria-labelledby="frontier">
          <h2 id="frontier">Fidelity by {frontier.by === "rules" ? "number of rules" : "conditions to read"}</h2>
          <Frontier frontier={frontier} />
        </section>
      )}
      <Sizes />
    </div>
  );
}
