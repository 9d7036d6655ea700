/** The visible part of a scrolling box, for components that draw only that part. */

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface Viewport {
  top: number;
  left: number;
  width: number;
  height: number;
}

/** A scrolling box (for its `ref`), its visible part, and a function to call when it is scrolled. */
export function useViewport(): { box: RefObject<HTMLDivElement | null>; view: Viewport; measure: () => void } {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Viewport>({ top: 0, left: 0, width: 1000, height: 600 });
  const measure = () => {
    const element = box.current;
    if (element !== null) setView({ top: element.scrollTop, left: element.scrollLeft, width: element.clientWidth, height: element.clientHeight });
  };
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return { box, view, measure };
}

/** The visible lines, of `n` that are `height` px high, and `margin` more on either side. */
export function linesInSight(view: Viewport, height: number, n: number, margin: number): number[] {
  const first = Math.max(0, Math.floor(view.top / height) - margin);
  const last = Math.min(n, Math.ceil((view.top + view.height) / height) + margin);
  return Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
}

/** Scroll just enough to make a line visible, below a header that covers the top of the box; −1 is none. */
export function keepInSight(box: HTMLElement | null, line: number, height: number, head = 0): void {
  if (box === null || line < 0) return;
  const [top, visible] = [line * height, box.clientHeight - head];
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + visible) box.scrollTop = top + height - visible;
}

/** The same for an element inside the box. */
export function keepElementInSight(box: HTMLElement | null, element: HTMLElement | null, head: number): void {
  if (box === null || element === null) return;
  const [outer, own] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  const [above, below] = [outer.top + head - own.top, own.bottom - outer.top - box.clientHeight];
  if (above > 0) box.scrollTop -= above;
  else if (below > 0) box.scrollTop += below;
}
