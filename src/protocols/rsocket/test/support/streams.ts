import assert from 'node:assert/strict';
import type { Sim, SimHost } from '../../../../entry/sim.js';
import {
  connectStream,
  listenStreams,
  type StreamListener,
  type StreamOptions,
  type RsocketStreamSocket,
} from '../../index.js';

export const PORT = 7471;

/** An owner of a stream that writes what it is given, reads all that comes, and notes what it is told. */
export class Owner {
  /** What it was told, without repetitions. */
  readonly told: string[] = [];
  error: Error | undefined;
  readonly closed: Promise<void>;
  /** Bytes that have come. */
  received = 0;
  onBytes: (bytes: Uint8Array) => void = () => {};
  reads = true;
  #toSend: Uint8Array[] = [];
  #then: (() => void) | undefined;
  #isClosed: (() => void) | undefined;
  #waiting: (() => void)[] = [];

  constructor(readonly stream: RsocketStreamSocket) {
    this.closed = new Promise((resolve) => {
      this.#isClosed = resolve;
    });
    stream.events = {
      readable: () => {
        this.#note('readable');
        if (this.reads) this.readAll();
      },
      writable: () => {
        this.#note('writable');
        this.#pump();
      },
      drained: () => this.#note('drained'),
      closed: (error) => {
        assert.ok(!this.told.includes('closed'), 'closed is told once');
        this.#note('closed');
        this.error = error;
        this.#isClosed?.();
      },
    };
  }

  /** Sends bytes, and calls `then` once they were taken. */
  send(bytes: Uint8Array, then?: () => void): void {
    this.#toSend.push(bytes);
    this.#then = then;
    this.#pump();
  }

  readAll(): void {
    for (let bytes = this.stream.peek(); bytes.length > 0; bytes = this.stream.peek()) {
      this.received += bytes.length;
      this.onBytes(bytes);
      this.stream.consume(bytes.length);
    }
    this.#wake();
  }

  /** Resolves once it was told that, or has so many bytes. */
  async until(what: string | number | (() => boolean)): Promise<void> {
    const isSo =
      typeof what === 'function'
        ? what
        : (): boolean => (typeof what === 'number' ? this.received >= what : this.told.includes(what));
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #note(event: string): void {
    if (!this.told.includes(event)) this.told.push(event);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #pump(): void {
    while (this.#toSend.length > 0) {
      const [bytes] = this.#toSend;
      const taken = this.stream.write(bytes);
      if (taken < bytes.length) {
        this.#toSend[0] = bytes.subarray(taken);
        return;
      }
      this.#toSend.shift();
    }
    const then = this.#then;
    this.#then = undefined;
    then?.();
  }
}

/** Two hosts with a stream from the second one to the first. */
export interface StreamPair {
  readonly server: SimHost;
  readonly client: SimHost;
  readonly listener: StreamListener;
  readonly atServer: Owner;
  readonly atClient: Owner;
}

export function nextStream(listener: StreamListener): Promise<RsocketStreamSocket> {
  return new Promise((resolve) => {
    listener.onStream = resolve;
  });
}

/** Connects two new hosts. */
export async function connected(
  sim: Sim,
  ofServer: StreamOptions = {},
  ofClient: StreamOptions = {},
): Promise<StreamPair> {
  const [server, client] = [sim.host('server'), sim.host('client')];
  const listener = listenStreams({ ...ofServer, port: PORT, context: server.context });
  const accepted = nextStream(listener);
  const atClient = new Owner(await client.run(() => connectStream({ ...ofClient, host: 'server', port: PORT })));
  const atServer = new Owner(await accepted);
  return { server, client, listener, atServer, atClient };
}

/** Bytes that tell where they stand. */
export function pattern(from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i += 1) bytes[i] = patternAt(from + i);
  return bytes;
}

export function patternAt(at: number): number {
  return (at * 7 + (at >>> 8) * 13 + (at >>> 16) * 29) & 0xff;
}

/** Has an owner check that what comes is the pattern from 0 on. */
export function expectPattern(owner: Owner): void {
  let at = 0;
  owner.onBytes = (bytes) => {
    for (let i = 0; i < bytes.length; i += 1)
      if (bytes[i] !== patternAt(at + i)) assert.fail(`byte ${at + i} is ${bytes[i]}, not ${patternAt(at + i)}`);
    at += bytes.length;
  };
}
