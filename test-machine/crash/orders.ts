/** What the programs of a crash run are told, on their command lines, and what they say. */
import type { SyncPolicy } from '../../src/protocols/kv/persistence/index.js';
import type { TransportName } from '../../src/entry/kv.js';

export interface ServerOrders {
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  readonly sync: SyncPolicy;
}

/** What a server says, as a line of JSON, once it serves. */
export interface ServerReady {
  readonly recoveredKeys: number;
  readonly lostBytes: number;
}

export interface ClientOrders {
  readonly host: string;
  readonly port: number;
  readonly localAddress: string;
  readonly transport: TransportName;
  /** Its keys begin with that, and are nobody else's. */
  readonly prefix: string;
  readonly keys: number;
  readonly seed: number;
}

/** Whether a key is a counter: INCR is all that is done to it. */
export function isCounter(key: string): boolean {
  return key.endsWith('n');
}

export function keysOf({ prefix, keys }: Pick<ClientOrders, 'prefix' | 'keys'>): readonly string[] {
  return Array.from({ length: keys }, (_, i) => `${prefix}-${i}${i % 4 === 0 ? 'n' : ''}`);
}
