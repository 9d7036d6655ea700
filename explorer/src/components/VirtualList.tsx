/** A virtualised list: only the visible lines, all of equal height, are in the document. For lists that are not grids. */

import type { ComponentChildren, HTMLAttributes } from "preact";
import { useEffect } from "preact/hooks";
import { keepInSight, linesInSight, useViewport } from "./viewport";

interface Props {
  nLines: number;
  lineHeight: number;
  /** The line that is kept visible; −1 for none. */
  active: number;
  line: (line: number, style: { transform: string; height: string }) => ComponentChildren;
  /** Attributes of the surrounding element: role, label, keys. */
  attributes: HTMLAttributes<HTMLDivElement>;
  class: string;
}

const MARGIN_LINES = 8;

export function VirtualList({ nLines, lineHeight, active, line, attributes, class: name }: Props) {
  const { box, view, measure } = useViewport();
  useEffect(() => keepInSight(box.current, active, lineHeight), [active, nLines]);
  const shown = linesInSight(view, lineHeight, nLines, MARGIN_LINES);
  return (
    <div {...attributes} class={name} ref={box} onScroll={measure}>
      <div class="lines" style={{ height: `${nLines * lineHeight}px` }}>
        {shown.map((i) => line(i, { transform: `translateY(${i * lineHeight}px)`, height: `${lineHeight}px` }))}
      </div>
    </div>
  );
}
