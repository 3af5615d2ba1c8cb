/** What a supervisor and the programs that it has started say to each other. */
import type { HostKind, LinkKind } from '../../src/entry/index.js';

/** Where a program that is told so dies, by its own hand: in the midst of what. */
export const MOMENTS = ['write', 'send', 'read', 'atomic', 'connect', 'accept', 'close'] as const;
export type Moment = (typeof MOMENTS)[number];

export const PORT = 7471;

/** What a program is told when it starts. */
export interface MemberOptions {
  readonly role: 'server' | 'client' | 'crowd' | 'hosted client';
  readonly address: string;
  readonly server: string;
  readonly host: HostKind;
  readonly link: LinkKind;
  readonly netem: string;
  /** File that takes the packets; '' for none. */
  readonly capture: string;
  readonly seed: number;
}

export type Order =
  | { readonly order: 'finish' }
  /** Dies within `delayMs` of the next such moment. */
  | { readonly order: 'die'; readonly moment: Moment; readonly delayMs: number }
  /** Stops looking at anything for so long. */
  | { readonly order: 'slow'; readonly ms: number }
  /** Makes the buffers of its sockets as small as the kernel lets them be, for so long. */
  | { readonly order: 'squeeze'; readonly ms: number }
  /** Connects so many times at once. */
  | { readonly order: 'crowd'; readonly count: number }
  /** Terminates the thread that the client runs in, and starts it anew. */
  | { readonly order: 'terminate'; readonly restMs: number }
  | { readonly order: 'dump' };

/** What was done so far. */
export interface Figures {
  rounds: number;
  writes: number;
  sends: number;
  reads: number;
  atomics: number;
  bytes: number;
  connections: number;
  crowds: number;
}

export function noFigures(): Figures {
  return { rounds: 0, writes: 0, sends: 0, reads: 0, atomics: 0, bytes: 0, connections: 0, crowds: 0 };
}

/** Memory and descriptors of a process, after a garbage collection. */
export interface Footprint {
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly descriptors: number;
  readonly cpuMs: number;
}

export type Report =
  | { readonly report: 'ready' }
  | { readonly report: 'up'; readonly connection: number }
  /** `reason`: of what it ended; 'closed' when both wanted it. */
  | { readonly report: 'down'; readonly connection: number; readonly reason: string }
  /** Something failed that may fail, when a fault is about. */
  | { readonly report: 'failed'; readonly what: string }
  | { readonly report: 'violation'; readonly text: string }
  | { readonly report: 'crowd'; readonly count: number; readonly failed: number; readonly tookMs: number }
  | { readonly report: 'terminated'; readonly tookMs: number }
  | {
      readonly report: 'status';
      readonly figures: Figures;
      /** The longest time since the last status in which the machine did not let it run. */
      readonly stallMs: number;
      readonly doing: string;
      readonly footprint: Footprint | undefined;
    }
  | { readonly report: 'dump'; readonly text: string };

/** What a client says of itself when it connects; 20 bytes. */
export interface Hello {
  readonly connection: number;
  readonly key: number;
  readonly slots: number;
  readonly slotBytes: number;
}

/** What a server says when it accepts: where its memory is. */
export interface Welcome {
  readonly key: number;
  readonly slots: { readonly addr: bigint; readonly rkey: number };
  readonly library: { readonly addr: bigint; readonly rkey: number };
  readonly counter: { readonly addr: bigint; readonly rkey: number };
}

const HELLO_WORDS = 4;

export function packHello({ connection, key, slots, slotBytes }: Hello): Uint8Array {
  return new Uint8Array(Uint32Array.of(connection, key, slots, slotBytes).buffer);
}

export function unpackHello(bytes: Uint8Array): Hello {
  const [connection, key, slots, slotBytes] = new Uint32Array(Uint8Array.from(bytes).buffer, 0, HELLO_WORDS);
  return { connection, key, slots, slotBytes };
}

const REGION_BYTES = 12;

export function packWelcome({ key, slots, library, counter }: Welcome): Uint8Array {
  const bytes = new Uint8Array(4 + 3 * REGION_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, key);
  [slots, library, counter].forEach(({ addr, rkey }, i) => {
    view.setBigUint64(4 + i * REGION_BYTES, addr);
    view.setUint32(12 + i * REGION_BYTES, rkey);
  });
  return bytes;
}

export function unpackWelcome(bytes: Uint8Array): Welcome {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const region = (i: number): { addr: bigint; rkey: number } => ({
    addr: view.getBigUint64(4 + i * REGION_BYTES),
    rkey: view.getUint32(12 + i * REGION_BYTES),
  });
  return { key: view.getUint32(0), slots: region(0), library: region(1), counter: region(2) };
}
