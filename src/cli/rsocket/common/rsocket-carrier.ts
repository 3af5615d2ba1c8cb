import { VerbsError } from '../../../entry/index.js';
import {
  Fcntl,
  MsgFlags,
  O_NONBLOCK,
  PollEvents,
  raccept,
  rbind,
  rclose,
  rconnect,
  RdmaOption,
  rfcntl,
  rlisten,
  rpoll,
  rrecv,
  type Rsocket,
  rsend,
  rsetsockopt,
  rshutdown,
  rsocket,
  type RsocketOptions,
  ShutdownHow,
  SocketLevel,
  SocketOption,
  SocketType,
  TcpOption,
  AddressFamily,
} from '../../../entry/rsocket.js';
import { ToolError, systemCode } from '../../kit/errors.js';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket, isIPv6 } from 'node:net';

/** The family of an address; of none IPv4, as in C. */
export function familyOf(address: string | undefined): AddressFamily {
  return address !== undefined && isIPv6(address) ? AddressFamily.INET6 : AddressFamily.INET;
}

/** A connection over which a tool measures, whatever it is made of. */
export interface Carrier {
  send(bytes: Uint8Array): Promise<void>;
  /** Fills all of it. @throws ToolError when the peer ends before */
  receive(into: Uint8Array): Promise<void>;
  /**
   * Ends both directions, once what was sent has arrived.
   *
   * @param isLast it was this side that sent last: the peer, which is not done before it has read that, ends first
   */
  close(isLast: boolean): Promise<void>;
}

/** Gives the connections of one side, one at a time: a client makes each, a server takes the next. */
export interface Carriers<C extends Carrier = Carrier> {
  next(): Promise<C>;
  close(): void;
}

export const ENDED_EARLY = 'The peer ended the connection in the midst of a test; do both sides have the same options?';

/** How a tool calls: nonblocking, the default; blocking (`-T b`); each also with rpoll before every call (`-T a`). */
export interface Calling {
  readonly blocks: boolean;
  readonly polls: boolean;
}

/** What sockets are set to, as far as the command line says it. */
export interface SocketSetup extends Calling {
  readonly bufferBytes: number;
  readonly inlineBytes?: number;
  readonly iomapSize?: number;
  readonly keepAliveSeconds?: number;
}

/** Where the two sides are. */
export interface Route {
  /** The server's address; undefined when this side is the server. */
  readonly destination?: string;
  readonly source?: string;
  readonly port: number;
  readonly device: RsocketOptions;
}

/** How long the peer has to end first. */
const PEERS_END_MS = 2000;

function isAgain(error: unknown): boolean {
  return error instanceof VerbsError && error.errno === 'EAGAIN';
}

export class RsocketCarrier implements Carrier {
  readonly #flags: number;

  constructor(
    readonly socket: Rsocket,
    readonly calling: Calling,
  ) {
    this.#flags = calling.blocks ? MsgFlags.WAITALL : MsgFlags.DONTWAIT;
  }

  async send(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;)
      sent += await this.attempt(PollEvents.OUT, (flags) => rsend(this.socket, bytes.subarray(sent), flags));
  }

  async receive(into: Uint8Array): Promise<void> {
    for (let filled = 0; filled < into.length;) {
      const part = into.subarray(filled);
      const count = await this.attempt(PollEvents.IN, (flags) => rrecv(this.socket, part, flags));
      if (count === 0) throw new ToolError(ENDED_EARLY);
      filled += count;
    }
  }

  async close(isLast: boolean): Promise<void> {
    // C's `-T a` takes an end that comes with the last bytes for a failure, and does not read them.
    if (isLast) await rpoll([{ fd: this.socket, events: PollEvents.IN, revents: 0 }], PEERS_END_MS);
    await rshutdown(this.socket, ShutdownHow.RDWR);
    await rclose(this.socket);
  }

  /** Calls until it need not wait. C calls again and again where it is not to wait; here the calls are told when. */
  async attempt(events: number, call: (flags: number) => Promise<number>): Promise<number> {
    if (this.calling.polls) await this.#poll(events);
    for (;;) {
      try {
        return await call(this.#flags);
      } catch (error) {
        if (!isAgain(error)) throw error;
      }
      await this.#poll(events);
    }
  }

  async #poll(events: number): Promise<void> {
    await rpoll([{ fd: this.socket, events, revents: 0 }]);
  }
}

function setUp(socket: Rsocket, setup: SocketSetup): void {
  const { bufferBytes, inlineBytes, iomapSize, keepAliveSeconds, blocks } = setup;
  rsetsockopt(socket, SocketLevel.SOCKET, SocketOption.SNDBUF, bufferBytes);
  rsetsockopt(socket, SocketLevel.SOCKET, SocketOption.RCVBUF, bufferBytes);
  rsetsockopt(socket, SocketLevel.TCP, TcpOption.NODELAY, true);
  if (inlineBytes !== undefined) rsetsockopt(socket, SocketLevel.RDMA, RdmaOption.INLINE, inlineBytes);
  if (iomapSize !== undefined) rsetsockopt(socket, SocketLevel.RDMA, RdmaOption.IOMAPSIZE, iomapSize);
  if (!blocks) rfcntl(socket, Fcntl.SETFL, O_NONBLOCK);
  if (keepAliveSeconds === undefined) return;
  rsetsockopt(socket, SocketLevel.SOCKET, SocketOption.KEEPALIVE, true);
  rsetsockopt(socket, SocketLevel.TCP, TcpOption.KEEPIDLE, keepAliveSeconds);
}

