/** Where rules come from: a layer of the network, an intermediate clause over its units, the rules over the inputs. */

import { useComputed } from "@preact/signals";
import { GroupChip, widthOfChips } from "../components/GroupChip";
import { type TableColumn, VirtualTable } from "../components/VirtualTable";
import { type Clause, isFromSearch, type LayerUse, layerName, layersOf } from "../lib/origin";
import { counted, describePremise, grouped, MOST_CATEGORIES } from "../lib/text";
import { type PageStore, usePage } from "../pageStore";
import { useParts } from "../parts";
import { NetworkDrawing } from "./origin/NetworkDrawing";
import "./origin.css";

export function hasOrigins(store: PageStore): boolean {
  return store.original.rules.some((rule) => rule.origin?.layer != null);
}

export function Origin() {
  const store = usePage();
  const layers = useComputed(() => layersOf(store.kind, store.rules.value)).value;
  const layerParam = store.address.param("origin.layer");
  const clauseParam = store.address.param("origin.clause");
  // The layer and clause of the selected rule are shown, until others are chosen here.
  const selected = store.selectedRule.value;
  const ruleLayer = selected === null ? undefined : layers.find((layer) => layer.name === (selected.rule.origin?.layer ?? ""));
  const layer = layers.find((one) => named(one.name) === layerParam.value) ?? ruleLayer ?? mostUsed(layers);
  if (layer === undefined) return <p>No rule has an origin.</p>;
  const clauseOfRule = selected === null ? -1 : layer.clauses.findIndex((clause) => clause.places.includes(selected.place));
  const chosen = clauseParam.value === "" ? -1 : layer.clauses.findIndex((clause) => named(clause.text) === clauseParam.value);
  const clausePlace = chosen >= 0 ? chosen : clauseOfRule;
  const chooseLayer = (name: string) => {
    clauseParam.value = "";
    layerParam.value = named(name);
  };
  const clause = clausePlace < 0 ? null : layer.clauses[clausePlace];
  return (
    <div class="origin-page">
      <NetworkDrawing layers={layers} current={layer} onChoose={chooseLayer} />
      <div class="origin">
        <section aria-label="Layers" class="origin-layers">
          <h2>1 Layer</h2>
          <LayerList layers={layers} current={layer} onChoose={chooseLayer} />
          {layers.some((one) => isFromSearch(one.name)) && (
            <p class="quiet">
              <strong>Found by search</strong>: these rules come from no unit. The search for a short rule set added them, or changed others so far that they no longer follow from their clause, because that brings them
              closer to the network.
            </p>
          )}
        </section>
        <section aria-label="Clauses" class="origin-part">
          <div class="origin-head">
            <h2>
              2 Intermediate clauses of {layer.name === "" ? "rules without a layer" : layerName(layer.name)} <span class="quiet">({counted(layer.clauses.length, "clause")})</span>
            </h2>
          </div>
          <ClauseTable layer={layer} active={clausePlace} onChoose={(place) => (clauseParam.value = named(layer.clauses[place].text))} />
        </section>
        <section aria-label="Rules" class="origin-part">
          <div class="origin-head">
            <h2>
              3 Final rules {clause === null ? `of ${layerName(layer.name)}` : "of the clause"}{" "}
              <span class="quiet">({counted((clause ?? layer).places.length, "rule")})</span>
            </h2>
            {clause !== null && (
              <button type="button" onClick={() => chooseLayerOnly(store, layer.name)}>
                All rules of the layer
              </button>
            )}
          </div>
          {clause !== null && (
            <p class="clause-text" tabIndex={0} role="region" aria-label="Clause">
              {clause.text === "" ? "no clause" : clause.text}
            </p>
          )}
          <RuleTable places={(clause ?? layer).places} />
        </section>
      </div>
    </div>
  );
}

/** The layer of the network with most rules; rules that come from no layer only if there are no others. */
function mostUsed(layers: readonly LayerUse[]): LayerUse | undefined {
  const real = layers.filter((layer) => layer.name !== "" && !isFromSearch(layer.name));
  return real.reduce<LayerUse | undefined>((best, layer) => (best === undefined || layer.places.length > best.places.length ? layer : best), undefined) ?? layers[0];
}

/** A name for the address, where the empty name of rules without a layer or clause must not be the default. */
function named(name: string): string {
  return `.${name}`;
}

