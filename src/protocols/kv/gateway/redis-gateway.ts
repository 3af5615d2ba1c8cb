import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { ClientMemory } from './client-memory.js';
import type { GatewayFacts, GatewayTotals } from './commands/index.js';
import { type GatewaySettings, type RedisGatewayOptions, settingsOf } from './options.js';
import { ReplyWriter } from './resp/reply-writer.js';
import { ScanCursors } from './commands/command.js';
import { Session, type Wire } from './session.js';

/** A client that has gone without a word is noticed after so long. */
const KEEP_ALIVE_MS = 60_000;
/**
 * A client whose connection ends is read on for so long once it has its last answer: the system resets a connection that is closed with bytes unread, and the
 * client would not see that answer.
 */
const LINGER_MS = 1000;
const TURNED_AWAY = '-ERR max number of clients reached\r\n';

/**
 * Serves a key-value store to clients of Redis, in its protocol (RESP2): strings, counters, times to live. Each command about one key is one step, as in
 * Redis; of those about several keys each key is a step of its own. Commands of a connection are begun, carried out where they are about the same key, and
 * answered in their order.
 *
 * @returns a gateway that listens
 * @throws (the promise rejects) VerbsError EINVAL for wrong arguments; Node's errors where it cannot listen: EADDRINUSE, say
 */
export async function serveRedis(options: RedisGatewayOptions): Promise<RedisGateway> {
  const settings = settingsOf(options);
  const gateway = new RedisGateway(settings);
  await gateway.listen(settings.where);
  return gateway;
}

/** A gateway for clients of Redis. It keeps the process alive until it is closed. */
export class RedisGateway implements AsyncDisposable, GatewayFacts {
  readonly startedMs = performance.now();
  readonly maxConnections: number;
  readonly totals: GatewayTotals = { connections: 0, refused: 0, commands: 0, faults: 0, evicted: 0 };
  readonly #settings: GatewaySettings;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #writer = new ReplyWriter();
  readonly #cursors = new ScanCursors();
  readonly #memory: ClientMemory;

  /** @internal {@link serveRedis} makes gateways for programs. */
  constructor(settings: GatewaySettings) {
    this.#settings = settings;
    this.maxConnections = settings.maxConnections;
    this.#memory = new ClientMemory(settings.maxClientBytes);
    this.#server = createServer({
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    this.#server.on('connection', (socket) => this.#serve(socket));
  }

  /** The port; 0 where it listens at a path. */
  get port(): number {
    const address = this.#server.address();
    return address === null || typeof address === 'string' ? 0 : address.port;
  }

  /** Connections that there are now. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** @internal */
  async listen(where: GatewaySettings['where']): Promise<void> {
    this.#server.listen(where);
    await once(this.#server, 'listening');
    // A connection that could not be taken, where the process may open no more files: the others go on.
    this.#server.on('error', () => (this.totals.refused += 1));
  }

  /** Ends it, and all connections. The store's client is left as it is. Idempotent. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** {@link close}. Resolves when all is over. */
  async [Symbol.asyncDispose](): Promise<void> {
    const isOver = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.close();
    await isOver;
  }

  #serve(socket: Socket): void {
    // A client that goes ends its connection, whatever the reason.
    socket.on('error', () => undefined);
    if (this.connections >= this.maxConnections) {
      this.totals.refused += 1;
      socket.end(TURNED_AWAY, () => socket.destroy());
      return;
    }
    this.totals.connections += 1;
    this.#sockets.add(socket);
    const { store, limits } = this.#settings;
    const caller = { store, id: this.totals.connections, name: '', gateway: this, cursors: this.#cursors };
    const session = new Session(caller, wireOf(socket), limits, this.#writer, this.#memory);
    socket.on('data', (bytes: Buffer) => session.onBytes(bytes));
    socket.on('drain', () => session.onSent());
    socket.on('end', () => session.onEnd());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      session.onClosed();
      this.#memory.leave(session);
    });
  }
}

function wireOf(socket: Socket): Wire {
  return {
    get unsentBytes() {
      return socket.writableLength;
    },
    write: (bytes) => socket.write(bytes),
    setReading: (isReading) => (isReading ? socket.resume() : socket.pause()),
    end: () => {
      socket.end(() => setTimeout(() => socket.destroy(), LINGER_MS).unref());
      socket.resume();
    },
    destroy: () => socket.destroy(),
  };
}
