/** The number of rows in a report, in words. */

import type { Table } from "./table";
import { counted, grouped } from "./text";

export function rowsShown(table: Table | null): string {
  if (table === null) return "no rows";
  return table.nRows === table.nTotal ? `all ${counted(table.nTotal, "row")}` : `${grouped(table.nRows)} of ${counted(table.nTotal, "row")}`;
}
