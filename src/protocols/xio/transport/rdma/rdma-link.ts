import { assert, QpState, WcOpcode, WcStatus } from '../../../../device/ibta/index.js';
import type { CmId, Connection } from '../../../../api/rdmacm/index.js';
import { type Context, type Cq, type Qp, VerbsError } from '../../../../api/verbs/index.js';
import {
  type Engine,
  type Hold,
  type Lease,
  ReceiveCredits,
  type Receiver,
  Receives,
  SendCredits,
  type SendListener,
  SendQueue,
} from '../../../core/index.js';
import { type Access, type Body, lengthOf, type MoveOutcome, piecesOf } from '../../wire/index.js';
import type { Clock, Exposure, Held, InUse, Link, LinkGrant, LinkReceiver, Move } from '../link.js';
import { type LinkOptions, XioError } from '../transport.js';
import { Arrivals } from './arrivals.js';
import { BodyMemory } from './body-memory.js';
import {
  decodeFrame,
  decodePlaces,
  decodeToken,
  emptyFrame,
  encodePlaces,
  fillFrame,
  Operation,
  PREFIX_BYTES,
  type RemotePlace,
} from './frame.js';
import { LinkGrants } from './grants.js';
import { Moves } from './moves.js';
import { type Afterwards, SEND_SGES, Transfers } from './transfers.js';
import { BUFFER_BYTES, type Hello, INLINE_BYTES, WINDOW } from './hello.js';
import { FrameBuffers } from './frame-buffers.js';

/** In messages of leaks. */
const OWNER = 'verbena/xio';
const SEND_DEPTH = 128;
/** A body that is written, and the frame that tells of it. */
const MOST_REQUESTS_A_MESSAGE = 2;
const NOTHING = new Uint8Array(0);

/** A link by a reliable connection of rdma_cm. */
export class RdmaLink implements Link, Receiver, SendListener<Afterwards> {
  readonly scheme = 'rdma';
  readonly hasRemoteMemory = true;
  readonly clock: Clock;

  readonly #engine: Engine;
  readonly #qp: Qp;
  readonly #sends: SendQueue<Afterwards>;
  readonly #receives: Receives;
  readonly #buffers: FrameBuffers;
  readonly #memory: BodyMemory;
  readonly #hold: Hold;
  readonly #arrivals = new Arrivals();
  readonly #granting = new ReceiveCredits(WINDOW);
  readonly #outgoing = emptyFrame();
  readonly #incoming = emptyFrame();
  readonly #transfers: Transfers;
  readonly #grants: LinkGrants;
  readonly #moves: Moves;
  #limits: { maxHeadBytes: number; readonly maxBodyBytes: number };
  #credits: SendCredits | undefined;
  #connection: Connection | undefined;
  #receiver: LinkReceiver | undefined;
  /** Frames that came before there was a receiver. */
  #early: Uint8Array[] = [];
  #heard = 0;
  #wasRefused = false;
  #isRoomDue = false;
  #state: 'at work' | 'closing' | 'ending' | 'ended' = 'at work';
  #failure: Error | undefined;

