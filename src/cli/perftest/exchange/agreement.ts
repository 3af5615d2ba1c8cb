import type { Mtu } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';
import type { Exchange } from './exchange.js';

/**
 * The version whose exchange this is. From 6.28 on the C tools would tell each other their device's attributes as well,
 * in a form that only they know; they leave it to older ones.
 */
export const VERSION = '6.06';

const VERSION_BYTES = 16;
const OLDEST = 5.7;
const PAGE_BYTES = 4096;
const CACHE_LINE_BYTES = 64;
/** No machine has larger ones; memory is sized by them. */
const MAX_PAGE_BYTES = 1 << 20;
const MAX_CACHE_LINE_BYTES = 1 << 12;

export interface Agreement {
  readonly mtu: Mtu;
  /** Messages take turns within so many bytes, as long as two fit. */
  readonly cycleBytes: number;
  /** And lie so far apart at least. */
  readonly cacheLineBytes: number;
}

export function alone(mtu: Mtu): Agreement {
  return { mtu, cycleBytes: PAGE_BYTES, cacheLineBytes: CACHE_LINE_BYTES };
}

function versionOf(bytes: Buffer, tool: string): number {
  const text = bytes.toString('latin1').replace(/\0.*$/s, '');
  const version = /^\d+(\.\d+)?/.exec(text)?.[0];
  if (version === undefined) {
    throw new ToolError(`The peer sent ${JSON.stringify(text)} where a version was expected; is it an ${tool}?`);
  }
  if (Number(version) < OLDEST) {
    throw new ToolError(
      `The peer's version is ${version}; versions older than 5.70 speak otherwise; install a newer perftest there.`,
    );
  }
  return Number(version);
}

/** Tells a number and takes the peer's; the larger counts. */
async function larger(exchange: Exchange, own: number, most: number, what: string): Promise<number> {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(own);
  const theirs = (await exchange.swap(bytes, what)).readUInt32BE(0);
  if (theirs > most) throw new ToolError(`The peer says that its ${what} is ${theirs} bytes, which cannot be.`);
  return Math.max(own, theirs);
}

/** An MTU is sent as a digit and a NUL; the smaller one counts, and an invalid one is ignored. */
async function smallerMtu(exchange: Exchange, own: Mtu): Promise<Mtu> {
  const theirs = Number.parseInt(
    (await exchange.swap(Buffer.from(`${own}\0`, 'latin1'), 'MTU')).toString('latin1'),
    10,
  );
  switch (theirs) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      return theirs < own ? theirs : own;
    default:
      return own;
  }
}

/**
 * What the two sides tell each other first (protocol/tools.md 7.3).
 *
 * @param tool this side's name, for when the peer is another one
 * @throws ToolError when the peer is too old, or no tool of that kind
 */
export async function agree(exchange: Exchange, mtu: Mtu, tool: string): Promise<Agreement> {
  const version = Buffer.alloc(VERSION_BYTES);
  version.write(VERSION, 'latin1');
  exchange.peerVersion = versionOf(await exchange.swap(version, 'version'), tool);
  const cycleBytes = await larger(exchange, PAGE_BYTES, MAX_PAGE_BYTES, 'page size');
  const cacheLineBytes = await larger(exchange, CACHE_LINE_BYTES, MAX_CACHE_LINE_BYTES, 'cache line size');
  return { mtu: await smallerMtu(exchange, mtu), cycleBytes, cacheLineBytes };
}
