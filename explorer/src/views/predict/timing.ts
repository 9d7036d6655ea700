/** Pauses of the view, in milliseconds. */


/** A question is asked when nothing has changed for this long. */
export const PAUSE_MS = 150;

/** A search may block the page for this long. */
export const SLICE_MS = 10;