  /**
   * Makes the queue pair of an identifier, with a buffer for every frame that the peer may send.
   *
   * @throws VerbsError ENOMEM when there is no room, EIO when the device was lost
   */
  constructor(
    engine: Engine,
    private readonly options: LinkOptions,
    id: CmId,
  ) {
    this.#engine = engine;
    this.clock = engine;
    this.#limits = { maxHeadBytes: BUFFER_BYTES - PREFIX_BYTES, maxBodyBytes: options.maxBodyBytes };
    const cap = {
      maxSendWr: SEND_DEPTH,
      maxRecvWr: WINDOW,
      maxSendSge: SEND_SGES,
      maxRecvSge: 1,
      maxInlineData: INLINE_BYTES,
    };
    this.#qp = id.createQp(engine.pd, { sendCq: engine.cq, recvCq: engine.cq, cap });
    this.#sends = new SendQueue(engine, this.#qp, SEND_DEPTH, this, OWNER);
    this.#receives = new Receives(engine, this.#qp, this, { bytes: BUFFER_BYTES, owner: OWNER });
    this.#buffers = new FrameBuffers(engine.pool, BUFFER_BYTES, OWNER, () => this.#onRoom());
    this.#memory = new BodyMemory(engine);
    this.#transfers = new Transfers(this.#sends);
    this.#grants = new LinkGrants(engine, this.#memory);
    this.#moves = new Moves(engine, this.#memory, this.#transfers);
    try {
      this.#receives.deepen(WINDOW);
      if (this.#receives.posted < WINDOW) throw noBuffers();
    } catch (error) {
      this.#receives.end();
      this.#sends.destroyed();
      throw error;
    }
    this.#hold = engine.hold();
  }

  /** The connection is there, and this is what the peer said of itself. */
  begin(connection: Connection, peer: Hello): void {
    this.#connection = connection;
    this.#credits = new SendCredits(peer.window);
    this.#limits = { ...this.#limits, maxHeadBytes: Math.min(BUFFER_BYTES, peer.bufferBytes) - PREFIX_BYTES };
    void connection.closed.then(() => this.#onClosed());
  }

  /** There will be no connection: the queue pair was destroyed. */
  discard(): void {
    this.#state = 'ending';
    this.#tearDown();
  }

  get context(): Context {
    return this.#engine.context;
  }

  get localAddress() {
    return this.#connection?.localAddress;
  }

  get remoteAddress() {
    return this.#connection?.remoteAddress;
  }

  get maxHeadBytes(): number {
    return this.#limits.maxHeadBytes;
  }

  get heard(): number {
    return this.#heard;
  }

  open(receiver: LinkReceiver): void {
    this.#receiver = receiver;
    for (const bytes of this.#early.splice(0)) if (this.#isAtWork) this.#take(bytes, bytes.length);
    if (this.#state === 'ended') queueMicrotask(() => receiver.onEnd(this.#failure));
  }

  get canSend(): boolean {
    const can =
      this.#isAtWork &&
      this.#credits !== undefined &&
      this.#credits.available > 0 &&
      this.#sends.room >= MOST_REQUESTS_A_MESSAGE &&
      this.#buffers.isThere;
    if (!can) this.#wasRefused = true;
    return can;
  }

  send(head: Uint8Array, body: Body, target: Uint8Array | undefined, isApart = false): Held | undefined {
    const frame = this.#outgoing;
    const bodyBytes = lengthOf(body);
    frame.headBytes = head.length;
    frame.bodyBytes = bodyBytes;
    frame.rkey = 0;
    frame.address = 0n;
    frame.furtherPlaces = 0;
    const isShort = !isApart && bodyBytes <= this.options.inlineBytes && head.length + bodyBytes <= this.maxHeadBytes;
    if (isShort || bodyBytes === 0) {
      frame.operation = Operation.INLINE;
      this.#sendFrame(head, body);
      return undefined;
    }
    const written = target === undefined ? undefined : this.#write(body, bodyBytes, target);
    if (written !== undefined) {
      frame.operation = Operation.WRITTEN;
      this.#sendFrame(head, NOTHING);
      return written;
    }
    const offered = this.#attempt(() => this.#memory.offer(body));
    if (offered === undefined) return undefined;
    const [{ address, rkey }, ...further] = offered.places;
    frame.operation = Operation.READ;
    frame.address = address;
    frame.rkey = rkey;
    frame.furtherPlaces = further.length;
    this.#sendFrame(head, further.length === 0 ? NOTHING : encodePlaces(further));
    return offered;
  }

  grant(bytes: Uint8Array, access: Access): LinkGrant | undefined {
    return this.#isAtWork ? this.#attempt(() => this.#grants.grant(bytes, access)) : undefined;
  }

  move(move: Move, onMoved: (outcome: MoveOutcome) => void): InUse | undefined {
    return this.#isAtWork ? this.#attempt(() => this.#moves.start(move, onMoved)) : undefined;
  }

  expose(bytes: Uint8Array): Exposure | undefined {
    return this.#isAtWork ? this.#memory.expose(bytes) : undefined;
  }

  redirect(landing: Body): void {
    this.#arrivals.find(landing)?.reading?.takeBack();
  }

  probe(): void {
    // Where there is no room something is under way, which fails by itself.
    if (this.#isAtWork && this.#sends.room > 0) this.#ask();
  }

  ref(): void {
    this.#hold.ref();
    this.#connection?.ref();
  }

  unref(): void {
    this.#hold.unref();
    this.#connection?.unref();
  }

  close(): void {
    if (!this.#isAtWork) return;
    this.#state = 'closing';
    this.#closeIfSent();
  }

  abort(): void {
    if (this.#state === 'ending' || this.#state === 'ended') return;
    this.#endSoon();
  }

  onMessage(slot: number, bytes: Uint8Array, cq: Cq): void {
    this.#heard += 1;
    const { byteLen, opcode } = cq;
    if (this.#isAtWork) {
      if (opcode !== WcOpcode.RECV) this.#distrust('a message came by a WRITE');
      else if (this.#receiver === undefined) this.#early.push(bytes.slice(0, byteLen));
      else this.#take(bytes, byteLen);
    }
    this.#giveBack(slot);
    this.#tellCredit();
    this.#offerRoom();
  }

  onDone(afterwards: Afterwards | undefined): void {
    afterwards?.(true, WcStatus.SUCCESS);
    this.#onRoomSoon();
  }

  onFailed(afterwards: Afterwards | undefined, _: Lease | undefined, cq: Cq | undefined): void {
    const status = cq?.status;
    this.#failBy(status);
    afterwards?.(false, status);
    if (cq !== undefined) this.#onRoomSoon();
  }

  onRefused(): void {
    this.#failBy(undefined);
  }

  onReceiveError(cq: Cq): void {
    this.#failBy(cq.status);
  }

  get #isAtWork(): boolean {
    return this.#state === 'at work';
  }

  /** A frame, and all that can be delivered with it. */
  #take(bytes: Uint8Array, byteLength: number): void {
    const frame = this.#incoming;
    const lie = this.#check(bytes, byteLength);
    if (lie !== undefined) {
      this.#distrust(lie);
      return;
    }
    if (frame.operation === Operation.CREDIT) {
      this.#granting.replenish();
      return;
    }
    const head = bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + frame.headBytes);
    if (frame.operation === Operation.READ) {
      const places = decodePlaces(bytes, frame);
      if (typeof places === 'string') this.#distrust(places);
      else this.#read(head.slice(), frame.bodyBytes, places);
      return;
    }
    const isWritten = frame.operation === Operation.WRITTEN;
    const writtenBytes = isWritten ? frame.bodyBytes : 0;
    const body = isWritten ? NOTHING : bytes.subarray(PREFIX_BYTES + frame.headBytes, byteLength);
    if (this.#arrivals.isEmpty) this.#deliver(head, body, false, writtenBytes);
    else
      this.#arrivals.add({
        head: head.slice(),
        body: body.slice(),
        // Nobody was asked where it is to lie.
        isLanded: false,
        writtenBytes,
        reading: undefined,
      });
  }

  #check(bytes: Uint8Array, byteLength: number): string | undefined {
    const lie = decodeFrame(bytes, byteLength, this.#limits, this.#incoming);
    if (lie !== undefined) return lie;
    if (!this.#granting.arrive()) return 'a frame came without credit';
    const { credits } = this.#incoming;
    if (this.#credits?.grant(credits) === false) return `it grants frames up to number ${credits}, which cannot be`;
    return undefined;
  }

  #deliver(head: Uint8Array, body: Body, isLanded: boolean, writtenBytes: number): void {
    this.#granting.replenish();
    this.#receiver?.onMessage(head, body, isLanded, writtenBytes);
  }

  /** Fetches a body that lies at the peer. */
  #read(head: Uint8Array, bodyBytes: number, places: readonly RemotePlace[]): void {
    const landing = this.#receiver?.landing(head, bodyBytes) ?? new Uint8Array(bodyBytes);
    if (!this.#isAtWork) return;
    assert(lengthOf(landing) === bodyBytes, 'a landing is as long as its body');
    const into = this.#attempt(() => this.#memory.destination(landing));
    if (into === undefined) return;
    const arrival = { head, body: landing, isLanded: true, writtenBytes: 0, reading: into };
    this.#arrivals.add(arrival);
    this.#transfers.start(true, places, into.pieces, (isDone) => {
      if (isDone) into.land();
      into.release();
      if (!isDone) return;
      Object.assign(arrival, { reading: undefined });
      this.#deliverWaiting();
    });
  }

  #deliverWaiting(): void {
    let arrival;
    while (this.#isAtWork && (arrival = this.#arrivals.take()) !== undefined)
      this.#deliver(arrival.head, arrival.body, arrival.isLanded, arrival.writtenBytes);
    this.#tellCredit();
  }

  /** @returns undefined where the body cannot be written there */
  #write(body: Body, bodyBytes: number, target: Uint8Array): Held | undefined {
    const place = decodeToken(target);
    const pieces = piecesOf(body).length;
    // The frame that tells of it has to follow at once.
    if (bodyBytes > place.length || Transfers.count(pieces) >= this.#sends.room) return undefined;
    const from = this.#attempt(() => this.#memory.source(body));
    if (from === undefined) return undefined;
    this.#transfers.startNow(false, [{ ...place, length: bodyBytes }], from.pieces, () => from.release());
    // The peer may say that it has it as early as it likes: the adapter needs it until the WRITE is done.
    return { takeBack: () => from.takeBack(), release: () => undefined };
  }

  #sendFrame(head: Uint8Array, body: Body): void {
    if (this.#credits === undefined) return;
    const frame = this.#outgoing;
    frame.credits = this.#granting.limit;
    const length = PREFIX_BYTES + head.length + lengthOf(body);
    if (length <= INLINE_BYTES) {
      const bytes = this.#buffers.inline(length);
      fillFrame(bytes, frame, head, body);
      const qp = this.#sends.begin();
      if (qp === undefined) return;
      qp.wrSend();
      qp.wrSetInlineData(bytes);
    } else {
      const lease = this.#buffers.take();
      fillFrame(lease.bytes, frame, head, body);
      const qp = this.#sends.begin(undefined, lease);
      if (qp === undefined) return;
      qp.wrSend();
      qp.wrSetSge(lease.lkey, lease.addr, length);
    }
    this.#credits.take();
    this.#granting.tell();
    this.#sends.end();
  }

  /** The peer is told how far it may send, where it would not hear of it in time otherwise. */
  #tellCredit(): void {
    if (!this.#isAtWork || !this.#granting.isDue || this.#sends.room === 0) return;
    if (this.#credits === undefined || this.#credits.availableForControl === 0) return;
    Object.assign(this.#outgoing, emptyFrame());
    this.#sendFrame(NOTHING, NOTHING);
  }

  /** Once a pass, however many requests it has completed. */
  #onRoomSoon(): void {
    if (this.#isRoomDue) return;
    this.#isRoomDue = true;
    this.#engine.afterPass(this.#onRoom);
  }

  #ask(): void {
    if (this.#sends.beginProbe() !== undefined) this.#sends.end();
  }

  readonly #onRoom = (): void => {
    this.#isRoomDue = false;
    this.#heard += 1;
    if (this.#isAtWork) this.#transfers.pump();
    this.#tellCredit();
    this.#offerRoom();
    this.#closeIfSent();
  };

  #offerRoom(): void {
    if (!this.#wasRefused || !this.canSend) return;
    this.#wasRefused = false;
    this.#receiver?.onRoom();
  }

  #giveBack(slot: number): void {
    this.#attempt(() => this.#receives.giveBack(slot));
  }

  /** Does what fails only when the device is gone, or full. */
  #attempt<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      this.#fail(
        new XioError('XIO_E_SESSION_DISCONNECTED', `the connection was lost: ${error.message}`, { cause: error }),
      );
      return undefined;
    }
  }

  /** The peer breaks the protocol: nothing of what it does counts any more. */
  #distrust(lie: string): void {
    this.#fail(new XioError('XIO_E_MSG_INVALID', `the peer broke the protocol: ${lie}`));
  }

