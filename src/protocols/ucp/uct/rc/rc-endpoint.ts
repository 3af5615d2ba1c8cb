import { QpState, WcOpcode } from '../../../../device/ibta/index.js';
import type { CmId, Connection } from '../../../../api/rdmacm/index.js';
import type { Cq } from '../../../../api/verbs/index.js';
import { BufferSupply, type Lease, RcEndpoint } from '../../../core/index.js';
import { AtomicOp, UcsStatus } from '../../wire/index.js';
import {
  type AmHandlers,
  atomicProblem,
  isAm,
  isPlace,
  type AtomicRequest,
  type Completion,
  type Endpoint,
  type LocalPlace,
  type Packer,
  type RemotePlace,
  type Waiting,
} from '../endpoint.js';
import type { Capabilities, Way } from '../capabilities.js';
import type { MemoryDomain } from '../memory-domain.js';
import { FlushQueue, PendingQueue } from '../waits.js';
import { FlowControl, idOf, PURE_GRANT } from './flow-control.js';
import type { Hello } from '../hello.js';
import { type Afterwards, settle, statusOf } from '../afterwards.js';

const OWNER = 'ucp rc';
const DEPTH = 64;
const INLINE_BYTES = 256;
/** What the engine's pool has a size for. */
export const SEGMENT_BYTES = 4160;
/** What a short lease has room for beside the first byte. */
const MAX_HEADER = 255;
const FIRST = 1;
const ATOMIC_BYTES = 8;
const MOST = 2 ** 30;
const FEW_BYTES = 32;

/** What the peer's buffers allow. */
function capabilitiesFor({ segmentBytes }: Pick<Hello, 'segmentBytes'>): Capabilities {
  const segment = Math.min(segmentBytes, SEGMENT_BYTES);
  return {
    am: {
      short: INLINE_BYTES - FIRST,
      bcopy: segment - FIRST,
      zcopy: segmentBytes - FIRST,
      header: Math.min(MAX_HEADER, segmentBytes - FIRST),
    },
    put: { short: INLINE_BYTES, bcopy: SEGMENT_BYTES, zcopy: MOST },
    get: { bcopy: SEGMENT_BYTES, zcopy: MOST },
    // What adapters of RoCE have.
    atomics: { 4: [], 8: [AtomicOp.ADD, AtomicOp.CSWAP] },
  };
}

/** A way to a peer by a reliable connection. */
export class UctRcEndpoint extends RcEndpoint<Afterwards> implements Endpoint {
  /** Is told once why nothing goes any more. */
  onFailure: ((status: UcsStatus) => void) | undefined;

  readonly #flow = new FlowControl();
  readonly #pending = new PendingQueue();
  readonly #flushes = new FlushQueue();
  /** What is sent inline, by its length: the same bytes again and again. */
  readonly #inline: readonly Uint8Array[];
  #capabilities = capabilitiesFor({ segmentBytes: SEGMENT_BYTES });
  #failure: UcsStatus | undefined;
  readonly #leases: BufferSupply;

  /**
   * Makes the queue pair of an identifier, with a buffer for every message that the peer may send.
   *
   * @throws VerbsError ENOMEM when there is no room, EIO when the device was lost
   */
  constructor(
    domain: MemoryDomain,
    private readonly handlers: AmHandlers,
    id: CmId,
    own: Hello,
  ) {
    super(domain.engine, id, {
      owner: OWNER,
      sends: DEPTH,
      // A grant may come in addition to the messages that are counted.
      receives: own.window + 1,
      bufferBytes: own.segmentBytes,
      spare: 1,
      inlineBytes: INLINE_BYTES,
      maxSendSge: 2,
    });
    this.#leases = new BufferSupply(this.engine.pool, OWNER, () => this.#pending.dispatch());
    const scratch = new Uint8Array(INLINE_BYTES);
    this.#inline = Array.from({ length: INLINE_BYTES + 1 }, (_, length) => scratch.subarray(0, length));
  }

  get capabilities(): Capabilities {
    return this.#capabilities;
  }

  get way(): Way {
    const { localAddress, remoteAddress } = this.connection ?? {};
    return { transport: 'rc', localAddress, remoteAddress };
  }

