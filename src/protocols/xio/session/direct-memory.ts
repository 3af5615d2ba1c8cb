import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import {
  Accesses,
  type AccessHost,
  type Asked,
  type Asker,
  type GrantedPlace,
  type GrantHost,
  Grants,
  MOST_GRANTS,
  type Moved,
  type Moving,
  spoilable,
} from '../protocol/index.js';
import { XioError } from '../transport/index.js';
import {
  type Access,
  ANY_CONNECTION,
  type Body,
  decodeDirectRequest,
  DirectOperation,
  type DirectRequest,
  encodeDirectRequest,
  encodeGrantToken,
  Flag,
  gather,
  GRANT_ID_BYTES,
  isOnePiece,
  Kind,
  lengthOf,
  type MoveOutcome,
  XioStatus,
} from '../wire/index.js';
import type { XioShare, XioShareOptions } from '../api.js';
import { secretBytes } from '../../../api/provider/index.js';
import { DirectCall, type DirectFields } from './direct-call.js';
import type { Arrived, SessionConnection } from './session-connection.js';
import { Outgoing, type Sender } from './outgoing.js';

const ACCESS: Readonly<Record<NonNullable<XioShareOptions['access']>, Access>> = {
  read: { read: true, write: false },
  write: { read: false, write: true },
  'read-write': { read: true, write: true },
};
const SHARE_FIELDS: FieldsOf<XioShareOptions> = { access: true };

/** Whoever has direct memory: a session. */
export interface DirectOwner {
  readonly lanes: readonly SessionConnection[];
  /** Bodies up to so long go along with their heads. */
  readonly inlineBytes: number;
  onProtocolViolation(lane: SessionConnection, lie: string): void;
  /** Nothing is read or written any more. */
  onIdle(): void;
}

/** Memory that a session's ends let each other use: what this end grants, and what it does with what the peer has granted. */
export class DirectMemory implements GrantHost<SessionConnection>, AccessHost<SessionConnection> {
  readonly #grants = new Grants<SessionConnection>(this);
  readonly #accesses = new Accesses<SessionConnection>(this);
  #hasEnded = false;

  constructor(private readonly owner: DirectOwner) {}

  /** Reads and writes that are not done. */
  get size(): number {
    return this.#accesses.size;
  }

