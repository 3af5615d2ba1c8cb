import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import {
  PollEvents,
  rbind,
  rclose,
  rconnect,
  rgetsockname,
  rpoll,
  rrecvfrom,
  type Rsocket,
  rsendto,
  rsetsockopt,
  rsocket,
  type RsocketOptions,
  SocketLevel,
  SocketOption,
  SocketType,
  type SourceAddress,
} from '../../../entry/rsocket.js';
import { familyOf } from '../common/rsocket-carrier.js';

export interface Carrier {
  /** @param to default: whom the socket is connected with */
  send(bytes: Uint8Array, to?: SourceAddress): Promise<void>;
  /** @returns how many bytes; undefined when nothing has come within so many ms */
  receive(into: Uint8Array, from: SourceAddress, timeoutMs: number): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Where a socket is to be, and where to send. */
export interface Place {
  readonly source?: string;
  readonly destination?: string;
  readonly port: number;
  readonly bufferBytes: number;
}

export class RsocketCarrier implements Carrier {
  private constructor(private readonly socket: Rsocket) {}

  get at(): { readonly host: string; readonly port: number } {
    return rgetsockname(this.socket);
  }

  static async open(place: Place, device: RsocketOptions): Promise<RsocketCarrier> {
    const { source, destination, port, bufferBytes } = place;
    const socket = rsocket(familyOf(destination ?? source), SocketType.DGRAM, 0, device);
    rsetsockopt(socket, SocketLevel.SOCKET, SocketOption.SNDBUF, bufferBytes);
    rsetsockopt(socket, SocketLevel.SOCKET, SocketOption.RCVBUF, bufferBytes);
    const here = source === undefined ? {} : { host: source };
    if (destination === undefined) rbind(socket, { ...here, port });
    else {
      if (source !== undefined) rbind(socket, here);
      await rconnect(socket, { host: destination, port });
    }
    return new RsocketCarrier(socket);
  }

  async send(bytes: Uint8Array, to?: SourceAddress): Promise<void> {
    await rsendto(this.socket, bytes, 0, to);
  }

  async receive(into: Uint8Array, from: SourceAddress, timeoutMs: number): Promise<number | undefined> {
    const found = await rpoll([{ fd: this.socket, events: PollEvents.IN, revents: 0 }], timeoutMs);
    return found === 0 ? undefined : rrecvfrom(this.socket, into, 0, from);
  }

  close(): Promise<void> {
    return rclose(this.socket);
  }
}

/** What waits to be read; more is dropped. */
const MAX_WAITING = 4096;

interface Waiting {
  readonly bytes: Uint8Array;
  readonly from: SourceAddress;
}

export class UdpCarrier implements Carrier {
  readonly #waiting: Waiting[] = [];
  #wake: (() => void) | undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly isConnected: boolean,
  ) {
    socket.on('error', () => undefined);
    socket.on('message', (bytes, { address, port }) => {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ bytes, from: { host: address, port } });
      this.#wake?.();
    });
  }

  static async open({ source, destination, port }: Place): Promise<UdpCarrier> {
    const isIpv6 = isIPv6(destination ?? source ?? '');
    const socket = createSocket(isIpv6 ? 'udp6' : 'udp4');
    const here = source === undefined ? {} : { address: source };
    if (destination === undefined || source !== undefined) {
      socket.bind({ ...here, port: destination === undefined ? port : 0 });
      await once(socket, 'listening');
    }
    if (destination !== undefined) {
      socket.connect(port, destination);
      await once(socket, 'connect');
    }
    return new UdpCarrier(socket, destination !== undefined);
  }

  send(bytes: Uint8Array, to?: SourceAddress): Promise<void> {
    return new Promise((resolve) => {
      // What could not be sent is lost like any other datagram.
      const sent = (): void => resolve();
      if (to === undefined || this.isConnected) this.socket.send(bytes, sent);
      else this.socket.send(bytes, to.port, to.host, sent);
    });
  }

  async receive(into: Uint8Array, from: SourceAddress, timeoutMs: number): Promise<number | undefined> {
    if (this.#waiting.length === 0) await this.#something(timeoutMs);
    const next = this.#waiting.shift();
    if (next === undefined) return undefined;
    into.set(next.bytes.subarray(0, into.length));
    from.host = next.from.host;
    from.port = next.from.port;
    return Math.min(next.bytes.length, into.length);
  }

  close(): Promise<void> {
    this.socket.close();
    return Promise.resolve();
  }

  #something(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = timeoutMs < 0 ? undefined : setTimeout(() => this.#wake?.(), timeoutMs);
      this.#wake = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
