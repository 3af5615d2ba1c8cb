// Numbers as C's printf writes them, where the tables of the C tools depend on it.

/** As `%#0Wx`: with 0x within the width, but without for 0. */
export function prefixedHex(value: number | bigint, width: number): string {
  if (value === 0 || value === 0n) return '0'.padStart(width, '0');
  return `0x${value.toString(16).padStart(width - 2, '0')}`;
}

/** As `%-W.Df`. */
export function fixed(value: number, width: number, digits: number): string {
  return value.toFixed(digits).padEnd(width);
}

/** As `%-Wu`. */
export function whole(value: number, width: number): string {
  return String(value).padEnd(width);
}

const SIGNIFICANT = 6;

/** As `%g`, of 0 and from 0.0001 on: six digits that count, and no zeros after them. */
export function general(value: number): string {
  return value
    .toPrecision(SIGNIFICANT)
    .replace(/(\.\d*?)0+(?=e|$)/, '$1')
    .replace(/\.(?=e|$)/, '')
    .replace(/e([+-])(\d)$/, 'e$10$2');
}
