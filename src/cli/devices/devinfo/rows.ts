// The layout is that of the C tool's `ibv_devinfo`, tabs included, so that scripts which read that read this too.

/** Before what stands on a line of its own under the attribute that it belongs to. */
const DEEP = '\t'.repeat(5);

export function numbered(name: string, value: number): string {
  return `${name} (${value})`;
}

/** The same, the name looked up. */
export function named(names: ReadonlyMap<number, string>, value: number, otherwise: string): string {
  return numbered(names.get(value) ?? otherwise, value);
}

export function hex(value: number | bigint, digits = 1): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}

/** In capitals, as the C tool prints what it does not look into. */
export function hexCapitals(value: number | bigint): string {
  return `0x${value.toString(16).toUpperCase()}`;
}

/** A label and its value, the value in the column that the C tool's tabs reach. */
function row(indent: number, label: string, valueColumn: number, value: string | number): string {
  const reached = indent * 8 + label.length + 1;
  const tabs = Math.max(1, Math.ceil((valueColumn - reached) / 8));
  return `${'\t'.repeat(indent)}${label}:${'\t'.repeat(tabs)}${value}`;
}

export const deviceRow = (label: string, value: string | number): string => row(1, label, 40, value);
export const portRow = (label: string, value: string | number): string => row(3, label, 48, value);

/** The names of the bits that are set, a line each, and what is left of them. */
export function flagRows(flags: number | bigint, names: Readonly<Record<string, number | bigint>>): string[] {
  let unknown = BigInt(flags);
  const lines: string[] = [];
  for (const [name, bit] of Object.entries(names)) {
    if ((unknown & BigInt(bit)) === 0n) continue;
    lines.push(`${DEEP}${name}`);
    unknown &= ~BigInt(bit);
  }
  if (unknown !== 0n) lines.push(`${DEEP}Unknown flags: ${hexCapitals(unknown)}`);
  return lines;
}

/** The same; no bit at all is said in words. */
export function supportRows(flags: number, names: Readonly<Record<string, number>>): string[] {
  return flags === 0 ? [`${DEEP}NO SUPPORT`] : flagRows(flags, names);
}
