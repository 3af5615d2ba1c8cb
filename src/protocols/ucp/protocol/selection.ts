/** How a message goes to its receiver. The names are those that UCX gives in `UCX_PROTO_INFO`. */
export const Protocol = {
  SHORT: 'eager short',
  BCOPY: 'eager bcopy',
  ZCOPY: 'eager zcopy',
  BCOPY_MULTI: 'eager bcopy multi',
  RNDV_GET: 'rendezvous get zcopy',
  RNDV_PUT: 'rendezvous put zcopy',
  RNDV_AM: 'rendezvous am',
} as const;
export type Protocol = (typeof Protocol)[keyof typeof Protocol];

/** What a transport can do, in bytes; 0 for what it cannot. */
export interface TransportLimits {
  readonly am: { readonly short: number; readonly bcopy: number; readonly zcopy: number };
  readonly put: { readonly zcopy: number };
  readonly get: { readonly zcopy: number };
}

/** Who moves the data of a rendezvous: `UCX_RNDV_SCHEME`. */
export type RndvScheme = 'auto' | 'get_zcopy' | 'put_zcopy' | 'am';
export const RNDV_SCHEMES: readonly RndvScheme[] = ['auto', 'get_zcopy', 'put_zcopy', 'am'];

/** From how many bytes on another way is taken, though this one would do; Infinity for never. */
export interface Thresholds {
  /** `UCX_BCOPY_THRESH`: no longer short. */
  readonly bcopy: number;
  /** `UCX_ZCOPY_THRESH`: no longer copied. */
  readonly zcopy: number;
  /** `UCX_RNDV_THRESH`: no longer sent before the receiver has asked. */
  readonly rndv: number;
  readonly rndvScheme: RndvScheme;
}

/** Bytes that a message of a kind has beside its data. */
export interface HeaderBytes {
  readonly only: number;
}

/** Which lengths go by a protocol. */
export interface SizeRange {
  readonly protocol: Protocol;
  /** Bytes of the shortest. */
  readonly from: number;
  /** Bytes of the longest; Infinity where there is no end. */
  readonly to: number;
  /** Why, in a few words. */
  readonly why: string;
}

const DATA_MOVERS: Readonly<Record<Exclude<RndvScheme, 'auto'>, { protocol: Protocol; why: string }>> = {
  get_zcopy: { protocol: Protocol.RNDV_GET, why: 'the receiver reads it, once it has a buffer for it' },
  put_zcopy: { protocol: Protocol.RNDV_PUT, why: 'the sender writes it, once the receiver has named its buffer' },
  am: { protocol: Protocol.RNDV_AM, why: 'it is sent in parts, once the receiver has a buffer for it' },
};

/**
 * Which protocols there are for messages by a transport, and for which lengths: all lengths from 0 on, without gaps.
 *
 * @param limits of the transport, which packs at least
 */
export function sizeRanges(limits: TransportLimits, { only }: HeaderBytes, thresholds: Thresholds): SizeRange[] {
  const { am } = limits;
  // The first that is for a length gets it.
  return cut([
    { ...DATA_MOVERS[schemeOf(limits, thresholds.rndvScheme)], from: thresholds.rndv, to: Infinity },
    {
      protocol: Protocol.ZCOPY,
      from: thresholds.zcopy,
      to: am.zcopy - only,
      why: 'it goes from where it lies, in one message',
    },
    {
      protocol: Protocol.SHORT,
      from: 0,
      to: Math.min(am.short - only, thresholds.bcopy - 1),
      why: 'it is copied into the request itself',
    },
    { protocol: Protocol.BCOPY, from: 0, to: am.bcopy - only, why: 'it is packed into one buffer' },
    { protocol: Protocol.BCOPY_MULTI, from: 0, to: Infinity, why: 'it is packed into several buffers' },
  ]);
}

/** The protocol for a length. @param ranges of {@link sizeRanges}. @param size 0 or more */
export function selectProtocol(ranges: readonly SizeRange[], size: number): SizeRange {
  for (const range of ranges) if (size <= range.to) return range;
  throw new RangeError(`verbena: internal error: there is no protocol for ${size} bytes`);
}

/** The same as a sentence. */
export function explainProtocol(ranges: readonly SizeRange[], size: number): string {
  const { protocol, from, to, why } = selectProtocol(ranges, size);
  const bounds = to === Infinity ? `${from} bytes and more` : `${from} to ${to} bytes`;
  return `${size} bytes go by ${protocol}, as ${bounds} do: ${why}`;
}

/** Ranges side by side, out of some that overlap: each length is the first one's that has it. The last has all. */
function cut(candidates: readonly SizeRange[]): SizeRange[] {
  const begins = new Set(candidates.flatMap(({ from, to }) => [from, to + 1]));
  const ranges: SizeRange[] = [];
  for (const from of [...begins].sort((a, b) => a - b)) {
    const range = candidates.find((candidate) => candidate.from <= from && from <= candidate.to);
    if (from < 0 || from === Infinity || range === undefined) continue;
    const before = ranges.at(-1);
    if (before?.protocol === range.protocol) continue;
    if (before !== undefined) ranges[ranges.length - 1] = { ...before, to: from - 1 };
    ranges.push({ ...range, from, to: Infinity });
  }
  return ranges;
}

/** What a scheme comes to by a transport that may lack it. Reading comes first, since then the sender need not be told where. */
function schemeOf({ get, put }: TransportLimits, wish: RndvScheme): Exclude<RndvScheme, 'auto'> {
  if (get.zcopy > 0 && (wish === 'auto' || wish === 'get_zcopy')) return 'get_zcopy';
  if (put.zcopy > 0 && wish !== 'am' && (wish === 'put_zcopy' || get.zcopy === 0)) return 'put_zcopy';
  return 'am';
}
