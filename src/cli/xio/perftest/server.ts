import { alloc } from '../../../entry/index.js';
import {
  listen,
  type XioListenOptions,
  type XioParts,
  type XioRequest,
  type XioServer,
  type XioSession,
} from '../../../entry/xio.js';

/** The longest body of a request or a response. */
export const MAX_BYTES = 1 << 24;

const HEADER_BYTES = 5;
const KINDS = { read: 1, write: 2, share: 3 } as const;

/** What a client's header says: that the server is to answer with so many bytes, that the request has so many, or that it is to share memory. */
export function questionOf(direction: keyof typeof KINDS, bytes: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  header.setUint8(0, KINDS[direction]);
  header.setUint32(1, bytes);
  return new Uint8Array(header.buffer);
}

function isForMemory(header: Uint8Array): boolean {
  return header.length === HEADER_BYTES && header[0] === KINDS.share;
}

/** How many bytes a header asks for; undefined where it makes no sense. @param bodyBytes of the request that it comes with */
export function wantedBytes(header: Uint8Array, bodyBytes: number): number | undefined {
  if (header.length !== HEADER_BYTES) return undefined;
  const bytes = ((header[1] << 24) | (header[2] << 16) | (header[3] << 8) | header[4]) >>> 0;
  if (bytes > MAX_BYTES) return undefined;
  if (header[0] === KINDS.read) return bodyBytes === 0 ? bytes : undefined;
  return header[0] === KINDS.write && bodyBytes === bytes ? 0 : undefined;
}

/** More than any client has under way. */
const QUEUE_MESSAGES = 1 << 14;
const QUEUE_BYTES = 2 ** 31;

/** Told when a session begins, and when it has ended. */
export interface Sessions {
  begun(from: string): void;
  ended(from: string, requests: number): void;
}

export const QUEUES = { queueMessages: QUEUE_MESSAGES, queueBytes: QUEUE_BYTES, maxBodyBytes: MAX_BYTES } as const;

/** Answers with as many bytes as it is asked for; all answers are the same memory. */
class Answers {
  readonly #memory = alloc(MAX_BYTES);
  /** What clients that ask for memory use it by, once for each. */
  readonly #tokens = new WeakMap<XioSession, Uint8Array>();
  #last: XioParts = { body: this.#memory.subarray(0, 0) };
  #lastBytes = 0;

  /** @throws Error for what is no question of this tool's */
  readonly answer = ({ header, body, session }: XioRequest): XioParts => {
    if (isForMemory(header)) return { body: this.#tokenFor(session) };
    const bytes = wantedBytes(header, body.length);
    if (bytes === undefined) throw new Error('this is the server of an xio_perftest of Verbena, which asks otherwise');
    if (bytes !== this.#lastBytes) {
      this.#last = { body: this.#memory.subarray(0, bytes) };
      this.#lastBytes = bytes;
    }
    return this.#last;
  };

  #tokenFor(session: XioSession): Uint8Array {
    const known = this.#tokens.get(session);
    if (known !== undefined) return known;
    const { token } = session.share(this.#memory, { access: 'read-write' });
    this.#tokens.set(session, token);
    return token;
  }
}

function fromOf({ remoteAddress }: XioSession): string {
  return remoteAddress === undefined ? 'somewhere' : `${remoteAddress.host}:${remoteAddress.port}`;
}

export interface Serving {
  readonly server: XioServer;
  /** Resolves when it was closed. */
  readonly done: Promise<void>;
}

export async function answerAt(options: XioListenOptions, sessions: Sessions): Promise<Serving> {
  const answers = new Answers();
  const server = await listen({ ...options, ...QUEUES });
  const done = follow(server, (session) => {
    const from = fromOf(session);
    sessions.begun(from);
    session.on('request', answers.answer);
    session.on('close', () => sessions.ended(from, session.statistics.requestsReceived));
    session.accept();
  });
  return { server, done };
}

export async function sendOn(options: XioListenOptions, urls: readonly string[]): Promise<Serving> {
  const server = await listen({ ...options, ...QUEUES });
  let next = 0;
  const done = follow(server, (session) => {
    session.redirect([...urls.slice(next), ...urls.slice(0, next)]);
    next = (next + 1) % urls.length;
  });
  return { server, done };
}

async function follow(server: XioServer, take: (session: XioSession) => void): Promise<void> {
  for await (const session of server) take(session);
}
