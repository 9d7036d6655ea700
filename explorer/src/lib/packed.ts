/** Unpacks arrays from base64. */

import type { Packed } from "../payload";

export type Codes = Uint8Array | Uint16Array | Uint32Array;

function bytes(text: string): ArrayBuffer {
  const binary = atob(text);
  const buffer = new ArrayBuffer(binary.length);
  const view = new Uint8Array(buffer);
  for (let i = 0; i < binary.length; i++) view[i] = binary.charCodeAt(i);
  return buffer;
}

/** Browsers run on little-endian machines only, so the bytes need no swapping. */
export function unpackCodes(packed: Packed): Codes {
  const buffer = bytes(packed.data);
  switch (packed.type) {
    case "u1":
      return new Uint8Array(buffer);
    case "u2":
      return new Uint16Array(buffer);
    case "u4":
      return new Uint32Array(buffer);
    default:
      throw new Error(`Expected packed codes, found ${packed.type}.`);
  }
}

export function unpackNumbers(packed: Packed): Float64Array {
  const buffer = bytes(packed.data);
  switch (packed.type) {
    case "f4":
      return Float64Array.from(new Float32Array(buffer));
    case "f8":
      return new Float64Array(buffer);
    default:
      throw new Error(`Expected packed numbers, found ${packed.type}.`);
  }
}
