import type { ErrorReply, Protocol, Reply, Soon } from '../resp/reply.js';
import type { Request } from '../resp/request-reader.js';
import type { KvClient } from '../../client/kv-client.js';

/** What a gateway asks of a store: what its commands need of a client. */
export type GatewayStore = Pick<
  KvClient,
  | 'keepsOrder'
  | 'get'
  | 'entry'
  | 'has'
  | 'set'
  | 'add'
  | 'cas'
  | 'delete'
  | 'incr'
  | 'touch'
  | 'ttl'
  | 'scanPage'
  | 'serverStatistics'
>;

/** What clients of Redis have room for. */
const CURSORS = 2n ** 64n;
const MOST_KEPT = 4096n;

/** Cursors of SCAN. For those of a store with several servers, which are longer than Redis' are, others stand: as many as were given last. */
export class ScanCursors {
  readonly #longer = new Map<bigint, bigint>();
  #last = 0n;

  given(cursor: bigint): bigint {
    if (cursor < CURSORS) return cursor;
    this.#last += 1n;
    this.#longer.set(this.#last, cursor);
    this.#longer.delete(this.#last - MOST_KEPT);
    return this.#last;
  }

  /** The store's cursor for one that a client was given. With one that is not kept any more the list begins anew. */
  taken(cursor: bigint): bigint {
    return this.#longer.get(cursor) ?? cursor;
  }
}

/** Who is served: what commands may know and change of a connection. */
export interface Caller {
  readonly store: GatewayStore;
  /** Its number: no other connection of the gateway has had it. */
  readonly id: number;
  /** As `CLIENT SETNAME` says. */
  name: string;
  protocol: Protocol;
  readonly gateway: GatewayFacts;
  /** Of all connections: a client may go on by another. */
  readonly cursors: ScanCursors;
  /** Ends the connection, once all is answered. */
  quit(): void;
}

export interface GatewayFacts {
  readonly port: number;
  readonly startedMs: number;
  readonly connections: number;
  readonly maxConnections: number;
  readonly totals: GatewayTotals;
}

/** What a gateway has counted. */
export interface GatewayTotals {
  /** Connections that have come. */
  connections: number;
  /** Those that were turned away, because there were as many as there may be. */
  refused: number;
  commands: number;
  /** Connections that were ended for what is no request. */
  faults: number;
  /** Those that were ended because more was kept for them than for any other, and there was no room for all. */
  evicted: number;
}

/** What a command is, as `COMMAND` tells clients. */
export type Flag = 'readonly' | 'write' | 'denyoom' | 'fast' | 'loading' | 'stale' | 'admin' | 'noscript';

/** Which arguments are keys: from `first` to `last`, each `step`; `last` counts from the end where it is below 0. */
export interface KeyPlaces {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

export const NO_KEYS: KeyPlaces = { first: 0, last: 0, step: 0 };
export const ONE_KEY: KeyPlaces = { first: 1, last: 1, step: 1 };
export const ALL_KEYS: KeyPlaces = { first: 1, last: -1, step: 1 };
export const KEYS_AND_VALUES: KeyPlaces = { first: 1, last: -1, step: 2 };

/** A command: what clients are told of it, and what it does. */
export interface Command {
  readonly name: string;
  /** How many arguments, the name among them; at least so many where it is below 0. */
  readonly arity: number;
  readonly flags: readonly Flag[];
  readonly keys: KeyPlaces;
  /** Whether it has several steps: then nothing of its connection begins before it is answered. */
  readonly isComposed?: (request: Request) => boolean;
  /** @throws CommandError, KvError */
  readonly run: (request: Request, caller: Caller) => Soon<Reply>;
}

export type Commands = readonly Command[];

/** A request that is refused; the text begins with a word in capitals. */
export class CommandError extends Error {
  constructor(readonly reply: ErrorReply) {
    super(reply.text);
  }
}

/** Whether a command takes so many arguments. */
export function fitsArity({ arity }: Command, count: number): boolean {
  return arity < 0 ? count >= -arity : count === arity;
}

export function keysOf({ keys: { first, last, step } }: Command, request: Request): Uint8Array[] {
  const keys: Uint8Array[] = [];
  if (first === 0) return keys;
  const end = last < 0 ? request.length + last : last;
  for (let at = first; at <= end; at += step) keys.push(request[at]);
  return keys;
}
