/** The selected thing in full, below the view, so that selecting something moves nothing above it. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type PageStore, usePage } from "../pageStore";

export function SelectionPanel({ title, children }: { title: string; children: ComponentChildren }) {
  const store = usePage();
  const panel = useRef<HTMLElement>(null);
  store.view.value; // some buttons exist in some views only
  // A button that selects something else disappears with its content; the focus stays in the panel.
  const hadFocus = panel.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (hadFocus && panel.current !== null && !panel.current.contains(document.activeElement)) panel.current.focus();
  });
  return (
    <aside class="inspector" aria-label="Selection" tabIndex={0} ref={panel}>
      <div class="inspector-head">
        <h2>{title}</h2>
        <button type="button" aria-label="Clear the selection" onClick={() => clearSelection(store)}>
          ✕
        </button>
      </div>
      <div class="inspector-body">{children}</div>
    </aside>
  );
}

/** The panel disappears with its button, so the focus moves to the view. */
export function clearSelection(store: PageStore): void {
  const hadFocus = document.activeElement?.closest(".inspector") != null;
  store.select(null);
  if (hadFocus) document.getElementById("view")?.focus();
}
