/** A text in which the words of a search are marked. */

export function Highlighted({ text, words }: { text: string; words: readonly string[] }) {
  const parts = markedParts(text, words);
  return <>{parts.map((part, i) => (part.isFound ? <mark key={i}>{part.text}</mark> : part.text))}</>;
}

function markedParts(text: string, words: readonly string[]): { text: string; isFound: boolean }[] {
  const lower = text.toLowerCase();
  // Lower case may be longer in some scripts; then places would not fit.
  if (words.length === 0 || lower.length !== text.length) return [{ text, isFound: false }];
  const isFound = new Uint8Array(text.length);
  for (const word of words) {
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) isFound.fill(1, at, at + word.length);
  }
  const parts: { text: string; isFound: boolean }[] = [];
  let from = 0;
  for (let i = 1; i <= text.length; i++) {
    if (i < text.length && isFound[i] === isFound[from]) continue;
    parts.push({ text: text.slice(from, i), isFound: isFound[from] === 1 });
    from = i;
  }
  return parts;
}
