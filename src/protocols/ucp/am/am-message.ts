import { invalid, refuse, VerbsError } from '../../../api/verbs/index.js';
import { checkWait, type Timers, type WaitOptions } from '../../core/index.js';
import { partOf, type PeerProblem, putInto } from '../protocol/index.js';
import { UcsStatus } from '../wire/index.js';
import { UcpError, UcpPending } from '../worker/errors.js';
import type { KeptBytes } from '../worker/kept-bytes.js';
import { checkPieces, landingOf, type UcpData } from '../worker/pieces.js';
import type { RendezvousReceive } from '../worker/rendezvous-receive.js';

/** What an {@link AmMessage} is made of. */
export interface AmMessageParts<Endpoint> {
  readonly id: number;
  readonly header: Uint8Array;
  /** What has come; undefined for what is only announced. */
  readonly data: Uint8Array | undefined;
  readonly announced: RendezvousReceive | undefined;
  /** Whether header and data are its own: others lie in a buffer of the transport's. */
  isOwned: boolean;
  readonly replyEndpoint: Endpoint | undefined;
  readonly engine: Timers;
  /** Where it is counted until it is released. */
  readonly kept: KeptBytes;
  readonly cost: number;
}

type Phase = 'handled' | 'kept' | 'fetching' | 'released';

/** An active message, as its handler is given it. It lasts until the handler returns, unless that says {@link keep}. */
export class AmMessage<Endpoint> implements Disposable {
  readonly #parts: AmMessageParts<Endpoint>;
  #header: Uint8Array;
  #data: Uint8Array | undefined;
  #phase: Phase = 'handled';
  /** Why the data of one that was only announced will not come. */
  #failure: UcsStatus | undefined;

