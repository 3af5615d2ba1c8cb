import type { FullAddress } from '../../api/rdmacm/index.js';
import type { Context, OpenOptions } from '../../api/verbs/index.js';
import { connectStream, listenStreams, type StreamOptions, type StreamSocket } from '../rsocket/index.js';
import { isIP } from 'node:net';
import { lookUpFrom } from '../../api/provider/index.js';

export const rsockets: Transport = {
  resolve: async (host, family, context) => {
    const found = await lookUpFrom(context, 'rdma_getaddrinfo', host, family);
    // That of IPv6 loopback is one only, which somebody may have already.
    return [...found].sort((a, b) => isIP(a) - isIP(b));
  },
  connect: connectStream,
  listen: listenStreams,
};

/** Which device a socket is on. */
export interface DeviceOptions {
  /** The device. Default: one that the program has, opened when it has none that leads there; in a simulation, the host's. */
  readonly context?: Context | undefined;
  /** How the device is opened where it is not there yet. */
  readonly open?: Omit<OpenOptions, 'address' | 'device'> | undefined;
}

export interface ConnectTarget extends StreamOptions {
  readonly host: string;
  readonly port: number;
  readonly localAddress?: string;
  readonly localPort?: number;
  readonly context?: Context;
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface ListenTarget extends StreamOptions {
  /** An address of one's own. Default: that of the program's default device. */
  readonly host?: string;
  /** Default: any that is free. */
  readonly port?: number;
  readonly backlog?: number;
  readonly context?: Context;
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
}

/** A method, so that what gives streams of one kind fits as well. */
interface StreamTaker {
  take(stream: StreamSocket): void;
}

/** What brings streams. */
export interface StreamListener {
  readonly address: FullAddress;
  /** Called for each stream that has come. It is set in the turn in which the listener was made. */
  onStream: StreamTaker['take'] | undefined;
  close(): void;
  ref(): void;
  unref(): void;
}

/** What sockets are made on: rsockets, or whatever has such streams. */
export interface Transport {
  /**
   * The addresses of a name, the first to be tried first.
   *
   * @param context the device, where it is known: a simulated host has names of its own
   * @throws VerbsError (the promise rejects) when there is no such name
   */
  resolve(host: string, family: 4 | 6 | undefined, context: Context | undefined): Promise<readonly string[]>;
  /** @throws VerbsError (the promise rejects) ECONNREFUSED, ETIMEDOUT and so on; the signal's reason */
  connect(target: ConnectTarget): Promise<StreamSocket>;
  /** @throws VerbsError EADDRINUSE, EADDRNOTAVAIL and so on */
  listen(target: ListenTarget): StreamListener;
}