  get failure(): UcsStatus | undefined {
    return this.#failure;
  }

  /** The connection is there, and this is what the peer said of itself. */
  begin(connection: Connection, peer: Hello): void {
    this.#capabilities = capabilitiesFor(peer);
    this.#flow.begin(peer.window);
    this.attach(connection);
    this.opened();
    this.#pending.dispatch();
  }

  amShort(id: number, header: Uint8Array, payload: Uint8Array): UcsStatus {
    const bytes = header.length + payload.length;
    const refusal = this.#amRefusal(isAm(id, bytes, this.#capabilities.am.short));
    if (refusal !== undefined) return refusal;
    const qp = this.sends.begin();
    if (qp === undefined) return this.#failed();
    const message = this.#inline[FIRST + bytes];
    message[0] = this.#flow.next(id);
    put(message, header, FIRST);
    put(message, payload, FIRST + header.length);
    qp.wrSend();
    qp.wrSetInlineData(message);
    return this.#end(UcsStatus.UCS_OK);
  }

  amBcopy(id: number, packer: Packer): UcsStatus {
    const { bcopy } = this.#capabilities.am;
    const refusal = this.#amRefusal(isAm(id, 0, bcopy));
    if (refusal !== undefined) return refusal;
    const lease = this.#leases.take(SEGMENT_BYTES);
    if (lease === undefined) return UcsStatus.UCS_ERR_NO_RESOURCE;
    const length = packed(packer, lease, FIRST, bcopy);
    const qp = this.sends.begin(undefined, lease);
    if (qp === undefined) return this.#failed();
    lease.bytes[0] = this.#flow.next(id);
    qp.wrSend();
    qp.wrSetSge(lease.lkey, lease.addr, FIRST + length);
    return this.#end(UcsStatus.UCS_OK);
  }

  amZcopy(id: number, header: Uint8Array, payload: LocalPlace, completion: Completion): UcsStatus {
    const { am } = this.#capabilities;
    const isGood = isAm(id, header.length, am.header) && isPlace(payload, am.zcopy - header.length);
    const refusal = this.#amRefusal(isGood);
    if (refusal !== undefined) return refusal;
    const lease = this.#leases.take(FIRST + header.length);
    if (lease === undefined) return UcsStatus.UCS_ERR_NO_RESOURCE;
    const qp = this.sends.begin({ completion }, lease);
    if (qp === undefined) return this.#failed();
    lease.bytes[0] = this.#flow.next(id);
    lease.bytes.set(header, FIRST);
    qp.wrSend();
    qp.wrSetSgeList([{ addr: lease.addr, length: FIRST + header.length, lkey: lease.lkey }, pieceOf(payload)]);
    return this.#end(UcsStatus.UCS_INPROGRESS);
  }

  putShort(payload: Uint8Array, { rkey, address }: RemotePlace): UcsStatus {
    const refusal = this.#refusal(payload.length <= this.#capabilities.put.short);
    if (refusal !== undefined) return refusal;
    const qp = this.sends.begin();
    if (qp === undefined) return this.#failed();
    qp.wrRdmaWrite(rkey, address);
    qp.wrSetInlineData(payload);
    return this.#end(UcsStatus.UCS_OK);
  }

  putBcopy(packer: Packer, { rkey, address }: RemotePlace): UcsStatus {
    const refusal = this.#refusal(true);
    if (refusal !== undefined) return refusal;
    const lease = this.#leases.take(SEGMENT_BYTES);
    if (lease === undefined) return UcsStatus.UCS_ERR_NO_RESOURCE;
    const length = packed(packer, lease, 0, SEGMENT_BYTES);
    const qp = this.sends.begin(undefined, lease);
    if (qp === undefined) return this.#failed();
    qp.wrRdmaWrite(rkey, address);
    qp.wrSetSge(lease.lkey, lease.addr, length);
    return this.#end(UcsStatus.UCS_OK);
  }

  putZcopy(payload: LocalPlace, { rkey, address }: RemotePlace, completion: Completion): UcsStatus {
    const refusal = this.#refusal(isPlace(payload, MOST));
    if (refusal !== undefined) return refusal;
    const qp = this.sends.begin({ completion });
    if (qp === undefined) return this.#failed();
    const { addr, length, lkey } = pieceOf(payload);
    qp.wrRdmaWrite(rkey, address);
    qp.wrSetSge(lkey, addr, length);
    return this.#end(UcsStatus.UCS_INPROGRESS);
  }

