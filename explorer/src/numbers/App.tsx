/** The frame of the page of rules for numbers: title, tabs, theme, the current view and the selection. */

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Tabs } from "../App";
import { rowsShown } from "../lib/rows";
import { copyText, download, fileName, pageWith, ruleFileText } from "../lib/save";
import { counted, formatName } from "../lib/text";
import { usePrintSheet } from "../print/PrintSheet";
import type { Theme } from "../theme";
import { Inspector } from "./Inspector";
import { editsOf, writeNumberFile } from "./lib/rules";
import { PrintSheet } from "./PrintSheet";
import { type NumberStore, NumberStoreProvider, useNumberStore } from "./store";
import { Differences } from "./views/Differences";
import { Overview } from "./views/Overview";
import { Predict } from "./views/Predict";
import { Rules } from "./views/Rules";
import "./numbers.css";

interface View {
  id: string;
  title: string;
  component: ComponentType;
  isAvailable?: (store: NumberStore) => boolean;
}

const VIEWS: readonly View[] = [
  { id: "overview", title: "Overview", component: Overview },
  { id: "rules", title: "Rules", component: Rules },
  { id: "predict", title: "Predict", component: Predict },
  { id: "differences", title: "Where they differ", component: Differences, isAvailable: (store) => store.judge.value !== null },
];

export function NumbersApp({ theme }: { theme: Signal<Theme> }) {
  const store = useNumberStore();
  const views = VIEWS.filter((view) => view.isAvailable?.(store) ?? true);
  const current = views.find((view) => view.id === store.view.value) ?? views[0];
  const Current = current.component;
  useEffect(() => listen(store), [store]);
  usePrintSheet(store, () => (
    <NumberStoreProvider value={store}>
      <PrintSheet />
    </NumberStoreProvider>
  ));
  const selection = store.selection.value;
  // The Predict view shows a row itself.
  const isBeside = selection !== null && !(selection.kind === "row" && current.id === "predict");
  return (
    <>
      <header class="top">
        <button type="button" class="skip" onClick={() => document.getElementById("view")?.focus()}>
          Skip to the view
        </button>
        <div class="titles">
          <h1>{formatName(store.payload.title)}</h1>
          <Summary />
        </div>
        <div class="tools">
          <EditState />
          <Share />
          <button type="button" onClick={() => (theme.value = theme.value === "dark" ? "light" : "dark")}>
            {theme.value === "dark" ? "Light" : "Dark"} theme
          </button>
        </div>
        <Tabs views={views} current={current} onShow={(id) => store.show(id)} />
      </header>
      <div class={isBeside ? "page has-selection" : "page"}>
        <main>
          <div id="view" class="view" role="tabpanel" aria-labelledby={`tab-${current.id}`} tabIndex={-1} key={current.id}>
            <Current />
          </div>
        </main>
        {isBeside && <Inspector />}
      </div>
    </>
  );
}

/** Keys that work in all views; fields have their own. */
function listen(store: NumberStore): () => void {
  const end = new AbortController();
  const keys = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.matches("input:not([type=range]), textarea, select")) return;
    const key = event.key.toLowerCase();
    const isUndo = (event.ctrlKey || event.metaKey) && !event.altKey && (key === "z" || key === "y");
    if (isUndo) {
      event.preventDefault();
      if (event.shiftKey || key === "y") store.redo();
      else store.undo();
    } else if (event.key === "Escape" && !event.defaultPrevented && store.selection.value !== null) store.select(null);
  };
  document.addEventListener("keydown", keys, { signal: end.signal });
  return () => end.abort();
}

function Summary() {
  const { payload, rules, table, used } = useNumberStore();
  const set = rules.value;
  const parts = [
    counted(set.rules.length, "rule"),
    ...(set.linear.length > 0 ? [counted(set.linear.length, "coefficient")] : []),
    `${used.value.length} of ${counted(set.features.length, "feature")} used`,
    table === null ? "no data" : `${rowsShown(table)} in this page`,
  ];
  return (
    <p class="summary">
      {parts.join(" · ")} <span class="quiet">· {payload.created_with}</span>
    </p>
  );
}

function EditState() {
  const store = useNumberStore();
  if (!store.canUndo.value && !store.canRedo.value) return null;
  return (
    <span class="edit-state">
      <span role="status">
        <span class="badge">{store.isEdited.value ? "edited" : "original"}</span>
      </span>
      <button type="button" disabled={!store.canUndo.value} onClick={() => store.undo()}>
        Undo
      </button>
      <button type="button" disabled={!store.canRedo.value} onClick={() => store.redo()}>
        Redo
      </button>
    </span>
  );
}

function savePage(store: NumberStore): void {
  const { edits: _, ...payload } = store.payload;
  const next = store.isEdited.value ? { ...payload, edits: editsOf(store.rules.value) } : payload;
  download(`${fileName(store.payload.title, "report")}.html`, pageWith(document, JSON.stringify(next)), "text/html");
  store.saved = store.rules.value;
}

function Share() {
  const store = useNumberStore();
  const said = useSignal("");
  const say = (text: string) => {
    said.value = text;
    setTimeout(() => (said.value = ""), 4000);
  };
  return (
    <span class="share">
      <span role="status">{said.value}</span>
      <button type="button" onClick={() => window.print()} title="The headline, all rules in full and all changes">
        Print
      </button>
      <button type="button" onClick={() => void copyText(window.location.href).then((done) => say(done ? "Link copied." : "Copy the address of the page instead."))} title="A link to what is shown now">
        Copy link
      </button>
      <button
        type="button"
        onClick={() => {
          download(`${fileName(store.payload.title, "rules")}.json`, ruleFileText(writeNumberFile(store.rules.value)), "application/json");
          store.saved = store.rules.value;
          say("Rules saved.");
        }}
        title="A rule file, which RegressionRules.load reads"
      >
        Save rules
      </button>
      <button
        type="button"
        onClick={() => {
          savePage(store);
          say("Page saved.");
        }}
        title="This page as one file, with all edits"
      >
        Save page
      </button>
    </span>
  );
}
