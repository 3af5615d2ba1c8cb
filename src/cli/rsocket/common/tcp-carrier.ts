import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { systemCode, ToolError } from '../../kit/errors.js';
import { type Carrier, type Carriers, ENDED_EARLY } from './carrier.js';
import type { Route } from './rsocket-carrier.js';

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

/** The TCP connections of one side. */
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