  getBcopy(
    length: number,
    { rkey, address }: RemotePlace,
    unpack: (bytes: Uint8Array) => void,
    completion: Completion,
  ): UcsStatus {
    const refusal = this.#refusal(length <= this.#capabilities.get.bcopy);
    if (refusal !== undefined) return refusal;
    const lease = this.#leases.take(length);
    if (lease === undefined) return UcsStatus.UCS_ERR_NO_RESOURCE;
    const onRead = (bytes: Uint8Array): void => unpack(bytes.subarray(0, length));
    const qp = this.sends.begin({ completion, onRead }, lease);
    if (qp === undefined) return this.#failed();
    qp.wrRdmaRead(rkey, address);
    qp.wrSetSge(lease.lkey, lease.addr, length);
    return this.#end(UcsStatus.UCS_INPROGRESS);
  }

  getZcopy(into: LocalPlace, { rkey, address }: RemotePlace, completion: Completion): UcsStatus {
    const refusal = this.#refusal(isPlace(into, MOST));
    if (refusal !== undefined) return refusal;
    const qp = this.sends.begin({ completion });
    if (qp === undefined) return this.#failed();
    const { addr, length, lkey } = pieceOf(into);
    qp.wrRdmaRead(rkey, address);
    qp.wrSetSge(lkey, addr, length);
    return this.#end(UcsStatus.UCS_INPROGRESS);
  }

