/** Starts the page: reads the payload, makes the store, draws. */

import type { Signal } from "@preact/signals";
import { render } from "preact";
import { App } from "./App";
import { scoresOf } from "./lib/evaluate";
import { evaluateRow, rowValues } from "./lib/evaluateRow";
import { setColours } from "./lib/colours";
import { setNames } from "./lib/names";
import { CLASS_PARTS } from "./components/classParts";
import { NumbersApp } from "./numbers/App";
import { NUMBER_PARTS } from "./numbers/components/parts";
import { NumberStore } from "./numbers/store";
import { type NumberTools, numberToolsOf } from "./numbers/tools";
import { isForNumbers, type NumberPayload, type Payload, readPayload, type Voting } from "./payload";
import { StoreProvider } from "./pageStore";
import { PartsProvider } from "./parts";
import { Store } from "./store";
import { type Theme, themeSignal } from "./theme";
import { type Tools, toolsOf } from "./tools";
import "./style.css";

/** The page's decisions on the rows of the report, for scripts and tests. */
interface Answers {
  decisions: number[];
  scores: number[][];
  nFired: number[];
}

interface Offered {
  store: Store;
  /** On the rows of the report, by another voting scheme if one is given; null if it has no rows. */
  answers: (voting?: Voting) => Answers | null;
  /** The same, row by row as the Predict view evaluates its row. */
  rowByRow: () => Answers | null;
  tools: Tools;
}

/** The same for a report on rules for numbers. */
interface OfferedNumbers {
  store: NumberStore;
  tools: NumberTools;
}

declare global {
  interface Window {
    clausewise?: Offered | OfferedNumbers;
  }
}

function answersOf(store: Store, voting?: Voting): Answers | null {
  const set = voting === undefined ? store.rules.value : { ...store.rules.value, voting };
  const found = store.evaluator?.evaluate(set);
  if (found === undefined) return null;
  const rows = Array.from(found.decisions.keys());
  return {
    decisions: Array.from(found.outcomes),
    scores: rows.map((row) => Array.from(scoresOf(found, row))),
    nFired: Array.from(found.nFired),
  };
}

function rowByRow(store: Store): Answers | null {
  const { table } = store;
  if (table === null) return null;
  const rows = Array.from({ length: table.nRows }, (_, row) =>
    evaluateRow(
      store.rules.value,
      rowValues(table, row).map((value) => value ?? NaN),
    ),
  );
  return {
    decisions: rows.map((row) => (row.isAbstained ? store.rules.value.classes.length : row.decision)),
    scores: rows.map((row) => Array.from(row.scores)),
    nFired: rows.map((row) => row.fired.length),
  };
}

function classesPage(payload: Payload, theme: Signal<Theme>) {
  setColours(payload, document);
  const store = new Store(payload, window);
  window.clausewise = { store, answers: (voting) => answersOf(store, voting), rowByRow: () => rowByRow(store), tools: toolsOf(store) };
  return (
    <StoreProvider value={store}>
      <PartsProvider value={CLASS_PARTS}>
        <App theme={theme} />
      </PartsProvider>
    </StoreProvider>
  );
}

function numbersPage(payload: NumberPayload, theme: Signal<Theme>) {
  const store = new NumberStore(payload, window);
  window.clausewise = { store, tools: numberToolsOf(store) };
  return (
    <StoreProvider value={store}>
      <PartsProvider value={NUMBER_PARTS}>
        <NumbersApp theme={theme} />
      </PartsProvider>
    </StoreProvider>
  );
}

function start(): void {
  const root = document.getElementById("app");
  if (root === null) return;
  const theme = themeSignal(window);
  try {
    const payload = readPayload(document);
    setNames(payload);
    const page = isForNumbers(payload) ? numbersPage(payload, theme) : classesPage(payload, theme);
    root.textContent = "";
    render(page, root);
  } catch (error) {
    root.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
    throw error;
  }
}

start();
