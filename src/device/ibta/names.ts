/** The key under which `value` stands in a table of constants, or the number itself when it stands in none. */
export function nameOf(constants: Readonly<Record<string, number>>, value: number): string {
  for (const name of Object.keys(constants)) if (constants[name] === value) return name;
  return String(value);
}

/** The bits of `flags` by name, joined by `|`; `0` when none is set, and bits without a name in hexadecimal. */
export function flagNames(constants: Readonly<Record<string, number>>, flags: number): string {
  const names: string[] = [];
  let rest = flags;
  for (const name of Object.keys(constants)) {
    const bit = constants[name];
    if ((rest & bit) === 0) continue;
    names.push(name);
    rest &= ~bit;
  }
  if (rest !== 0) names.push(`0x${(rest >>> 0).toString(16)}`);
  return names.length === 0 ? '0' : names.join('|');
}