  atomic(request: AtomicRequest, completion: Completion): UcsStatus {
    const refusal = atomicProblem(request, this.#capabilities) ?? this.#refusal(true);
    if (refusal !== undefined) return refusal;
    const lease = this.#leases.take(ATOMIC_BYTES);
    if (lease === undefined) return UcsStatus.UCS_ERR_NO_RESOURCE;
    const { op, rkey, address, value, compare = 0n, onValue } = request;
    const onRead = (bytes: Uint8Array): void => onValue?.(wordIn(bytes));
    const qp = this.sends.begin({ completion, onRead }, lease);
    if (qp === undefined) return this.#failed();
    if (op === AtomicOp.ADD) qp.wrAtomicFetchAdd(rkey, address, BigInt.asUintN(64, value));
    else qp.wrAtomicCmpSwp(rkey, address, BigInt.asUintN(64, compare), BigInt.asUintN(64, value));
    qp.wrSetSge(lease.lkey, lease.addr, ATOMIC_BYTES);
    return this.#end(UcsStatus.UCS_INPROGRESS);
  }

  check(): void {
    // Where there is no room something is under way, which fails by itself.
    if (this.#failure !== undefined || this.state === 'connecting' || this.sends.room === 0) return;
    this.#ask();
  }

  pendingAdd(waiting: Waiting): void {
    this.#pending.add(waiting);
    // Room that has come meanwhile would be told to nobody else.
    this.engine.nextTurn(() => this.#pending.dispatch());
  }

  pendingPurge(): Waiting[] {
    return this.#pending.purge();
  }

  flush(completion: Completion): UcsStatus {
    // Without room, the last is signaled.
    if (this.#failure === undefined && this.sends.endsUnsignaled && this.sends.room > 0) this.#ask();
    return this.#failure ?? this.#flushes.flush(completion);
  }

  /** Ends it, and the connection: what is under way fails with UCS_ERR_CANCELED, and nobody touches its memory any more. Idempotent. */
  close(): void {
    if (this.state === 'closed') return;
    // Its program may have been told that it is sent.
    this.sends.post();
    this.#fail(UcsStatus.UCS_ERR_CANCELED);
    this.connection?.[Symbol.dispose]();
    this.destroyed();
  }

  override destroyed(): void {
    this.#fail(UcsStatus.UCS_ERR_CONNECTION_RESET);
    super.destroyed();
  }

  onMessage(receive: number, bytes: Uint8Array, cq: Cq): void {
    const { byteLen, opcode } = cq;
    const first = bytes[0];
    const isMessage = byteLen > 0 && opcode === WcOpcode.RECV && this.#failure === undefined;
    try {
      if (isMessage && first !== PURE_GRANT) this.handlers.deliver(idOf(first), bytes.subarray(FIRST, byteLen));
    } finally {
      this.receives.giveBack(receive);
    }
    if (this.#failure !== undefined) return;
    if (!isMessage || this.#flow.received(first) !== undefined) {
      this.#distrust();
      return;
    }
    this.#onRoom();
  }

  onDone(afterwards: Afterwards | undefined, lease: Lease | undefined): void {
    settle(afterwards, lease, UcsStatus.UCS_OK);
    this.#flushes.done();
    this.#onRoom();
  }

  onFailed(afterwards: Afterwards | undefined, lease: Lease | undefined, cq: Cq | undefined): void {
    const status = statusOf(cq?.status);
    this.#fail(status);
    settle(afterwards, lease, this.#failure ?? status);
  }

  onRefused(): void {
    this.#fail(UcsStatus.UCS_ERR_CONNECTION_RESET);
  }

  onReceiveError(cq: Cq): void {
    this.#fail(statusOf(cq.status));
  }

  #refusal(isGood: boolean): UcsStatus | undefined {
    if (this.#failure !== undefined) return this.#failure;
    if (!isGood) return UcsStatus.UCS_ERR_INVALID_PARAM;
    if (this.state === 'connecting' || this.#pending.isBehind || this.sends.room === 0)
      return UcsStatus.UCS_ERR_NO_RESOURCE;
    return undefined;
  }

  #amRefusal(isGood: boolean): UcsStatus | undefined {
    return this.#refusal(isGood) ?? (this.#flow.room > 0 ? undefined : UcsStatus.UCS_ERR_NO_RESOURCE);
  }

  /** Has the peer answer to nothing, and so to all before it. */
  #ask(): void {
    if (this.sends.beginProbe() === undefined) return;
    this.#end(UcsStatus.UCS_OK);
  }

  #end(status: UcsStatus): UcsStatus {
    this.#flushes.begun();
    this.sends.end();
    return status;
  }

  #failed(): UcsStatus {
    return this.#failure ?? UcsStatus.UCS_ERR_CONNECTION_RESET;
  }

  /** There may be room. A grant goes first, since the peer may have none before it comes. */
  #onRoom(): void {
    if (this.#flow.owesGrant && this.sends.room > 0) {
      const qp = this.sends.begin();
      if (qp === undefined) return;
      const message = this.#inline[FIRST];
      message[0] = PURE_GRANT;
      qp.wrSend();
      qp.wrSetInlineData(message);
      this.#flow.grantSent();
      this.#end(UcsStatus.UCS_OK);
    }
    this.#pending.dispatch();
  }

  protected onDisconnected(): void {
    this.#fail(UcsStatus.UCS_ERR_CONNECTION_RESET);
  }

  /** The peer breaks the protocol: nothing of what it does counts any more. */
  #distrust(): void {
    this.#fail(UcsStatus.UCS_ERR_IO_ERROR);
    this.qp.modify({ qpState: QpState.ERR });
  }

  #fail(status: UcsStatus): void {
    if (!this.drain()) return;
    this.#failure = status;
    this.#leases.end();
    this.#flushes.fail(status);
    this.#pending.dispatch();
    this.onFailure?.(status);
  }
}

/** Byte by byte where that is quicker than a call. */
function put(into: Uint8Array, bytes: Uint8Array, at: number): void {
  const { length } = bytes;
  if (length > FEW_BYTES) into.set(bytes, at);
  else for (let i = 0; i < length; i += 1) into[at + i] = bytes[i];
}

function packed(packer: Packer, lease: Lease, at: number, most: number): number {
  try {
    return packer.pack(lease.bytes.subarray(at, at + most));
  } catch (error) {
    lease.release();
    throw error;
  }
}

function pieceOf({ memory, offset, length }: LocalPlace) {
  return { addr: memory.address + BigInt(offset), length, lkey: memory.lkey };
}

function wordIn({ buffer, byteOffset }: Uint8Array): bigint {
  return new DataView(buffer, byteOffset).getBigUint64(0, true);
}
