import { assert, QpState, WcOpcode, WcStatus } from '../../../../device/ibta/index.js';
import type { CmId, Connection } from '../../../../api/rdmacm/index.js';
import { type Context, type Cq, VerbsError } from '../../../../api/verbs/index.js';
import { BufferSupply, type Engine, type Lease, RcEndpoint, ReceiveCredits, SendCredits } from '../../../core/index.js';
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

const OWNER = 'verbena/xio';
const SEND_DEPTH = 128;
/** A body that is written, and the frame that tells of it. */
const MOST_REQUESTS_A_MESSAGE = 2;
const NOTHING = new Uint8Array(0);

const QUEUES = {
  owner: OWNER,
  sends: SEND_DEPTH,
  receives: WINDOW,
  bufferBytes: BUFFER_BYTES,
  spare: 1,
  inlineBytes: INLINE_BYTES,
  maxSendSge: SEND_SGES,
};

export class RdmaLink extends RcEndpoint<Afterwards> implements Link {
  readonly scheme = 'rdma';
  readonly hasRemoteMemory = true;
  readonly clock: Clock;

  readonly #buffers: BufferSupply;
  /** Scratch memory for what is sent inline, by length. */
  readonly #inline: readonly Uint8Array[];
  readonly #memory: BodyMemory;
  readonly #arrivals = new Arrivals();
  readonly #granting = new ReceiveCredits(WINDOW);
  readonly #outgoing = emptyFrame();
  readonly #incoming = emptyFrame();
  readonly #transfers: Transfers;
  readonly #grants: LinkGrants;
  readonly #moves: Moves;
  #limits: { maxHeadBytes: number; readonly maxBodyBytes: number };
  #credits: SendCredits | undefined;
  #receiver: LinkReceiver | undefined;
  #heard = 0;
  #wasRefused = false;
  #isRoomDue = false;
  /** Requests in flight are not awaited. */
  #isEnding = false;
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
    super(engine, id, QUEUES);
    this.clock = engine;
    this.#limits = { maxHeadBytes: BUFFER_BYTES - PREFIX_BYTES, maxBodyBytes: options.maxBodyBytes };
    this.#buffers = new BufferSupply(engine.pool, OWNER, this.#onRoom);
    const scratch = new Uint8Array(INLINE_BYTES);
    this.#inline = Array.from({ length: INLINE_BYTES + 1 }, (_, length) => scratch.subarray(0, length));
    this.#memory = new BodyMemory(engine);
    this.#transfers = new Transfers(this.sends);
    this.#grants = new LinkGrants(engine, this.#memory);
    this.#moves = new Moves(engine, this.#memory, this.#transfers);
  }

  /** The connection is there, and this is what the peer said of itself. */
  begin(connection: Connection, peer: Hello): void {
    this.#credits = new SendCredits(peer.window);
    this.#limits = { ...this.#limits, maxHeadBytes: Math.min(BUFFER_BYTES, peer.bufferBytes) - PREFIX_BYTES };
    this.attach(connection);
  }

  get context(): Context {
    return this.engine.context;
  }

  get localAddress() {
    return this.connection?.localAddress;
  }

  get remoteAddress() {
    return this.connection?.remoteAddress;
  }

  get maxHeadBytes(): number {
    return this.#limits.maxHeadBytes;
  }

  get heard(): number {
    return this.#heard;
  }

  open(receiver: LinkReceiver): void {
    this.#receiver = receiver;
    this.opened();
    if (this.state === 'closed') queueMicrotask(() => receiver.onEnd(this.#failure));
  }

  get canSend(): boolean {
    const can =
      this.isActive &&
      this.#credits !== undefined &&
      this.#credits.available > 0 &&
      this.sends.room >= MOST_REQUESTS_A_MESSAGE &&
      this.#buffers.has(BUFFER_BYTES);
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
    return this.isActive ? this.#attempt(() => this.#grants.grant(bytes, access)) : undefined;
  }

  move(move: Move, onMoved: (outcome: MoveOutcome) => void): InUse | undefined {
    return this.isActive ? this.#attempt(() => this.#moves.start(move, onMoved)) : undefined;
  }

  expose(bytes: Uint8Array): Exposure | undefined {
    return this.isActive ? this.#memory.expose(bytes) : undefined;
  }

  redirect(landing: Body): void {
    this.#arrivals.find(landing)?.reading?.takeBack();
  }

  probe(): void {
    // Where there is no room something is under way, which fails by itself.
    if (this.isActive && this.sends.room > 0) this.#ask();
  }

  close(): void {
    if (this.drain()) this.#closeIfSent();
  }

  abort(): void {
    if (!this.#isEnding) this.#endSoon();
  }

  onMessage(slot: number, bytes: Uint8Array, cq: Cq): void {
    this.#heard += 1;
    const { byteLen, opcode } = cq;
    if (this.isActive) {
      if (opcode !== WcOpcode.RECV) this.#distrust('a message came by a WRITE');
      // Here and not with the rest: what waits for its reader is bounded, too.
      else if (!this.#granting.arrive()) this.#distrust('a frame came without credit');
      else if (this.#receiver === undefined) this.#takeLater(bytes.slice(0, byteLen));
      else this.#take(bytes, byteLen);
    }
    this.receives.giveBack(slot);
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

  onRefused(error: VerbsError): void {
    this.#fail(
      new XioError('XIO_E_SESSION_DISCONNECTED', `the connection was lost: ${error.message}`, { cause: error }),
    );
  }

  onReceiveError(cq: Cq): void {
    this.#failBy(cq.status);
  }

  #takeLater(bytes: Uint8Array): void {
    this.defer(() => {
      if (this.isActive) this.#take(bytes, bytes.length);
    });
  }

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
    if (!this.isActive) return;
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
    while (this.isActive && (arrival = this.#arrivals.take()) !== undefined)
      this.#deliver(arrival.head, arrival.body, arrival.isLanded, arrival.writtenBytes);
    this.#tellCredit();
  }

  /** @returns undefined where the body cannot be written there */
  #write(body: Body, bodyBytes: number, target: Uint8Array): Held | undefined {
    const place = decodeToken(target);
    const pieces = piecesOf(body).length;
    // The frame that tells of it has to follow at once.
    if (bodyBytes > place.length || Transfers.count(pieces) >= this.sends.room) return undefined;
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
      const bytes = this.#inline[length];
      fillFrame(bytes, frame, head, body);
      const qp = this.sends.begin();
      if (qp === undefined) return;
      qp.wrSend();
      qp.wrSetInlineData(bytes);
    } else {
      const lease = this.#buffers.take(BUFFER_BYTES);
      assert(lease !== undefined, 'a frame is made where there is no buffer for it');
      fillFrame(lease.bytes, frame, head, body);
      const qp = this.sends.begin(undefined, lease);
      if (qp === undefined) return;
      qp.wrSend();
      qp.wrSetSge(lease.lkey, lease.addr, length);
    }
    this.#credits.take();
    this.#granting.tell();
    this.sends.end();
  }

  /** The peer is told how far it may send, where it would not hear of it in time otherwise. */
  #tellCredit(): void {
    if (!this.isActive || !this.#granting.isDue || this.sends.room === 0) return;
    if (this.#credits === undefined || this.#credits.availableForControl === 0) return;
    Object.assign(this.#outgoing, emptyFrame());
    this.#sendFrame(NOTHING, NOTHING);
  }

  /** Once a pass, however many requests it has completed. */
  #onRoomSoon(): void {
    if (this.#isRoomDue) return;
    this.#isRoomDue = true;
    this.engine.afterPass(this.#onRoom);
  }

  #ask(): void {
    if (this.sends.beginProbe() !== undefined) this.sends.end();
  }

  readonly #onRoom = (): void => {
    this.#isRoomDue = false;
    this.#heard += 1;
    if (this.isActive) this.#transfers.pump();
    this.#tellCredit();
    this.#offerRoom();
    this.#closeIfSent();
  };

  #offerRoom(): void {
    if (!this.#wasRefused || !this.canSend) return;
    this.#wasRefused = false;
    this.#receiver?.onRoom();
  }

  /** Does what fails only when the device is gone, or full. */
  #attempt<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      this.onRefused(error);
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
    if (this.#isEnding) return;
    this.#failure ??= failure;
    // From now on the peer reaches nothing.
    if (this.engine.failure === undefined && this.connection !== undefined) {
      try {
        this.qp.modify({ qpState: QpState.ERR });
      } catch (error) {
        if (!(error instanceof VerbsError)) throw error;
      }
    }
    this.#endSoon();
  }

  #closeIfSent(): void {
    if (this.state !== 'draining' || this.#isEnding) return;
    if (this.sends.endsUnsignaled) this.#ask();
    if (!this.sends.isEmpty) return;
    this.#isEnding = true;
    if (this.connection === undefined) this.disposeSoon();
    else void this.connection.close().then(() => this.destroyed());
  }

  protected onDisconnected(): void {
    if (!this.#isEnding) this.#endSoon();
  }

  /** Not at once: who is told of it is in the midst of something. */
  #endSoon(): void {
    this.#isEnding = true;
    this.disposeSoon();
  }

  override destroyed(): void {
    if (this.state === 'closed') return;
    this.#isEnding = true;
    super.destroyed();
    this.#buffers.end();
    this.#arrivals.clear();
    this.#transfers.end();
    this.#grants.end();
    this.#moves.end();
    this.#memory.end();
    this.#receiver?.onEnd(this.#failure);
  }
}