  /** @internal {@link UcpWorker.setAmHandler} has them. */
  constructor(parts: AmMessageParts<Endpoint>) {
    this.#parts = parts;
    this.#header = parts.header;
    this.#data = parts.data;
    if (parts.announced !== undefined) parts.announced.onWithdrawn = (status) => void (this.#failure = status);
  }

  /** The one that it was sent to. */
  get id(): number {
    return this.#parts.id;
  }

  /** Bytes of the data. */
  get length(): number {
    return this.#parts.announced?.size ?? this.#parts.data?.length ?? 0;
  }

  /** Whether the data has not come, and is to be fetched by {@link receive}: the sender waits for that. */
  get isRendezvous(): boolean {
    return this.#parts.announced !== undefined;
  }

  /** Where to answer, if the sender wants to be answered. */
  get replyEndpoint(): Endpoint | undefined {
    return this.#parts.replyEndpoint;
  }

  /** What the sender gave as header. @throws VerbsError EINVAL when the message lasts no more */
  get header(): Uint8Array {
    this.#checkLasts('header');
    return this.#header;
  }

  /** What the sender gave as data, where it has come. @throws VerbsError EINVAL when the message lasts no more, or its data is to be fetched */
  get data(): Uint8Array {
    this.#checkLasts('data');
    if (this.#data !== undefined) return this.#data;
    throw new VerbsError('data', invalid('the data has not come', 'Fetch it by receive'));
  }

  /** Has it last until {@link release}, or until {@link receive} has ended. Its bytes count against the worker's `amBytes`. @returns itself. @throws VerbsError EINVAL when it lasts no more */
  keep(): this {
    this.#checkLasts('keep');
    if (this.#phase !== 'handled') return this;
    this.#phase = 'kept';
    this.#own();
    return this;
  }

  /**
   * Has the data in a buffer of the program's, and releases the message. To be called once.
   *
   * @param buffer several pieces are written to once all has come, and what is of a {@link UcpDatatype} is unpacked then. It is written to until the promise settles, and never after
   * @returns how many bytes it is
   * @throws UcpError (the promise rejects) UCS_ERR_MESSAGE_TRUNCATED for a buffer that is too short, and then the data is lost; why the peer has gone, or does not send it
   *   after all; the signal's reason; UCS_ERR_TIMED_OUT; what unpacking it throws; VerbsError EINVAL when the message lasts no more
   */
  async receive(buffer: UcpData, options: WaitOptions = {}): Promise<number> {
    checkPieces('receive', 'buffer', buffer);
    checkWait('receive', options);
    this.#checkLasts('receive');
    options.signal?.throwIfAborted();
    const landing = landingOf('receive', buffer);
    return landing.landed(() => this.#receive(landing.buffer, options));
  }

  /** It is needed no more; what is only announced is told to its sender as received. Idempotent. */
  release(): void {
    if (this.#phase === 'released' || this.#phase === 'fetching') return;
    if (this.#failure === undefined) this.#parts.announced?.discard();
    this.#end();
  }

  /** {@link release}. */
  [Symbol.dispose](): void {
    this.release();
  }

  /** @internal Its handler is called in a later turn: until then its bytes are its own, and do not count. */
  postpone(): void {
    this.#own();
    this.#parts.kept.give(this.#parts.cost);
  }

  /** @internal Its handler is called now. @returns why there is no room for it, and it is released */
  resume(): PeerProblem | undefined {
    const problem = this.#parts.kept.take(this.#parts.cost);
    if (problem !== undefined) this.drop();
    return problem;
  }

  /** @internal It was postponed, and no handler is called. */
  drop(): void {
    if (this.#failure === undefined) this.#parts.announced?.discard();
    this.#phase = 'released';
    this.#data = undefined;
  }

  /** @internal Its handler has returned. */
  handled(): void {
    if (this.#phase === 'handled') this.release();
  }

  #own(): void {
    if (this.#parts.isOwned) return;
    this.#parts.isOwned = true;
    this.#header = this.#header.slice();
    this.#data = this.#data?.slice();
  }

  async #receive(buffer: Uint8Array, options: WaitOptions): Promise<number> {
    // The program may have let it go, or given up, while it made ready to unpack.
    this.#checkLasts('receive');
    options.signal?.throwIfAborted();
    const { length } = this;
    if (this.#failure !== undefined) {
      const status = this.#failure;
      this.release();
      throw new UcpError('receive', status);
    }
    if (buffer.byteLength < length) {
      this.release();
      const text = `the message has ${length} bytes, and the buffer ${buffer.byteLength}`;
      throw new UcpError('receive', UcsStatus.UCS_ERR_MESSAGE_TRUNCATED, text);
    }
    const { announced, engine } = this.#parts;
    if (announced !== undefined) return this.#fetch(announced, partOf(buffer, 0, length), options, engine);
    putInto(buffer, this.data, 0);
    this.release();
    return length;
  }

  #fetch(announced: RendezvousReceive, into: Uint8Array, options: WaitOptions, engine: Timers): Promise<number> {
    this.#phase = 'fetching';
    const fetching = new Fetching('receive', announced, () => this.#end());
    const { length } = into;
    announced.fetch(into, (status) => fetching.onEnded(status, length));
    if (!fetching.isSettled) fetching.bindCancellation(options, engine);
    return fetching.promise;
  }

  #end(): void {
    this.#phase = 'released';
    this.#data = undefined;
    this.#parts.kept.give(this.#parts.cost);
  }

  #checkLasts(call: string): void {
    if (this.#phase === 'released' || this.#phase === 'fetching')
      refuse(call, invalid('the message lasts no more', 'Call keep in the handler'));
  }
}

class Fetching extends UcpPending<number> {
  constructor(
    call: string,
    private readonly announced: RendezvousReceive,
    private readonly onDone: () => void,
  ) {
    super(call);
  }

  onEnded(status: UcsStatus, length: number): void {
    this.onDone();
    if (status === UcsStatus.UCS_OK) this.resolve(length);
    else this.reject(new UcpError(this.call, status));
  }

  protected override onGivenUp(): void {
    this.announced.cancel();
    this.onDone();
  }
}
