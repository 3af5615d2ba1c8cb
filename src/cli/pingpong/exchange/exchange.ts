import { type Socket } from 'node:net';
import { ToolError } from '../../kit/errors.js';
import { readExactly } from './bootstrap.js';
import { decodeDestination, type Destination, DESTINATION_BYTES, encodeDestination, NOWHERE } from './destination.js';
import { MAX_QP, type PingPongTool } from '../tools.js';

// The tool with many QPs always tells 256 destinations, which is what the C program of its name reads and writes.

const DONE = Buffer.from('done\0', 'latin1');

function encode(tool: PingPongTool, own: readonly Destination[]): Buffer {
  const absent = tool.shared ? MAX_QP - own.length : 0;
  return Buffer.concat([...own, ...Array<Destination>(absent).fill(NOWHERE)].map(encodeDestination));
}

async function read(tool: PingPongTool, socket: Socket, count: number): Promise<Destination[]> {
  const told = tool.shared ? MAX_QP : 1;
  const bytes = await readExactly(socket, told * DESTINATION_BYTES, 'remote address');
  const all = Array.from({ length: told }, (_, i) =>
    decodeDestination(bytes.subarray(i * DESTINATION_BYTES, (i + 1) * DESTINATION_BYTES), tool.name),
  );
  if (!tool.shared) return all;
  const remote = all.filter(({ qpn }) => qpn !== 0);
  if (remote.length !== count) {
    throw new ToolError(`The peer has ${remote.length} QPs and this side ${count}: give both the same -q.`);
  }
  return remote;
}

/** The client's part: tells its destinations first, then learns the server's. */
export async function exchangeAsClient(
  tool: PingPongTool,
  socket: Socket,
  own: readonly Destination[],
): Promise<Destination[]> {
  socket.write(encode(tool, own));
  const remote = await read(tool, socket, own.length);
  socket.end(DONE);
  return remote;
}

/**
 * The server's part. `connectQps` moves the QPs to RTS; the answer leaves only after it, since the client may send as
 * soon as it has the answer.
 */
export async function exchangeAsServer(
  tool: PingPongTool,
  socket: Socket,
  own: readonly Destination[],
  connectQps: (remote: readonly Destination[]) => void,
): Promise<Destination[]> {
  const remote = await read(tool, socket, own.length);
  connectQps(remote);
  socket.write(encode(tool, own));
  await readExactly(socket, DONE.length, 'the end of the exchange');
  socket.end();
  return remote;
}
