import { once } from 'node:events';
import { type Server, type Socket, connect, createServer, isIP } from 'node:net';
import { withoutBrackets } from '../../kit/arguments.js';
import { systemCode, ToolError } from '../../kit/errors.js';

// TCP between the two sides of a ping-pong (protocol/tools.md 7.1). Some of the C programs expect each message whole in one
// read, so each is one write, and nothing may follow it before it was answered.

/** What a look-up of a host's name fails with. */
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA']);

/** Waits until there is something to read, or nothing will come any more. */
async function readable(socket: Socket): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    await Promise.race([once(socket, 'readable', { signal }), once(socket, 'end', { signal })]);
  } finally {
    settled.abort();
  }
}

/** @throws ToolError when the peer closes the connection before */
export async function readExactly(socket: Socket, length: number, what: string): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    // Reads everything available: a stream asked for more than it has reports no further data.
    const chunk: unknown = socket.read();
    if (chunk instanceof Buffer) bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length >= length) {
      if (bytes.length > length) socket.unshift(bytes.subarray(length));
      return bytes.subarray(0, length);
    }
    if (socket.readableEnded || socket.destroyed) {
      const read = `Couldn't read ${what} (${bytes.length} of ${length} bytes came)`;
      throw new ToolError(`${read}; the peer closed the connection.`);
    }
    if (chunk === null) await readable(socket);
  }
}

/** Connects to a server by name or address, trying all that the name stands for. @param family of addresses; undefined for either */
export async function connectToServer(name: string, port: number, family?: 4 | 6): Promise<Socket> {
  const host = withoutBrackets(name);
  // Node takes it for this machine. Most likely a shell's variable is not set.
  if (host === '')
    throw new ToolError("getaddrinfo failed: '' is no name of a host (EAI_NONAME); give the server's name or address.");
  const own = isIP(host);
  if (family !== undefined && own !== 0 && own !== family)
    throw new ToolError(`${host} is an address of IPv${own}, and the server is to be reached by IPv${family}.`);
  const socket = connect({ host, port, noDelay: true, ...(family !== undefined && { family }) });
  try {
    await once(socket, 'connect');
  } catch (error) {
    socket.destroy();
    const why = systemCode(error) ?? String(error);
    const advice = UNKNOWN_HOST.has(why) ? 'no host of that name is known' : 'is the server running there?';
    throw new ToolError(`Couldn't connect to ${host}:${port} (${why}); ${advice}`);
  }
  return socket;
}

/** Takes the connections of clients, on every address of this machine. */
export class Listener {
  readonly #server: Server;
  readonly #waiting: Socket[] = [];

  private constructor(server: Server) {
    this.#server = server;
    // From the beginning, since two clients may come at once.
    server.on('connection', (socket) => this.#waiting.push(socket));
  }

  /** Listens to IPv6 and IPv4 at once, or to IPv4 where there is no IPv6. */
  static async open(port: number): Promise<Listener> {
    const server = createServer({ noDelay: true });
    const listener = new Listener(server);
    server.listen({ port });
    try {
      await once(server, 'listening');
    } catch (error) {
      throw new ToolError(
        `Couldn't listen to port ${port} (${systemCode(error) ?? String(error)}); choose another by -p.`,
      );
    }
    return listener;
  }

  /** The next client. */
  async accept(): Promise<Socket> {
    for (;;) {
      const socket = this.#waiting.shift();
      if (socket !== undefined) return socket;
      await once(this.#server, 'connection');
    }
  }

  /** Takes no more. */
  close(): void {
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
  }
}
