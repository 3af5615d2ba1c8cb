/**
 * TCP ports for servers that tests start. A port that was merely free a moment ago may be another's when the server comes to listen: of those that the
 * kernel chooses it gives one to each connection that any program makes meanwhile, and to each test that asks for a free one.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** None that Linux chooses by itself (ip_local_port_range, ip(7), begins at 32768), nor one that a tool here has by default. */
const FIRST = 20_000;
const PORTS = 10_000;
/** So many apart begin processes that follow one another. */
const STRIDE = 16;

let next = process.pid * STRIDE;
/** UDP ports of the same numbers: whoever has one has the TCP port, until its process ends. */
const claims: Socket[] = [];

/** A TCP port that no other test gets, and nobody listens to. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next % PORTS);
    next += 1;
    if ((await claim(port)) && (await isFree(port))) return port;
  }
}

async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  // It keeps no process running.
  socket.unref();
  socket.bind({ port, address: '127.0.0.1', exclusive: true });
  if (!(await succeeds(once(socket, 'listening')))) {
    socket.close();
    return false;
  }
  claims.push(socket);
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port);
  if (!(await succeeds(once(server, 'listening')))) return false;
  server.close();
  await once(server, 'close');
  return true;
}

async function succeeds(event: Promise<unknown>): Promise<boolean> {
  try {
    await event;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
}
