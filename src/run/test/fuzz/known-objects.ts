import type { FuzzMemory } from './memory.js';
import type { FuzzRegion, Nameable, Ring } from './rings.js';

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

/** What a queue pair's requests can name: with memory of its own domain and, of its peer's, also what peers have no right to. */
export function nameable(
  { keys, qps, regions }: KnownObjects,
  memory: FuzzMemory,
  ahs: readonly number[],
  domain: string,
  peerDomain: string,
): Nameable {
  const of = (name: string) => regions.filter((region) => region.domain === name);
  return { memory, keys, here: of(domain).filter(({ sealed }) => !sealed), there: of(peerDomain), qps, ahs };
}
