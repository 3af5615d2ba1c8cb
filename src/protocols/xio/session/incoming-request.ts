import {
  type Body,
  copyOf,
  Flag,
  gather,
  isOnePiece,
  Kind,
  lengthOf,
  piecesOf,
  statusName,
  XioStatus,
  type XioStatusName,
} from '../wire/index.js';
import type { Callbacks } from '../../../api/runtime/index.js';
import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import { XioError } from '../transport/index.js';
import type { Bytes, XioBody, XioRequest, XioSession } from '../api.js';
import { bodyFrom, bytesOf } from '../options.js';
import type { Arrived, SessionConnection } from './session-connection.js';
import { Outgoing, type Sender } from './outgoing.js';

const CALL = 'reply';

export interface Answering {
  readonly session: XioSession;
  readonly callbacks: Callbacks;
  /** Bodies up to so long are copied. */
  readonly inlineBytes: number;
  readonly forget: () => void;
  readonly letGo: () => void;
}

/** A request of the peer's. */
export class IncomingRequest implements XioRequest {
  readonly header: Uint8Array;
  readonly maxResponseBytes: number;
  #isAnswered = false;
  #controller: AbortController | undefined;
  #reason: XioError | undefined;

  constructor(
    private readonly lane: SessionConnection,
    private readonly arrived: Arrived,
    private readonly answering: Answering,
  ) {
    this.header = arrived.header;
    this.maxResponseBytes = arrived.maxResponseBytes;
  }

  get body(): Uint8Array {
    const { body } = this.arrived;
    return isOnePiece(body) ? body : gather(body);
  }

  get pieces(): readonly Uint8Array[] {
    return piecesOf(this.arrived.body);
  }

  get session(): XioSession {
    return this.answering.session;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Nobody waits for the answer any more. */
  abandon(reason: XioError): void {
    this.#reason ??= reason;
    const controller = this.#controller;
    if (controller !== undefined) this.answering.callbacks.call(() => controller.abort(reason));
  }

  reply(header?: Bytes, body?: XioBody): Promise<void> {
    this.#requireUnanswered();
    const headerBytes = bytesOf(CALL, 'header', header);
    const bodyBytes = bodyFrom(CALL, 'body', body);
    this.#requireRoom(headerBytes, bodyBytes);
    return this.#respond(XioStatus.XIO_E_SUCCESS, headerBytes, bodyBytes);
  }

  fail(text: string, code: XioStatusName = 'XIO_E_UNSUCCESSFUL'): void {
    this.#requireUnanswered();
    const most = this.lane.channel.peer?.maxHeaderBytes ?? 0;
    const words = bytesOf('fail', 'text', text).subarray(0, most);
    if (!Object.hasOwn(XioStatus, code))
      throw new VerbsError('fail', invalid(`code is ${show(code)}`, 'It is one of XioStatus'));
    const status = XioStatus[code] === XioStatus.XIO_E_SUCCESS ? XioStatus.XIO_E_UNSUCCESSFUL : XioStatus[code];
    void this.#respond(status, words, new Uint8Array(0));
  }

  #respond(status: XioStatus, header: Uint8Array, body: Body): Promise<void> {
    this.#isAnswered = true;
    this.answering.forget();
    const { sn, target, isApart } = this.arrived;
    const bodyBytes = lengthOf(body);
    const isCopied = bodyBytes <= this.answering.inlineBytes && !(isApart && bodyBytes > 0);
    const fields = { about: sn, status, header: copyOf(header), body: isCopied ? gather(body) : body, isApart };
    if (isCopied) {
      this.answering.letGo();
      this.#send(new Outgoing(Kind.RESPONSE, fields));
      return Promise.resolve();
    }
    return new Promise((settle) => {
      const resolve = (): void => {
        // The answer's body may be the request's.
        this.answering.letGo();
        settle();
      };
      const sender: Sender = { onResponse: () => resolve(), onDone: resolve, onFailed: () => resolve() };
      const response = new Outgoing(Kind.RESPONSE, { ...fields, flags: Flag.ACKNOWLEDGE }, sender);
      response.target = target;
      if (!this.#send(response)) resolve();
    });
  }

  #send(response: Outgoing): boolean {
    const { lane } = this;
    // Another life of the session counts from 1 again: its requests are others.
    const isAwaited = lane.channel.life === this.arrived.life && lane.channel.respond(response);
    lane.pump();
    return isAwaited;
  }

  #requireUnanswered(): void {
    if (this.#isAnswered) throw new XioError('XIO_E_STATE', 'the request was answered before');
  }

  #requireRoom(header: Uint8Array, body: Body): void {
    const { peer } = this.lane.channel;
    if (peer !== undefined && header.length > peer.maxHeaderBytes)
      throw new XioError(
        'XIO_E_MSG_SIZE',
        `the header has ${header.length} bytes, and the requester takes ${peer.maxHeaderBytes}`,
      );
    if (lengthOf(body) > this.maxResponseBytes) {
      const message = `the body has ${lengthOf(body)} bytes, and the requester takes ${this.maxResponseBytes}`;
      throw new XioError('XIO_E_RSP_BUF_SIZE_MISMATCH', message);
    }
  }
}

export function failureOf(status: XioStatus, header: Uint8Array): XioError {
  const code = statusName(status) ?? 'XIO_E_UNSUCCESSFUL';
  const text = new TextDecoder().decode(header);
  return new XioError(code, text === '' ? 'the request has failed' : text, { mayHaveRun: true });
}
