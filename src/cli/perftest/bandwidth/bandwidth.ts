import { type Exchange } from '../exchange/exchange.js';

/** The result of a bandwidth run, in the units of the table. */
export interface Bandwidth {
  readonly sizeBytes: number;
  /** Messages, over all queue pairs together. */
  readonly iterations: number;
  /** 0 when it was not measured. */
  readonly peak: number;
  readonly average: number;
  /** Millions of messages a second. */
  readonly messageRate: number;
}

/** The units of bandwidth that a table can have: bytes a second in one of them. */
export const MIB_PER_S = 2 ** 20;
export const GBIT_PER_S = 1e9 / 8;

export interface Count {
  readonly messages: number;
  readonly elapsedMs: number;
  /** Of the fastest stretch, milliseconds a message; Infinity when it was not measured. */
  readonly fastestMs: number;
}

/** @param unit bytes a second: {@link MIB_PER_S} or {@link GBIT_PER_S} */
export function bandwidthOf({ messages, elapsedMs, fastestMs }: Count, sizeBytes: number, unit: number): Bandwidth {
  const perSecond = elapsedMs > 0 ? (messages / elapsedMs) * 1000 : 0;
  return {
    sizeBytes,
    iterations: messages,
    peak: fastestMs > 0 ? (sizeBytes * 1000) / fastestMs / unit : 0,
    average: (perSecond * sizeBytes) / unit,
    messageRate: perSecond / 1e6,
  };
}

export function sumOf(own: Bandwidth, theirs: Bandwidth): Bandwidth {
  return {
    ...own,
    peak: own.peak + theirs.peak,
    average: own.average + theirs.average,
    messageRate: own.messageRate + theirs.messageRate,
  };
}

async function swapCount(exchange: Exchange, own: number): Promise<number> {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(own));
  return Number((await exchange.swap(bytes, 'report')).readBigUInt64BE(0));
}

async function swapFigure(exchange: Exchange, own: number): Promise<number> {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(own);
  return (await exchange.swap(bytes, 'report')).readDoubleBE(0);
}

/** Tells the peer what came out on this side, and learns what did there: five exchanges (protocol/tools.md 7.3). */
export async function swapReports(exchange: Exchange, own: Bandwidth): Promise<Bandwidth> {
  const sizeBytes = await swapCount(exchange, own.sizeBytes);
  const iterations = await swapCount(exchange, own.iterations);
  const peak = await swapFigure(exchange, own.peak);
  const average = await swapFigure(exchange, own.average);
  return { sizeBytes, iterations, peak, average, messageRate: await swapFigure(exchange, own.messageRate) };
}

export const NOTHING_MEASURED: Bandwidth = { sizeBytes: 0, iterations: 0, peak: 0, average: 0, messageRate: 0 };
