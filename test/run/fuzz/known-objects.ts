import type { FuzzRegion, Ring } from './rings.js';

export type Kind = 'pd' | 'mr' | 'mw' | 'ah' | 'cq' | 'qp' | 'srq';

/** A queue pair as its program knows it. */
export interface FuzzQp {
  /** The protection domain, and that of its peer. */
  readonly domain: string;
  peerDomain: string;
  readonly handle: number;
  readonly number: number;
  readonly type: number;
  readonly sends: Ring | undefined;
  readonly receives: Ring | undefined;
}

/** What the programs know of each other: keys, numbers and addresses, which may be out of date. */
export interface KnownObjects {
  readonly keys: number[];
  readonly regions: FuzzRegion[];
  readonly qps: number[];
  readonly gids: readonly Uint8Array[];
  /** How many of each status were polled. */
  readonly completions: Map<number, number>;
}
