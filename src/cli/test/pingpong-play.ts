import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Socket, createServer } from 'node:net';
import { gidFromIp } from '../../entry/index.js';
import { loopback } from '../../../test/support/loopback.js';
import { type Ended, Tool, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

const ADDRESS_LINE =
  /^ {2}(?:local address: {2}|remote address: )LID 0x0000, (QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}), GID (\S+)$/;

/** What an address line says; the line itself when it is none. */
export function saidBy(line: string): string {
  return line.replace(ADDRESS_LINE, '$1 $2');
}

/** Where the server of game `game` of this file is, 0 to 62. */
export function serverAt(game: number): string {
  return loopback(4 * game + 1);
}

export function clientAt(game: number, client = 0): string {
  return loopback(4 * game + 2 + client);
}

/** A GID as two sides tell it each other. */
export function gidText(address: string): string {
  return Buffer.from(gidFromIp(address)).toString('hex');
}

/** Starts the server of game `game` and returns it once it listens. */
export async function serve(
  tool: string,
  port: string,
  game: number,
  flags: readonly string[],
  settings?: Readonly<Record<string, string>>,
): Promise<Tool> {
  const server = new Tool([tool, '-p', port, '--addr', serverAt(game), ...flags], settings);
  await server.printed('local address');
  return server;
}

export async function play(
  tool: string,
  game: number,
  flags: readonly string[],
  clientFlags: readonly string[] = [],
): Promise<{ server: Ended; client: Ended }> {
  const port = String(await freePort());
  const server = await serve(tool, port, game, flags);
  const client = run([tool, '-p', port, '--addr', clientAt(game), ...flags, ...clientFlags, '127.0.0.1']);
  return { server: await server.ended, client: await client };
}

/** What the last two lines should say. */
export interface Figures {
  readonly bytes: number;
  readonly iterations: number;
}

/** The lines of a game that went well, but for the two of its end, which are checked. */
export function linesOf({ code, stdout, stderr }: Ended, { bytes, iterations }: Figures): string[] {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const lines = stdout.split('\n');
  assert.equal(lines.pop(), '', 'the last line is complete');
  const at = lines.findIndex((line) => line.includes(' bytes in '));
  assert.match(lines[at], new RegExp(`^${bytes} bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec$`));
  assert.match(lines[at + 1], new RegExp(`^${iterations} iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter$`));
  lines.splice(at, 2);
  return lines;
}

/** A TCP server that a client of ours takes for its peer. */
export async function pretendServer(args: (port: string) => readonly string[]): Promise<{
  client: Tool;
  socket: Socket;
  readonly close: () => void;
}> {
  const listener = createServer().listen(0);
  await once(listener, 'listening');
  const address = listener.address();
  assert.ok(address !== null && typeof address === 'object');
  const client = new Tool(args(String(address.port)));
  const [socket] = (await once(listener, 'connection')) as [Socket];
  return { client, socket, close: () => listener.close() };
}

/** So many bytes from a peer, as text. */
export async function readText(socket: Socket, length: number): Promise<string> {
  for (;;) {
    const bytes: unknown = socket.read(length);
    if (bytes instanceof Buffer) return bytes.toString('latin1');
    // Only one of the two comes of a peer that has left.
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
    if (socket.readableEnded || socket.destroyed) throw new Error(`the peer left before it told ${length} bytes`);
  }
}
