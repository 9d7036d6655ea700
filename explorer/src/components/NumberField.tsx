/** A field for a number; text that is not one is replaced by the current number. */

import { numberOf } from "../lib/csv";
import { formatNumber } from "../lib/text";

interface NumberProps {
  label: string;
  value: number;
  isValid: (number: number) => boolean;
  onNumber: (number: number) => void;
}

export function NumberField({ label, value, isValid, onNumber }: NumberProps) {
  return (
    <label>
      {label}{" "}
      <input
        class="short-number"
        inputMode="decimal"
        value={formatNumber(value)}
        onChange={(event) => {
          const number = numberOf(event.currentTarget.value.trim().replace("−", "-"));
          if (number === number && isValid(number)) onNumber(number + 0);
          else event.currentTarget.value = formatNumber(value);
        }}
      />
    </label>
  );
}
