/** Questions to the server of a page, asked when nothing has changed for a moment. */

import { useSignal, useSignalEffect } from "@preact/signals";

/** A question is asked when nothing has changed for this long, in milliseconds. */
const PAUSE_MS = 150;

/**
 * The reply to the latest question, or a text: `asking` until it arrives, else why there is none. `question` reads the
 * signals that the question depends on, and returns what asks it, or a text that says why it cannot be asked.
 */
export function useReply<T extends object>(question: () => ((signal: AbortSignal) => Promise<T>) | string, asking: string, nobody: string): T | string {
  const answer = useSignal<T | string>(asking);
  useSignalEffect(() => {
    const ask = question();
    const stop = new AbortController();
    // The last answer was to another question.
    answer.value = asking;
    const timer = setTimeout(() => {
      if (typeof ask === "string") {
        answer.value = ask;
        return;
      }
      ask(stop.signal).then(
        (reply) => {
          if (!stop.signal.aborted) answer.value = reply;
        },
        (error: unknown) => {
          if (!stop.signal.aborted) answer.value = `${nobody} did not answer: ${error instanceof Error ? error.message : String(error)}`;
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  });
  return answer.value;
}
