import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { getDeviceList, type PublishedStatistics, readStatistics } from '../../entry/index.js';
import { ToolError } from '../kit/errors.js';

/** A key or an address, hexadecimal; the text has 0x before it, and JSON has not. */
export interface Hex {
  readonly hex: string;
}
export type Value = string | number | boolean | Hex | readonly string[];
export type Facts = readonly (readonly [name: string, value: Value])[];

/** As iproute2 prints a value. */
export function textOf(value: Value): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'object') return String(value);
  return 'hex' in value ? `0x${value.hex}` : value.join(',');
}

/** As iproute2 has a value in JSON. */
export function jsonOf(value: Value): Exclude<Value, Hex> {
  return typeof value === 'object' && 'hex' in value ? value.hex : value;
}

export interface Row {
  /** How its line begins, and the same as facts for JSON. */
  readonly label: string;
  readonly labelFacts: Facts;
  readonly facts: Facts;
  /** Facts that JSON always has, and the text on demand. */
  readonly jsonFacts?: Facts;
  readonly details?: Facts;
}

const PORT = 1;

export function deviceIndex(name: string): number {
  const index = getDeviceList().findIndex((device) => device.name === name);
  if (index < 0) throw new ToolError('Wrong device name');
  return index;
}

/** Facts that NICs are chosen by. All bear the same name, so address and process tell them apart. */
const OWN_FILTERS = ['address', 'pid'] as const;

/**
 * The NICs that run, as words choose them: `[link|dev] [DEV[/PORT]|ADDRESS] [address A,...] [pid N,...]`.
 *
 * @param filters facts of their objects that may be named as well
 * @returns also which facts were named, with the values that commas part
 */
export function running(
  words: readonly string[],
  filters: readonly string[] = [],
): { readonly nics: readonly PublishedStatistics[]; readonly wanted: ReadonlyMap<string, readonly string[]> } {
  const rest = match(words[0], ['link', 'dev']) === undefined ? [...words] : words.slice(1);
  const names: readonly string[] = [...filters, ...OWN_FILTERS];
  // Facts come in pairs.
  const which = rest.length % 2 === 0 ? undefined : rest.shift();
  const wanted = new Map<string, readonly string[]>();
  for (let i = 0; i < rest.length; i += 2) {
    const name = match(rest[i], names);
    const value = rest.at(i + 1);
    if (name === undefined || value === undefined) throw new ToolError(`Unknown parameter '${rest[i]}'.`);
    wanted.set(name, value.split(','));
  }
  if (which !== undefined && isIP(which) !== 0) wanted.set('address', [which]);
  else if (which !== undefined) checkLink(which);
  const nics = readStatistics().filter(({ address }) => wanted.get('address')?.includes(address) !== false);
  return { nics, wanted };
}

/** Whether facts are as words want them; numbers may be hexadecimal. */
export function isWanted(facts: Facts, wanted: ReadonlyMap<string, readonly string[]>): boolean {
  return [...wanted].every(([name, values]) =>
    facts.some(([key, value]) => key === name && values.some((each) => isValue(value, each))),
  );
}

function isValue(value: Value, text: string): boolean {
  if (typeof value === 'number') return text !== '' && Number(text) === value;
  if (typeof value === 'object' && !('hex' in value)) return value.includes(text);
  return textOf(value) === text;
}

function checkLink(link: string): void {
  const [name, port = ''] = link.split('/', 2);
  deviceIndex(name);
  if (port !== '' && Number(port) !== PORT) throw new ToolError('Wrong device name');
}

function indexOf({ device }: PublishedStatistics): number {
  return Math.max(
    0,
    getDeviceList().findIndex(({ name }) => name === device),
  );
}

/** Of objects that belong to a device and to no port. */
export function deviceOf(nic: PublishedStatistics): Pick<Row, 'label' | 'labelFacts'> {
  return {
    label: `dev ${nic.device}`,
    labelFacts: [
      ['ifindex', indexOf(nic)],
      ['ifname', nic.device],
    ],
  };
}

export function linkOf(nic: PublishedStatistics): Pick<Row, 'label' | 'labelFacts'> {
  return {
    label: `link ${nic.device}/${PORT}`,
    labelFacts: [...deviceOf(nic).labelFacts, ['port', PORT]],
  };
}

/** Of a line that counts the objects of a device. */
export function summaryOf(nic: PublishedStatistics): Pick<Row, 'label' | 'labelFacts'> {
  return { ...deviceOf(nic), label: `${indexOf(nic)}: ${nic.device}:` };
}

export const whose = ({ address, pid }: PublishedStatistics): Facts => [
  ['address', address],
  ['pid', pid],
];

/** A process, and what it is called; the system may not tell the latter. */
export function processFacts(pid: number): Facts {
  const name = comm(pid);
  return [['pid', pid], ...(name === undefined ? [] : [['comm', name] as const])];
}

function comm(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd();
  } catch {
    return undefined;
  }
}

/** As iproute2 takes words: any beginning of one of them will do. */
export function match<Word extends string>(text: string | undefined, words: readonly Word[]): Word | undefined {
  return text === undefined || text === '' ? undefined : words.find((word) => word.startsWith(text));
}