  #failBy(status: WcStatus | undefined): void {
    if (status === WcStatus.LOC_LEN_ERR) this.#distrust('a frame is longer than the buffers of this end');
    else if (status === WcStatus.WR_FLUSH_ERR || status === undefined) this.#fail(undefined);
    else this.#fail(new XioError('XIO_E_SESSION_DISCONNECTED', 'the connection was lost: ' + this.#reasonOf(status)));
  }

  #reasonOf(status: WcStatus): string {
    return status === WcStatus.RETRY_EXC_ERR
      ? 'the peer does not answer'
      : `a request has failed with status ${status}`;
  }

  #fail(failure: Error | undefined): void {
    if (this.#state === 'ending' || this.#state === 'ended') return;
    this.#failure ??= failure;
    // From now on the peer reaches nothing.
    if (this.#engine.failure === undefined && this.#connection !== undefined) {
      try {
        this.#qp.modify({ qpState: QpState.ERR });
      } catch (error) {
        if (!(error instanceof VerbsError)) throw error;
      }
    }
    this.#endSoon();
  }

  #closeIfSent(): void {
    if (this.#state !== 'closing') return;
    if (this.#sends.endsUnsignaled) this.#ask();
    if (!this.#sends.isEmpty) return;
    this.#state = 'ending';
    void this.#connection?.close().then(() => this.#tearDown());
  }

  #onClosed(): void {
    // What has completed before may not have been looked at.
    while (this.#isAtWork && this.#engine.progress() > 0);
    if (this.#state === 'at work' || this.#state === 'closing') this.#endSoon();
  }

  /** Not at once: who is told of it is in the midst of something. */
  #endSoon(): void {
    this.#state = 'ending';
    queueMicrotask(() => {
      this.#connection?.[Symbol.dispose]();
      this.#tearDown();
    });
  }

  /** The queue pair is gone: nobody touches the memory of this end any more. */
  #tearDown(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#sends.destroyed();
    this.#receives.end();
    this.#buffers.end();
    this.#arrivals.clear();
    this.#transfers.end();
    this.#grants.end();
    this.#moves.end();
    this.#memory.end();
    this.#hold.release();
    this.#receiver?.onEnd(this.#failure);
  }
}

function noBuffers(): VerbsError {
  const message = 'there are no buffers left for another connection';
  return new VerbsError('xio', { errno: 'ENOMEM', message, advice: 'Close sessions' });
}
