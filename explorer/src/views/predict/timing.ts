/** Pauses of the view, in milliseconds. */


/** Questions wait until nothing has been changed for so long. */
export const PAUSE_MS = 150;

/** So long a search may hold the page. */
export const SLICE_MS = 10;