function chooseLayerOnly(store: PageStore, name: string): void {
  store.address.param("origin.clause").value = "";
  store.address.param("origin.layer").value = named(name);
  if (store.selection.value?.kind === "rule") store.select(null);
}

function LayerList({ layers, current, onChoose }: { layers: readonly LayerUse[]; current: LayerUse; onChoose: (name: string) => void }) {
  const { kind, rules } = usePage();
  const parts = useParts();
  const names = kind.groupNames(rules.value);
  const most = Math.max(...layers.map((layer) => layer.places.length));
  return (
    <ul>
      {layers.map((layer) => (
        <li key={layer.name}>
          <button type="button" aria-pressed={layer === current} class={layer === current ? "layer is-on" : "layer"} onClick={() => onChoose(layer.name)}>
            <span class="layer-name">{layerName(layer.name)}</span>
            <span class="quiet">
              {counted(layer.clauses.length, "clause")} → {counted(layer.places.length, "rule")}
            </span>
            <span class="layer-bar" aria-hidden="true" style={{ width: `${(100 * layer.places.length) / most}%` }}>
              {layer.perGroup.map((n, group) => (n === 0 ? null : <span key={group} class={`layer-part ${parts.groupColour(group)}`} style={{ flexGrow: String(n) }} title={`${names[group]}: ${n}`} />))}
            </span>
            <span class="layer-classes">
              {layer.perGroup.map((n, group) =>
                n === 0 ? null : (
                  <span key={group} class="layer-class">
                    {parts.groupMark(group)} {names[group]} {grouped(n)}
                  </span>
                ),
              )}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function ClauseTable({ layer, active, onChoose }: { layer: LayerUse; active: number; onChoose: (place: number) => void }) {
  const store = usePage();
  const parts = useParts();
  const at = (row: number): Clause => layer.clauses[row];
  const columns: TableColumn[] = [
    { key: "class", title: parts.groupTitle, width: widthOfChips(store.kind.groupNames(store.rules.value)), cell: (row) => <Groups clause={at(row)} /> },
    { key: "text", title: isFromSearch(layer.name) ? "Clause" : "Clause over the layer's units", cell: (row) => <span class="clip" title={at(row).text}>{at(row).text === "" ? "no clause" : withoutLayer(at(row).text, layer.name)}</span> },
    { key: "rules", title: "Rules", width: 66, align: "end", cell: (row) => grouped(at(row).places.length) },
  ];
  return <VirtualTable label="Intermediate clauses" nRows={layer.clauses.length} columns={columns} active={active} onActivate={onChoose} minWidth={300} />;
}

/** `hidden 1[8] ≤ 0.02` as `[8] ≤ 0.02`: the heading names the layer. */
function withoutLayer(text: string, layer: string): string {
  return layer === "" ? text : text.split(`${layer}[`).join("[");
}

function Groups({ clause }: { clause: Clause }) {
  const parts = useParts();
  if (clause.groups.length === 1) return <GroupChip group={clause.groups[0]} />;
  return (
    <span class="clip">
      {clause.groups.slice(0, 4).map((group) => (
        <span key={group}>{parts.groupMark(group)}</span>
      ))}{" "}
      {clause.groups.length} {parts.groups}
    </span>
  );
}

function RuleTable({ places }: { places: readonly number[] }) {
  const store = usePage();
  const parts = useParts();
  const set = store.rules.value;
  const selected = store.selectedRule.value;
  const active = selected === null ? -1 : places.indexOf(selected.place);
  const at = (row: number) => set.rules[places[row]];
  const columns: TableColumn[] = [
    { key: "place", title: "#", width: 56, align: "end", cell: (row) => places[row] },
    { key: "class", title: parts.conclusionTitle, width: parts.conclusionWidth(set), cell: (row) => parts.conclusion(at(row), set) },
    { key: "premise", title: "IF", cell: (row) => <span class="clip" title={describePremise(at(row), set.features)}>{describePremise(at(row), set.features, MOST_CATEGORIES)}</span> },
    ...(parts.figureTitle === null ? [] : [{ key: "figure", title: parts.figureTitle, width: 74, align: "end", cell: (row: number) => parts.figure(at(row), set) || "–" } as const]),
  ];
  return <VirtualTable label="Final rules" nRows={places.length} columns={columns} active={active} onActivate={(row) => store.selectRule(at(row).id)} minWidth={360} />;
}
