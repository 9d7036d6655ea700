/** A number as a bar to the left or right of zero. Decorative: the number is always beside it. */

export function SignedBar({ value, largest }: { value: number; largest: number }) {
  const part = largest === 0 ? 0 : Math.min(1, Math.abs(value) / largest) * 50;
  return (
    <span class="signed" aria-hidden="true">
      <span class={value < 0 ? "signed-bar is-down" : "signed-bar is-up"} style={{ left: `${value < 0 ? 50 - part : 50}%`, width: `${part}%` }} />
    </span>
  );
}

/** The bar with its number, in a cell of a table. */
export function SignedNumber({ value, largest, text }: { value: number; largest: number; text: string }) {
  return (
    <span class="signed-number">
      <SignedBar value={value} largest={largest} />
      <strong class="number">{text}</strong>
    </span>
  );
}
