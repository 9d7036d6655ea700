/** Lines of equal height of which only those in sight exist; used where a grid of cells would say too much. */

import type { ComponentChildren, HTMLAttributes } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  nLines: number;
  lineHeight: number;
  /** The line that is kept in sight; −1 for none. */
  active: number;
  line: (line: number, style: { transform: string; height: string }) => ComponentChildren;
  /** Of the element around: role, label, keys. */
  attributes: HTMLAttributes<HTMLDivElement>;
  class: string;
}

const MARGIN_LINES = 8;

export function VirtualList({ nLines, lineHeight, active, line, attributes, class: name }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const measure = () => {
    if (box.current !== null) setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  };
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null || active < 0) return;
    const top = active * lineHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + lineHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + lineHeight - element.clientHeight;
  }, [active, nLines]);
  const first = Math.max(0, Math.floor(view.top / lineHeight) - MARGIN_LINES);
  const last = Math.min(nLines, Math.ceil((view.top + view.height) / lineHeight) + MARGIN_LINES);
  const shown = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  return (
    <div {...attributes} class={name} ref={box} onScroll={measure}>
      <div class="lines" style={{ height: `${nLines * lineHeight}px` }}>
        {shown.map((i) => line(i, { transform: `translateY(${i * lineHeight}px)`, height: `${lineHeight}px` }))}
      </div>
    </div>
  );
}
