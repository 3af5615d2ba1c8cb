import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { ToolError, systemCode } from '../errors.js';
import { DESTINATION_BYTES, type Destination, decodeDestination, encodeDestination } from './destination.js';

// The TCP side of the ping-pong tools (PROTOCOL.md 6.1). The C programs expect each message whole in one read, so each
// is one write, and nothing may follow it before it was answered.

const DONE = Buffer.from('done\0', 'latin1');

/** What a look-up of a host's name fails with. */
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA']);

async function readExactly(socket: Socket, length: number, what: string): Promise<Buffer> {
  for (;;) {
    const bytes: unknown = socket.read(length);
    if (bytes instanceof Buffer) {
      if (bytes.length === length) return bytes;
      throw new ToolError(`${bytes.length}/${length}: Couldn't read ${what}; the peer closed the connection.`);
    }
    if (socket.readableEnded || socket.destroyed) {
      throw new ToolError(`0/${length}: Couldn't read ${what}; the peer closed the connection.`);
    }
    await Promise.race([once(socket, 'readable'), once(socket, 'end')]);
  }
}

/** Connects to a server by name or address, trying all that the name stands for. */
export async function connectToServer(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
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

/** Listens on every address of this machine: IPv6 and IPv4 at once, or IPv4 where there is no IPv6. */
export async function listenForClient(port: number): Promise<Server> {
  const server = createServer({ noDelay: true });
  server.listen({ port });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ToolError(
      `Couldn't listen to port ${port} (${systemCode(error) ?? String(error)}); choose another by -p.`,
    );
  }
  return server;
}

/** Waits for the server's one client. */
export async function acceptClient(server: Server): Promise<Socket> {
  const [socket] = (await once(server, 'connection')) as [Socket];
  server.close();
  return socket;
}

/** The client's part: sends first, then learns the server's destination. */
export async function exchangeAsClient(socket: Socket, own: Destination): Promise<Destination> {
  socket.write(encodeDestination(own));
  const remote = decodeDestination(await readExactly(socket, DESTINATION_BYTES, 'remote address'));
  socket.end(DONE);
  return remote;
}

/**
 * The server's part. `connectQp` moves the QP to RTS; the answer leaves only after it, since the client may send as
 * soon as it has the answer.
 */
export async function exchangeAsServer(
  socket: Socket,
  own: Destination,
  connectQp: (remote: Destination) => void,
): Promise<Destination> {
  const remote = decodeDestination(await readExactly(socket, DESTINATION_BYTES, 'remote address'));
  connectQp(remote);
  socket.write(encodeDestination(own));
  await readExactly(socket, DONE.length, 'the end of the exchange');
  socket.end();
  return remote;
}
