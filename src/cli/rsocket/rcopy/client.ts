import { type FileHandle, open } from 'node:fs/promises';
import { getSystemErrorName } from 'node:util';
import {
  rclose,
  rconnect,
  type Rsocket,
  rsocket,
  type RsocketOptions,
  rshutdown,
  ShutdownHow,
  SocketType,
} from '../../../entry/rsocket.js';
import { MAY_NOT_ANSWER, toldIfSilent } from '../../rdmacm/common/silence.js';
import { fileFailure, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { familyOf } from '../common/rsocket-carrier.js';
import { Command, encode, encodeOpen, encodeWrite, HEADER_BYTES, MAX_PATH_BYTES } from './messages.js';
import { PIECE_BYTES, receiveStatus, send } from './talk.js';

export interface CopyJob {
  readonly source: string;
  readonly destination: string;
  readonly host: string;
  readonly port: number;
  readonly device: RsocketOptions;
  readonly say: (text: string) => void;
}

export interface Copied {
  readonly bytes: number;
  readonly elapsedUs: number;
}

function failIfRefused(step: string, destination: string, status: number): void {
  if (status === 0) return;
  throw new ToolError(`The server cannot ${step} ${destination}: ${nameOf(status)}.`);
}

function nameOf(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `status ${errno}`;
  }
}

async function sendFile(socket: Rsocket, file: FileHandle, source: string, sizeBytes: number): Promise<void> {
  const piece = Buffer.alloc(Math.min(PIECE_BYTES, Math.max(1, sizeBytes)));
  for (let sent = 0; sent < sizeBytes;) {
    const wanted = Math.min(piece.length, sizeBytes - sent);
    const { bytesRead } = await file.read(piece, 0, wanted, sent);
    if (bytesRead === 0) throw new ToolError(`${source} became shorter while it was copied.`);
    await send(socket, piece.subarray(0, bytesRead));
    sent += bytesRead;
  }
}

async function copyBy(socket: Rsocket, file: FileHandle, job: CopyJob): Promise<Copied> {
  const { source, destination, say } = job;
  const { mode, size } = await file.stat();
  say('opening...');
  await send(socket, encodeOpen(destination, mode));
  failIfRefused('open', destination, await receiveStatus(socket, Command.OPEN));
  say('transferring');
  await send(socket, encodeWrite(BigInt(size)));
  say('...');
  const begun = performance.now();
  await sendFile(socket, file, source, size);
  failIfRefused('write', destination, await receiveStatus(socket, Command.WRITE));
  const elapsedUs = (performance.now() - begun) * 1000;
  say('closing...');
  await send(socket, encode({ command: Command.CLOSE, length: HEADER_BYTES, data: 0 }));
  failIfRefused('close', destination, await receiveStatus(socket, Command.CLOSE));
  say('done\n');
  await rshutdown(socket, ShutdownHow.RDWR);
  return { bytes: size, elapsedUs };
}

/** Copies a file to a server. @throws ToolError, VerbsError */
export async function copy(job: CopyJob): Promise<Copied> {
  const { source, destination, host, port, device } = job;
  if (Buffer.byteLength(destination) >= MAX_PATH_BYTES)
    throw new ToolError(`The destination's name has more than ${MAX_PATH_BYTES - 1} bytes.`);
  const file = await open(source, 'r').catch((error: unknown) => {
    throw fileFailure(source, 'read', error);
  });
  try {
    if ((await file.stat()).isDirectory()) throw new ToolError(`${source}: cannot be read: it is a folder`);
    const socket = rsocket(familyOf(host), SocketType.STREAM, 0, device);
    endOnInterrupt(() => rclose(socket));
    await toldIfSilent(rconnect(socket, { host, port }), MAY_NOT_ANSWER);
    try {
      return await copyBy(socket, file, job);
    } finally {
      await rclose(socket);
    }
  } finally {
    await file.close();
  }
}
