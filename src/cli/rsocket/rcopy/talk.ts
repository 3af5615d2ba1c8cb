import { MsgFlags, rrecv, rsend, type Rsocket } from '../../../entry/rsocket.js';
import { ToolError } from '../../kit/errors.js';
import { decode, encode, type Header, HEADER_BYTES, RESPONSE } from './messages.js';

/** Bytes of a file that are read or written at a time. */
export const PIECE_BYTES = 1 << 20;

/** Receives so many bytes. @returns undefined when the peer ends before */
export async function receive(socket: Rsocket, lengthBytes: number): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(lengthBytes);
  return (await rrecv(socket, bytes, MsgFlags.WAITALL)) === lengthBytes ? bytes : undefined;
}

/** Sends all of it. @throws ToolError when the connection ends before */
export async function send(socket: Rsocket, bytes: Uint8Array): Promise<void> {
  if ((await rsend(socket, bytes)) < bytes.length) throw new ToolError('The peer ended the connection.');
}

/** @returns undefined when the peer has ended. @throws ToolError when it says something else */
export async function receiveHeader(socket: Rsocket): Promise<Header | undefined> {
  const bytes = await receive(socket, HEADER_BYTES);
  if (bytes === undefined) return undefined;
  const header = decode(bytes);
  if (typeof header === 'string') throw new ToolError(`${header}: is the peer an rcopy?`);
  return header;
}

/** The status that the peer answers a command with. @throws ToolError */
export async function receiveStatus(socket: Rsocket, command: number): Promise<number> {
  const header = await receiveHeader(socket);
  if (header === undefined) throw new ToolError('The server ended the connection.');
  if (header.length !== HEADER_BYTES || header.command !== (command | RESPONSE)) {
    const got = `${header.command.toString(16)}:${(command | RESPONSE).toString(16)}`;
    throw new ToolError(`invalid length ${header.length} or bad command response ${got}: is the peer an rcopy?`);
  }
  return header.data;
}

export async function sendStatus(socket: Rsocket, command: number, status: number): Promise<void> {
  await send(socket, encode({ command: command | RESPONSE, length: HEADER_BYTES, data: status }));
}