  /**
   * Grants memory.
   *
   * @param connection the one that leads to it, of the peer's
   * @throws XioError XIO_E_NO_BUFS; VerbsError EINVAL
   */
  share(bytes: Uint8Array, options: XioShareOptions, connection = ANY_CONNECTION): XioShare {
    const call = 'share';
    refuse(call, fieldsProblem('options', options, SHARE_FIELDS));
    const { access: name = 'read' } = options;
    const given: unknown = bytes;
    if (!(given instanceof Uint8Array) || given.byteLength === 0)
      throw new VerbsError(call, invalid(`bytes is ${show(given)}`, 'It is a Uint8Array of a byte or more'));
    if (!Object.hasOwn(ACCESS, name))
      throw new VerbsError(call, invalid(`access is ${show(name)}`, `It is one of ${Object.keys(ACCESS).join(', ')}`));
    if (this.#grants.size >= MOST_GRANTS)
      throw new XioError('XIO_E_NO_BUFS', `${call}: the session has granted ${MOST_GRANTS} pieces of memory already`);
    const id = secretBytes(GRANT_ID_BYTES);
    const access = ACCESS[name];
    this.#grants.add(id, bytes, access);
    return new Share(this.#grants, id, bytes, encodeGrantToken({ id, length: bytes.byteLength, access, connection }));
  }

  /** Reads or writes memory of the peer's. */
  access(lane: SessionConnection, fields: DirectFields): Promise<void> {
    const call = new DirectCall(fields, () => this.#onOver());
    // A connection that is being made has no link yet.
    const timed = lane.lastLink === undefined ? this.owner.lanes.find(({ lastLink }) => lastLink !== undefined) : lane;
    call.begin((request) => this.#accesses.begin(lane, request), timed?.lastLink?.clock);
    return call.promise;
  }

  end(status: XioStatus): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#grants.end();
    this.#accesses.end(status);
  }

  /** Where the body of a request is to lie that writes to memory which this end has granted. */
  landing(lane: SessionConnection, bodyBytes: number, header: Uint8Array): Body | undefined {
    const request = decodeDirectRequest(header);
    if (typeof request === 'string' || request.operation !== DirectOperation.WRITE) return undefined;
    return request.length === bodyBytes ? this.#grants.landing(lane, request) : undefined;
  }

  /** A request of the peer's session. */
  onRequest(lane: SessionConnection, arrived: Arrived): void {
    const request = decodeDirectRequest(arrived.header);
    const lie = typeof request === 'string' ? request : lengthLie(request, lengthOf(arrived.body));
    if (typeof request === 'string' || lie !== undefined) {
      this.owner.onProtocolViolation(lane, lie ?? '');
      return;
    }
    if (request.operation === DirectOperation.REVOKE) {
      this.#accesses.onRevoke(lane, request.id, () => this.#respond(lane, arrived, {}));
      return;
    }
    const status = this.#grants.check(request);
    if (status !== XioStatus.XIO_E_SUCCESS) this.#respond(lane, arrived, { status });
    else if (request.operation === DirectOperation.MAP)
      this.#respond(lane, arrived, {}, (response) => {
        response.headerFor = () => this.#grants.map(lane, request.id);
      });
    else if (request.operation === DirectOperation.READ) this.#read(lane, arrived, request);
    else this.#write(lane, arrived, request);
  }

  linkOf({ link, channel }: SessionConnection): object | undefined {
    return channel.isAttached ? link : undefined;
  }

  isDirect({ link }: SessionConnection): boolean {
    return link?.hasRemoteMemory === true;
  }

  lifeOf(lane: SessionConnection): number {
    return this.owner.lanes.includes(lane) ? lane.channel.life : 0;
  }

  mostBytes({ channel: { own, peer } }: SessionConnection) {
    return { request: peer?.maxBodyBytes ?? own.maxBodyBytes, response: own.maxBodyBytes };
  }

  ask(lane: SessionConnection, fields: Parameters<AccessHost<SessionConnection>['ask']>[1], asker: Asker): Asked {
    const request = new Outgoing(Kind.REQUEST, fields, {
      onResponse: ({ status }, header, body) => asker.onAnswer(status, header, body),
      onDone: () => undefined,
      onFailed: (status) => asker.onFailed(status, request.mayHaveRun),
    });
    request.into = fields.into;
    lane.channel.call(request);
    lane.pump();
    return {
      giveUp: () => void lane.giveUp(request),
      get mayHaveRun() {
        return request.mayHaveRun;
      },
    };
  }

  move({ link }: SessionConnection, move: Moved, onMoved: (outcome: MoveOutcome) => void): Moving | undefined {
    return link?.move(move, onMoved);
  }

  expose({ link }: SessionConnection, bytes: Uint8Array, access: Access): GrantedPlace | undefined {
    return link?.grant(bytes, access);
  }

  revoke(lane: SessionConnection, id: Uint8Array, done: () => void): boolean {
    if (this.#hasEnded || lane.channel.isFinishing) return false;
    const header = encodeDirectRequest({ operation: DirectOperation.REVOKE, id, offset: 0, length: 0 });
    this.ask(lane, { header, flags: Flag.DIRECT }, { onAnswer: done, onFailed: done });
    return true;
  }

  redirect({ link }: SessionConnection, landing: Body): void {
    link?.redirect(landing);
  }

  #read(lane: SessionConnection, arrived: Arrived, request: DirectRequest): void {
    if (request.length > arrived.maxResponseBytes) {
      this.#respond(lane, arrived, { status: XioStatus.XIO_E_RSP_BUF_SIZE_MISMATCH });
      return;
    }
    const memory = this.#grants.memory(request);
    if (memory.length <= this.owner.inlineBytes) {
      this.#respond(lane, arrived, { body: gather(memory) });
      return;
    }
    this.#respond(lane, arrived, { body: memory, flags: Flag.ACKNOWLEDGE }, (response) => {
      const forget = this.#grants.answering(
        request,
        spoilable(response, () => response.takeBack(lane.link)),
      );
      response.sender = senderOf(forget);
      response.target = arrived.target;
    });
  }

  #write(lane: SessionConnection, arrived: Arrived, request: DirectRequest): void {
    const { body } = arrived;
    // What has come along with its head, or was to lie elsewhere when it began to come, is put there now.
    if (!this.#grants.landed(request, body)) this.#grants.memory(request).set(isOnePiece(body) ? body : gather(body));
    this.#respond(lane, arrived, {});
  }

  #respond(
    lane: SessionConnection,
    { sn, life }: Arrived,
    fields: { readonly status?: XioStatus; readonly body?: Uint8Array; readonly flags?: number },
    prepare?: (response: Outgoing) => void,
  ): void {
    const response = new Outgoing(Kind.RESPONSE, { about: sn, ...fields });
    prepare?.(response);
    // Another life of the session counts from 1 again: its requests are others.
    if (lane.channel.life === life && !lane.channel.respond(response)) response.sender?.onDone();
    lane.pump();
  }

  #onOver(): void {
    if (this.#accesses.size === 0) this.owner.onIdle();
  }
}

function lengthLie({ operation, length }: DirectRequest, bodyBytes: number): string | undefined {
  const expected = operation === DirectOperation.WRITE ? length : 0;
  return bodyBytes === expected
    ? undefined
    : `a direct request has a body of ${bodyBytes} bytes, where it says ${expected}`;
}

function senderOf(done: () => void): Sender {
  return { onResponse: done, onDone: done, onFailed: done };
}

class Share implements XioShare {
  constructor(
    private readonly grants: Grants<SessionConnection>,
    private readonly id: Uint8Array,
    readonly bytes: Uint8Array,
    readonly token: Uint8Array,
  ) {}

  get isRevoked(): boolean {
    return !this.grants.has(this.id);
  }

  revoke(): void {
    this.grants.revoke(this.id);
  }

  [Symbol.dispose](): void {
    this.revoke();
  }
}
