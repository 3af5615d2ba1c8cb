import { SipHash } from '../store/index.js';

const ENCODER = new TextEncoder();

/** A server that keys can be at, with the hash that weighs them. */
interface Candidate<T> {
  readonly who: T;
  readonly place: bigint;
  readonly hash: SipHash;
}

/**
 * Which of several servers has a key: that which weighs it most, where each weighs each key by a hash of its own (Thaler and Ravishankar, "Using name-based
 * mappings to increase hit rates", IEEE/ACM Transactions on Networking 1998). When a server goes, its keys alone move, to all others alike; when one comes, it takes
 * keys from all others alike. Who knows the same names agrees, with nobody to ask.
 */
export class Rendezvous<T extends { readonly name: string }> {
  /** By their {@link placeOf}. */
  readonly #candidates: readonly Candidate<T>[];

  /** @param servers at least one, each with another name; in any order */
  constructor(servers: Iterable<T>) {
    this.#candidates = Array.from(servers, (who) => {
      const place = placeOf(who.name);
      return { who, place, hash: new SipHash(place) };
    }).sort((a, b) => (a.place < b.place ? -1 : 1));
  }

  homeOf(key: Uint8Array): T {
    let [{ who: home }] = this.#candidates;
    let high = -1;
    let low = -1;
    for (const { who, hash } of this.#candidates) {
      hash.of(key, 0, key.length);
      const ofHigh = hash.high >>> 0;
      const ofLow = hash.low >>> 0;
      if (ofHigh < high || (ofHigh === high && ofLow <= low)) continue;
      home = who;
      high = ofHigh;
      low = ofLow;
    }
    return home;
  }

  /** The first at a place or behind it; undefined when there is none. So a walk through all of them survives that others come and go. */
  from(place: bigint): { readonly who: T; readonly place: bigint } | undefined {
    return this.#candidates.find((candidate) => candidate.place >= place);
  }
}

/** 64 bits for a name: the seed with which a server of that name weighs keys, and its place in a walk through all of them. */
export function placeOf(name: string): bigint {
  const hash = new SipHash(0n);
  const bytes = ENCODER.encode(name);
  hash.of(bytes, 0, bytes.length);
  return (BigInt(hash.high >>> 0) << 32n) | BigInt(hash.low >>> 0);
}
