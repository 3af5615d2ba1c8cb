import { constants as fileConstants } from 'node:fs';
import { access, type FileHandle, open, realpath } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import {
  AddressFamily,
  raccept,
  rbind,
  rclose,
  rgetpeername,
  rgetsockname,
  rlisten,
  MsgFlags,
  rrecv,
  rsetsockopt,
  rshutdown,
  type Rsocket,
  rsocket,
  type RsocketOptions,
  ShutdownHow,
  SocketLevel,
  SocketOption,
  SocketType,
} from '../../../entry/rsocket.js';
import { fileFailure, sentence, ToolError } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { hostsOf } from '../../kit/listening.js';
import { familyOf } from '../common/rsocket-carrier.js';
import { Command, decodePath, decodeSize, type Header, HEADER_BYTES, MAX_PATH_BYTES, WRITE_BYTES } from './messages.js';
import { PIECE_BYTES, receive, receiveHeader, sendStatus } from './talk.js';

export interface ServerSetup {
  /** Undefined: the device's own choice. */
  readonly host?: string;
  readonly port: number;
  readonly device: RsocketOptions;
  /** Where files go: names of clients are within it. */
  readonly folder: string;
  /** Names may lead elsewhere. */
  readonly anywhere: boolean;
  readonly say: (text: string) => void;
  readonly complain: (text: string) => void;
}

const MAX_CLIENTS = 64;
const PERMISSIONS = 0o777;
const { EACCES, EBUSY, EINVAL, EIO, ENAMETOOLONG } = constants.errno;

/** A command that cannot be done: the client is told the errno. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? -error.errno : EIO;
  return new Refusal(status, sentence(error));
}

class Service {
  #file: FileHandle | undefined;
  #told = '';

  constructor(
    private readonly socket: Rsocket,
    private readonly setup: ServerSetup,
  ) {}

  /** Does what it is told, until the client ends. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const header = await receiveHeader(this.socket);
        if (header === undefined) return;
        await this.#obey(header);
      }
    } finally {
      await this.#file?.close();
    }
  }

  async #obey(header: Header): Promise<void> {
    try {
      await this.#carryOut(header);
      await sendStatus(this.socket, header.command, 0);
    } catch (error) {
      const refusal = refusalOf(error);
      await sendStatus(this.socket, header.command, refusal.status);
      // What follows on the stream is not to be known.
      throw new ToolError(refusal.message);
    }
    if (header.command === Command.CLOSE) this.setup.say(`${this.#told}closing...done\n`);
  }

  async #carryOut(header: Header): Promise<void> {
    switch (header.command) {
      case Command.OPEN:
        return this.#open(header);
      case Command.WRITE:
        return this.#write(header);
      case Command.CLOSE:
        await this.#file?.close();
        this.#file = undefined;
        return;
      default:
        throw new Refusal(EINVAL, `there is no command ${header.command}`);
    }
  }

  async #open({ length, data: mode }: Header): Promise<void> {
    if (this.#file !== undefined) throw new Refusal(EBUSY, 'cannot open another file');
    const pathBytes = length - HEADER_BYTES;
    if (pathBytes > MAX_PATH_BYTES) throw new Refusal(ENAMETOOLONG, 'the path is too long');
    const bytes = await receive(this.socket, pathBytes);
    if (bytes === undefined) throw new Refusal(EIO, 'error receiving path');
    const path = decodePath(bytes);
    this.#file = await open(await this.#placeOf(path), 'w', mode & PERMISSIONS);
    this.#told = `opening: ${path}, `;
  }

  /** @throws Refusal for a place that clients have no business in */
  async #placeOf(path: string): Promise<string> {
    const { folder, anywhere } = this.setup;
    const place = resolve(folder, path);
    if (anywhere) return place;
    const root = await realpath(folder);
    const way = relative(root, join(await realpath(dirname(place)), basename(place)));
    const target = await realpath(place).catch(() => undefined);
    const isOut = (one: string): boolean => one === '' || one.startsWith('..') || isAbsolute(one);
    if (isOut(way) || (target !== undefined && isOut(relative(root, target))))
      throw new Refusal(EACCES, `${path} is not within ${folder}; --anywhere permits that`);
    return place;
  }

  async #write({ length }: Header): Promise<void> {
    const file = this.#file;
    if (file === undefined) throw new Refusal(EINVAL, 'file not opened');
    if (length !== WRITE_BYTES) throw new Refusal(EINVAL, `invalid message length ${length}`);
    const size = await receive(this.socket, WRITE_BYTES - HEADER_BYTES);
    if (size === undefined) throw new Refusal(EIO, 'error receiving data');
    const bytes = decodeSize(size);
    const piece = new Uint8Array(PIECE_BYTES);
    for (let left = bytes; left > 0n;) {
      const wanted = left < piece.length ? Number(left) : piece.length;
      const count = await rrecv(this.socket, piece.subarray(0, wanted), MsgFlags.WAITALL);
      if (count === 0) throw new Refusal(EIO, 'error receiving data');
      for (let written = 0; written < count;)
        written += (await file.write(piece, written, count - written)).bytesWritten;
      left -= BigInt(count);
    }
    this.#told += `transferring...${bytes} bytes...`;
  }
}

async function serveOne(socket: Rsocket, setup: ServerSetup): Promise<void> {
  const { host } = rgetpeername(socket);
  setup.say(`client: ${host}\n`);
  try {
    await new Service(socket, setup).run();
    await rshutdown(socket, ShutdownHow.RDWR);
  } catch (error) {
    setup.complain(`${host}: ${sentence(error)}`);
  } finally {
    await rclose(socket);
  }
}

/** Takes files, until it is interrupted. */
export async function serve(setup: ServerSetup): Promise<void> {
  const { host, port, device, say, folder } = setup;
  await access(folder, fileConstants.W_OK).catch((error: unknown) => {
    throw fileFailure(folder, 'written', error);
  });
  const listener = rsocket(host === undefined ? AddressFamily.INET : familyOf(host), SocketType.STREAM, 0, device);
  rsetsockopt(listener, SocketLevel.SOCKET, SocketOption.REUSEADDR, true);
  rbind(listener, { ...(host === undefined ? {} : { host }), port });
  rlisten(listener);
  const clients = new Set<Rsocket>();
  endOnInterrupt(async () => {
    await Promise.all([listener, ...clients].map((socket) => rclose(socket)));
  });
  say(
    `waiting for connection at ${hostsOf(rgetsockname(listener).host, device.context?.address).join(' and ')}, port ${port}...\n`,
  );
  for (;;) {
    const socket = await raccept(listener);
    if (clients.size >= MAX_CLIENTS) {
      void rclose(socket);
      continue;
    }
    clients.add(socket);
    void serveOne(socket, setup).finally(() => clients.delete(socket));
  }
}
