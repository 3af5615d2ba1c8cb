import { readFileSync } from 'node:fs';
import { getDeviceList, type PublishedStatistics, readStatistics } from '../../entry/index.js';
import { ToolError } from '../kit/errors.js';

/** The facts of one row, in their order. */
export type Facts = readonly (readonly [name: string, value: string | number])[];

export interface Row {
  /** How its line begins, and the same as facts for JSON. */
  readonly label: string;
  readonly labelFacts: Facts;
  readonly facts: Facts;
  /** Facts that JSON always has, and the text on demand. */
  readonly jsonFacts?: Facts;
  /** Facts shown on demand. */
  readonly details?: Facts;
}

/** The devices have one port. */
const PORT = 1;

export function deviceIndex(name: string): number {
  const index = getDeviceList().findIndex((device) => device.name === name);
  if (index < 0) throw new ToolError('Wrong device name');
  return index;
}

/** All NICs that run, or those of one link: all bear the same name, so address and process tell them apart. */
export function running(link: string | undefined): readonly PublishedStatistics[] {
  const nics = readStatistics();
  if (link === undefined) return nics;
  const [name, port = ''] = link.split('/', 2);
  deviceIndex(name);
  if (port !== '' && Number(port) !== PORT) throw new ToolError('Wrong device name');
  return nics.filter(({ device }) => device === name);
}

export function linkOf({ device }: PublishedStatistics): Pick<Row, 'label' | 'labelFacts'> {
  const index = Math.max(
    0,
    getDeviceList().findIndex(({ name }) => name === device),
  );
  const labelFacts = [
    ['ifindex', index],
    ['ifname', device],
    ['port', PORT],
  ] as const;
  return { label: `link ${device}/${PORT}`, labelFacts };
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
