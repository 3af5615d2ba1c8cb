import { Pending } from '../../core/index.js';
import { XioError } from '../transport/index.js';
import {
  type Body,
  copyOf,
  Flag,
  gather,
  type Head,
  isOnePiece,
  Kind,
  lengthOf,
  piecesOf,
  statusName,
  XioStatus,
} from '../wire/index.js';
import type { XioRequestOptions, XioResponse, XioSendOptions } from '../api.js';
import { failureOf } from './incoming-request.js';
import type { SessionConnection } from './session-connection.js';
import { Outgoing, type Sender } from './outgoing.js';

/** Why a call has failed that nobody answers. */
function lost(status: XioStatus, mayHaveRun: boolean): XioError {
  if (status === XioStatus.XIO_E_PEER_RESTARTED) {
    const message = 'the server has begun anew: what it was sent may have been executed, or not';
    return new XioError('XIO_E_PEER_RESTARTED', message, { mayHaveRun });
  }
  if (status === XioStatus.XIO_E_MSG_SIZE)
    return new XioError('XIO_E_MSG_SIZE', 'it is longer than the server takes that the session goes on with', {
      mayHaveRun,
    });
  if (status === XioStatus.XIO_E_NO_USER_BUFS)
    return new XioError('XIO_E_NO_USER_BUFS', 'the memory of its body is gone', { mayHaveRun });
  const code = status === XioStatus.XIO_E_SUCCESS ? 'XIO_E_SESSION_CLOSED' : statusName(status);
  return new XioError(code ?? 'XIO_E_SESSION_ABORTED', 'the session has ended', { mayHaveRun });
}

abstract class Call<T> extends Pending<T> {
  #item: Outgoing | undefined;

  constructor(
    call: string,
    protected readonly lane: SessionConnection,
  ) {
    super(call);
  }

  begin(item: Outgoing, { signal, deadlineMs }: Pick<XioRequestOptions, 'signal' | 'deadlineMs'>): void {
    this.#item = item;
    const { lane } = this;
    lane.channel.call(item);
    lane.pump();
    const { clock } = lane.lastLink ?? {};
    if (!this.isSettled && clock !== undefined) this.bindCancellation({ signal, timeoutMs: deadlineMs }, clock);
  }

  onFailed(status: XioStatus): void {
    this.reject(lost(status, this.#item?.mayHaveRun === true));
  }

  #mayHaveRun = false;

  protected onGivenUp(): void {
    if (this.#item !== undefined) this.#mayHaveRun = this.lane.giveUp(this.#item);
  }

  protected override lateness(timeoutMs: number): Error {
    // It is asked for before the call is given up.
    const mayHaveRun = this.#mayHaveRun || this.#item?.mayHaveRun === true;
    return new XioError('XIO_E_TIMEOUT', `not done within ${timeoutMs} ms`, { mayHaveRun });
  }
}

export class Response implements XioResponse {
  #body: Body;

  constructor(
    readonly header: Uint8Array,
    body: Body,
  ) {
    this.#body = body;
  }

  get body(): Uint8Array {
    return isOnePiece(this.#body) ? this.#body : gather(this.#body);
  }

  get bodyBytes(): number {
    return lengthOf(this.#body);
  }

  get pieces(): readonly Uint8Array[] {
    return piecesOf(this.#body);
  }

  [Symbol.dispose](): void {
    // Its body is memory of its own, or the program's.
  }
}

/** A request, until it is answered. */
export class RequestCall extends Call<Response> implements Sender {
  constructor(lane: SessionConnection) {
    super('request', lane);
  }

  onResponse({ status }: Head, header: Uint8Array, body: Body): void {
    if (status === XioStatus.XIO_E_SUCCESS) this.resolve(new Response(header, body));
    else this.reject(failureOf(status, header));
  }

  /** A request is done when it is answered. */
  onDone(): void {
    this.reject(new Error('verbena: internal error: a request is done without an answer'));
  }
}

/** A message, until its memory is the program's again, or the peer's program has let go of it. */
export class MessageCall extends Call<void> implements Sender {
  constructor(
    lane: SessionConnection,
    private readonly waitsFor: 'sent' | 'done',
  ) {
    super('send', lane);
  }

  onSent(): void {
    if (this.waitsFor === 'sent') this.resolve();
  }

  onResponse(): void {
    this.reject(new Error('verbena: internal error: a message is answered'));
  }

  onDone(): void {
    this.resolve();
  }
}

/** @param inlineBytes bodies up to so long are copied, so that their memory is the program's at once */
export function sendMessage(
  lane: SessionConnection,
  header: Uint8Array,
  body: Body,
  options: XioSendOptions & { readonly isApart: boolean },
  inlineBytes: number,
): Promise<void> {
  const { receipt = false, isApart } = options;
  const isCopied = lengthOf(body) <= inlineBytes && !receipt && !isApart;
  const call = new MessageCall(lane, isCopied ? 'sent' : 'done');
  const flags = receipt ? Flag.RECEIPT : isCopied ? 0 : Flag.ACKNOWLEDGE;
  const fields = { header: copyOf(header), body: isCopied ? gather(body) : body, flags, isApart };
  call.begin(new Outgoing(Kind.ONE_WAY, fields, call), options);
  return call.promise;
}

export interface RequestSettings extends Pick<
  XioRequestOptions,
  'signal' | 'deadlineMs' | 'maxResponseBytes' | 'idempotent'
> {
  readonly into: Body | undefined;
  readonly isApart: boolean;
  readonly isResponseApart: boolean;
}

export function sendRequest(
  lane: SessionConnection,
  header: Uint8Array,
  body: Body,
  options: RequestSettings,
): Promise<Response> {
  const { maxBodyBytes } = lane.channel.own;
  const { into, idempotent, isApart, isResponseApart } = options;
  const room = into === undefined ? maxBodyBytes : lengthOf(into);
  // No body is longer than what this end takes, wherever it is to lie.
  const maxResponseBytes = Math.min(options.maxResponseBytes ?? room, maxBodyBytes);
  const call = new RequestCall(lane);
  const flags = isResponseApart ? Flag.APART_RESPONSE : 0;
  const fields = { header: copyOf(header), body, maxResponseBytes, flags, isApart, isIdempotent: idempotent };
  const request = new Outgoing(Kind.REQUEST, fields, call);
  request.into = into;
  call.begin(request, options);
  return call.promise;
}
