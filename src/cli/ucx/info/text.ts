// What UCX's tool prints, to the column.

const NAME_WIDTH = 20;
const UNITS = [
  [2 ** 30, 'G'],
  [2 ** 20, 'M'],
  [2 ** 10, 'K'],
] as const;

/** A length as UCX writes it: 8K, 4160, inf. */
export function sizeText(bytes: number): string {
  if (bytes === Infinity) return 'inf';
  const unit = UNITS.find(([scale]) => bytes >= scale && bytes % scale === 0);
  return unit === undefined ? String(bytes) : `${bytes / unit[0]}${unit[1]}`;
}

/** A line of facts: the name ends where those of the others do. */
export function factLine(name: string, value: string): string {
  return `# ${name.padStart(NAME_WIDTH)}: ${value}
`;
}

/** A heading. */
export function headText(text: string): string {
  return `#\n# ${text}\n#\n`;
}