/** As the C tool says it of each connection. */
function tellKeepAlive({ keepAliveSeconds }: SocketSetup, say: (line: string) => void): void {
  if (keepAliveSeconds !== undefined) say(`Keepalive: ON\n  time: ${keepAliveSeconds}`);
}

/** The rsockets of one side. `setups` has those of its connections, in their order; the last counts for all that follow. */
export class RsocketCarriers implements Carriers<RsocketCarrier> {
  readonly #listener: Rsocket | undefined;
  #open: Rsocket | undefined;

  constructor(
    private readonly route: Route,
    private readonly setupOf: () => SocketSetup,
    private readonly say: (line: string) => void = () => undefined,
  ) {
    if (route.destination === undefined) this.#listener = this.#listen();
  }

  /** Where the server is; undefined at a client. */
  get listener(): Rsocket | undefined {
    return this.#listener;
  }

  async next(): Promise<RsocketCarrier> {
    const setup = this.setupOf();
    const socket =
      this.#listener === undefined ? await this.#connect(setup) : await this.#accept(this.#listener, setup);
    this.#open = socket;
    tellKeepAlive(setup, this.say);
    return new RsocketCarrier(socket, setup);
  }

  close(): void {
    this.#open?.[Symbol.dispose]();
    this.#listener?.[Symbol.dispose]();
  }

  #listen(): Rsocket {
    const { source, port, device } = this.route;
    const socket = rsocket(familyOf(source), SocketType.STREAM, 0, device);
    rsetsockopt(socket, SocketLevel.SOCKET, SocketOption.REUSEADDR, true);
    setUp(socket, { ...this.setupOf(), blocks: true });
    rbind(socket, source === undefined ? { port } : { host: source, port });
    rlisten(socket, 1);
    return socket;
  }

  async #accept(listener: Rsocket, setup: SocketSetup): Promise<Rsocket> {
    // What comes next begins with these.
    setUp(listener, { ...setup, blocks: true });
    const socket = await raccept(listener);
    if (!setup.blocks) rfcntl(socket, Fcntl.SETFL, O_NONBLOCK);
    return socket;
  }

  async #connect(setup: SocketSetup): Promise<Rsocket> {
    const { destination, source, port, device } = this.route;
    const socket = rsocket(familyOf(destination), SocketType.STREAM, 0, device);
    setUp(socket, { ...setup, blocks: true });
    if (source !== undefined) rbind(socket, { host: source });
    this.#open = socket;
    await rconnect(socket, { ...(destination === undefined ? {} : { host: destination }), port });
    if (!setup.blocks) rfcntl(socket, Fcntl.SETFL, O_NONBLOCK);
    return socket;
  }
}

const LOOPBACK = '127.0.0.1';

/** A TCP connection, of `-T s`. */
class TcpCarrier implements Carrier {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay();
    // Whoever reads or writes is told.
    socket.on('error', () => undefined);
  }

  async send(bytes: Uint8Array): Promise<void> {
    // The caller fills it anew at once.
    await new Promise<void>((resolve, reject) => {
      this.#socket.write(Buffer.from(bytes), (error) => {
        if (error) reject(new ToolError(`Cannot send: ${systemCode(error) ?? error.message}.`));
        else resolve();
      });
    });
  }

  async receive(into: Uint8Array): Promise<void> {
    for (let filled = 0; filled < into.length;) {
      const size = Math.min(into.length - filled, this.#socket.readableLength);
      const bytes = size === 0 ? null : (this.#socket.read(size) as Buffer | null);
      if (bytes === null) {
        if (this.#socket.readableEnded || this.#socket.destroyed) throw new ToolError(ENDED_EARLY);
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            for (const event of ['readable', 'end', 'close']) this.#socket.off(event, wake);
            resolve();
          };
          for (const event of ['readable', 'end', 'close']) this.#socket.once(event, wake);
        });
      } else {
        into.set(bytes, filled);
        filled += bytes.length;
      }
    }
  }

  async close(): Promise<void> {
    if (this.#socket.destroyed) return;
    const closed = once(this.#socket, 'close');
    this.#socket.end();
    this.#socket.resume();
    await closed;
  }
}

export class TcpCarriers implements Carriers {
  readonly #route: Route;
  readonly #waiting: Socket[] = [];
  #server: Server | undefined;
  #wake: (() => void) | undefined;

  constructor(route: Route) {
    this.#route = route;
  }

  /** Begins to listen, at a server. @throws ToolError */
  async open(): Promise<void> {
    const { destination, source = LOOPBACK, port } = this.#route;
    if (destination !== undefined) return;
    this.#server = createServer((socket) => {
      this.#waiting.push(socket);
      this.#wake?.();
    });
    this.#server.listen(port, source);
    await once(this.#server, 'listening').catch((error: unknown) => {
      throw new ToolError(`Cannot listen at ${source}, TCP port ${port}: ${systemCode(error) ?? String(error)}.`);
    });
  }

  async next(): Promise<Carrier> {
    return new TcpCarrier(this.#server === undefined ? await this.#connect() : await this.#accept());
  }

  close(): void {
    this.#server?.close();
  }

  async #accept(): Promise<Socket> {
    for (;;) {
      const socket = this.#waiting.shift();
      if (socket !== undefined) return socket;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async #connect(): Promise<Socket> {
    const { destination, source, port } = this.#route;
    const socket = connect({
      port,
      ...(destination === undefined ? {} : { host: destination }),
      ...(source === undefined ? {} : { localAddress: source }),
    });
    await once(socket, 'connect').catch((error: unknown) => {
      throw new ToolError(
        `Cannot connect to ${destination ?? ''}, TCP port ${port}: ${systemCode(error) ?? String(error)}.`,
      );
    });
    return socket;
  }
}
