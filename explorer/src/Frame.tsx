/** The frame around the views, of all kinds of rules: title, tabs, theme, the current view and the selection. */

import type { Signal } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { clearSelection } from "./components/SelectionPanel";
import { formatName } from "./lib/text";
import { type PageStore, usePage } from "./pageStore";
import { Share } from "./Share";
import type { Theme } from "./theme";

export interface View<S extends PageStore = PageStore> {
  /** In the address. */
  id: string;
  title: string;
  component: ComponentType;
  /** Whether the report has the data that the view needs; always true if omitted. */
  isAvailable?(store: S): boolean;
}

interface FrameProps {
  theme: Signal<Theme>;
  views: readonly View[];
  /** A line on what the page is about. */
  summary: ComponentChildren;
  /** Whether the selection is shown below a view: not where the view itself shows the same. */
  isShownBelow: (view: string) => boolean;
  inspector: ComponentChildren;
}

export function Frame({ theme, views: all, summary, isShownBelow, inspector }: FrameProps) {
  const store = usePage();
  const views = all.filter((view) => view.isAvailable?.(store) ?? true);
  const current = views.find((view) => view.id === store.view.value) ?? views[0];
  const Current = current.component;
  useEffect(() => listen(store), [store]);
  const isBelow = store.selection.value !== null && isShownBelow(current.id);
  return (
    <>
      <header class="top">
        <button type="button" class="skip" onClick={() => document.getElementById("view")?.focus()}>
          Skip to the view
        </button>
        <div class="titles">
          <h1>{formatName(store.payload.title)}</h1>
          <p class="summary">{summary}</p>
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
      <div class={isBelow ? "page has-selection" : "page"}>
        <main>
          <div id="view" class="view" role="tabpanel" aria-labelledby={`tab-${current.id}`} tabIndex={-1} key={current.id}>
            <Current />
          </div>
        </main>
        {isBelow && inspector}
      </div>
    </>
  );
}

/** Listen to keys that work in all views, and to dropped files; returns a function that stops listening. */
function listen(store: PageStore): () => void {
  const end = new AbortController();
  const { signal } = end;
  // A text field that was typed in has its own undo.
  let typedIn: EventTarget | null = null;
  document.addEventListener("input", (event) => (typedIn = isTextField(event.target) ? event.target : null), { signal });
  document.addEventListener("focusin", () => (typedIn = null), { signal });
  const undoKeys = (event: KeyboardEvent) => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== "z" && key !== "y")) return;
    if (typedIn !== null && event.target === typedIn) return;
    event.preventDefault();
    if (event.shiftKey || key === "y") store.redo();
    else store.undo();
  };
  document.addEventListener("keydown", undoKeys, { signal });
  const clearKey = (event: KeyboardEvent) => {
    // In fields and drop-down lists the key already has a meaning.
    const isField = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
    if (event.key === "Escape" && !isField && !event.defaultPrevented && store.selection.value !== null) clearSelection(store);
  };
  document.addEventListener("keydown", clearKey, { signal });
  // The browser would open a file that is dropped elsewhere in place of the report.
  const refuseFile = (event: DragEvent) => {
    if (event.defaultPrevented || event.dataTransfer === null || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "none";
  };
  document.addEventListener("dragover", refuseFile, { signal });
  document.addEventListener("drop", refuseFile, { signal });
  return () => end.abort();
}

/** Whether text can be typed into an element, unlike into check boxes and sliders. */
function isTextField(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "range", "file"].includes(target.type);
}

function EditState() {
  const store = usePage();
  if (!store.canUndo.value && !store.canRedo.value) return null;
  return (
    <span class="edit-state">
      <span role="status">
        {store.notice.value !== "" && <span class="notice">{store.notice.value}</span>} <span class="badge">{store.isEdited.value ? "edited" : "original"}</span>
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

/** The tab that a key moves to, around the ends; null for other keys. */
function moved(key: string, place: number, n: number): number | null {
  switch (key) {
    case "ArrowRight":
      return (place + 1) % n;
    case "ArrowLeft":
      return (place - 1 + n) % n;
    case "Home":
      return 0;
    case "End":
      return n - 1;
    default:
      return null;
  }
}

type Named = Pick<View, "id" | "title">;

interface TabsProps {
  views: readonly Named[];
  current: Named;
  onShow: (id: string) => void;
}

function Tabs({ views, current, onShow }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  // Keep the current tab visible where the tabs are wider than the window.
  useEffect(() => {
    const tabs = list.current;
    const tab = tabs?.querySelector(`#tab-${current.id}`);
    if (tabs === null || tab == null) return;
    const [box, own] = [tabs.getBoundingClientRect(), tab.getBoundingClientRect()];
    // Not scrollIntoView, which would move the next tab stop behind the tab.
    tabs.scrollLeft += Math.max(0, own.right - box.right) + Math.min(0, own.left - box.left);
  }, [current]);
  const step = (event: KeyboardEvent) => {
    const place = views.indexOf(current);
    const target = moved(event.key, place, views.length);
    if (target === null) return;
    event.preventDefault();
    const next = views[target];
    onShow(next.id);
    list.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" ref={list} onKeyDown={step}>
      {views.map((view) => (
        <button
          key={view.id}
          id={`tab-${view.id}`}
          type="button"
          role="tab"
          aria-selected={view === current}
          aria-controls="view"
          tabIndex={view === current ? 0 : -1}
          onClick={() => onShow(view.id)}
        >
          {view.title}
        </button>
      ))}
    </div>
  );
}
