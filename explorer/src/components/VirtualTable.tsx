/**
 * A virtualised table: only the visible rows are in the document, so that tens of thousands scroll smoothly.
 *
 * Keyboard: the table is one tab stop; ↑ ↓, Page, Home and End move to a row and select it.
 * The header's buttons sort.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { keepElementInSight, keepInSight, linesInSight, useViewport } from "./viewport";

/** Tables with at most this many rows may show them in full, longer ones show each on a line. */
export const WRAPPED_ROWS = 80;

export interface TableColumn {
  key: string;
  title: ComponentChildren;
  /** A tooltip, where the title alone is too short. */
  hint?: string;
  /** In px; a column without a width takes the remaining space. */
  width?: number;
  align?: "end";
  isSortable?: boolean;
  cell: (row: number) => ComponentChildren;
}

export interface Sorting {
  key: string;
  isDescending: boolean;
}

interface Props {
  label: string;
  nRows: number;
  columns: readonly TableColumn[];
  /** The highlighted row; −1 for none. */
  active: number;
  onActivate: (row: number) => void;
  sorting?: Sorting | null;
  onSort?: (key: string) => void;
  /** Minimum width in px; a narrower table scrolls sideways. */
  minWidth?: number;
  empty?: string;
  /** Called with the current row when Space is pressed. */
  onTick?: (row: number) => void;
  /** Rows are as high as their text, and all in the document: for short tables. */
  wraps?: boolean;
}

export const ROW_HEIGHT = 28;
const HEADER_HEIGHT = 30;
const MARGIN_ROWS = 8;
let nTables = 0;

export function VirtualTable({ label, nRows, columns, active, onActivate, sorting, onSort, minWidth = 0, empty, onTick, wraps = false }: Props) {
  const { box, view, measure } = useViewport();
  const [id] = useState(() => `table${nTables++}`);
  useEffect(() => {
    if (!wraps) keepInSight(box.current, active, ROW_HEIGHT, HEADER_HEIGHT);
    else if (active >= 0) keepElementInSight(box.current, document.getElementById(`${id}-${active}`), HEADER_HEIGHT);
  }, [active, nRows, wraps]);

  const template = columns.map((column) => (column.width === undefined ? "minmax(160px, 1fr)" : `${column.width}px`)).join(" ");
  const shown = wraps ? Array.from({ length: nRows }, (_, row) => row) : linesInSight(view, ROW_HEIGHT, nRows, MARGIN_ROWS);

  const move = (event: KeyboardEvent) => {
    if (event.key === " " && onTick !== undefined && active >= 0 && event.target === box.current) {
      event.preventDefault();
      onTick(active);
      return;
    }
    const perPage = Math.max(1, Math.floor((view.height - HEADER_HEIGHT) / ROW_HEIGHT) - 1);
    const target = moved(event.key, active, nRows, perPage);
    if (target === null || event.target !== box.current) return;
    event.preventDefault();
    onActivate(target);
  };

  return (
    <div
      class={wraps ? "table wraps" : "table"}
      role="grid"
      aria-label={label}
      aria-rowcount={nRows + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      {...(shown.includes(active) ? { "aria-activedescendant": `${id}-${active}` } : {})}
      ref={box}
      onScroll={measure}
      onKeyDown={move}
    >
      <div class="table-inner" style={{ minWidth: `${minWidth}px` }}>
        <div class="table-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {columns.map((column) => (
            <HeaderCell key={column.key} column={column} sorting={sorting ?? null} onSort={onSort} />
          ))}
        </div>
        <div class="table-body" role="rowgroup" {...(wraps ? {} : { style: { height: `${nRows * ROW_HEIGHT}px` } })}>
          {shown.map((row) => (
            <div
              key={row}
              id={`${id}-${row}`}
              class={row === active ? "table-row is-active" : "table-row"}
              role="row"
              aria-rowindex={row + 2}
              aria-selected={row === active}
              style={wraps ? { gridTemplateColumns: template } : { gridTemplateColumns: template, transform: `translateY(${row * ROW_HEIGHT}px)` }}
              onClick={() => onActivate(row)}
            >
              {columns.map((column) => (
                <div key={column.key} role="gridcell" class={column.align === "end" ? "cell end" : "cell"}>
                  {column.cell(row)}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
      {nRows === 0 && <p class="table-empty">{empty ?? "Nothing to show."}</p>}
    </div>
  );
}

interface HeaderProps {
  column: TableColumn;
  sorting: Sorting | null;
  onSort: ((key: string) => void) | undefined;
}

function HeaderCell({ column, sorting, onSort }: HeaderProps) {
  const isSorted = sorting?.key === column.key;
  const order = !isSorted ? "none" : sorting.isDescending ? "descending" : "ascending";
  const classes = column.align === "end" ? "cell head end" : "cell head";
  if (column.isSortable !== true || onSort === undefined) {
    return (
      <div role="columnheader" class={classes} title={column.hint}>
        {column.title}
      </div>
    );
  }
  return (
    <div role="columnheader" class={classes} aria-sort={order}>
      <button type="button" class="plain" title={column.hint} onClick={() => onSort(column.key)}>
        {column.title}
        <span aria-hidden="true" class="sort-mark">{order === "none" ? "" : order === "ascending" ? "▲" : "▼"}</span>
      </button>
    </div>
  );
}

/** The row that a key moves to from the active row; null for other keys. */
export function moved(key: string, active: number, n: number, perPage: number): number | null {
  if (n === 0) return null;
  const within = (row: number) => Math.min(n - 1, Math.max(0, row));
  switch (key) {
    case "ArrowDown":
      return within(active + 1);
    case "ArrowUp":
      return within(active - 1);
    case "PageDown":
      return within(active + perPage);
    case "PageUp":
      return within(active - perPage);
    case "Home":
      return 0;
    case "End":
      return n - 1;
    default:
      return null;
  }
}
