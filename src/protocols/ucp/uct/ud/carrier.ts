import { type Gid, mtuBytes, QpState, QpType } from '../../../../device/ibta/index.js';
import type { Cq, Qp } from '../../../../api/verbs/index.js';
import {
  type Engine,
  type Hold,
  type Lease,
  type Receiver,
  ReceiveQueue,
  type SendListener,
  SendQueue,
} from '../../../core/index.js';
import { MAX_UD_SEGMENT_BYTES, UcsStatus } from '../../wire/index.js';
import { type Afterwards, settle, statusOf } from '../afterwards.js';
import { GRH_BYTES, type UdAddress } from './addresses.js';
import { Addressee } from './addressee.js';
import type { Datagram } from './datagram.js';

export const OWNER = 'ucp ud';
const PORT = 1;
const HOP_LIMIT = 64;
const SENDS = 256;
/** Of these, for what keeps the others going: acknowledgements, and what is sent again. */
const RESERVED = 32;
/** A header, or that and the longest message that nobody answers. */
const INLINE_BYTES = 64;

/** Is told what happens at a queue pair. */
export interface CarrierListener {
  /** A datagram has come, behind {@link GRH_BYTES} bytes of the adapter's. @param bytes true until it returns */
  onDatagram(bytes: Uint8Array, fromQpn: number): void;
  /** The adapter has sent something: there may be room. */
  onRoom(): void;
  /** Nothing goes or comes any more. */
  onLost(status: UcsStatus): void;
}

/** The queue pair of an interface, and its buffers. */
export class Carrier implements Receiver, SendListener<Afterwards> {
  readonly address: UdAddress;
  /** Bytes of the longest datagram. */
  readonly segmentBytes: number;
  readonly #qp: Qp;
  readonly #sends: SendQueue<Afterwards>;
  readonly #receives: ReceiveQueue;
  readonly #hold: Hold;
  readonly #sgidIndex = 0;
  readonly #onEnded: () => void;
  #failure: UcsStatus | undefined;
  #isEnding = false;
  #hasEnded = false;

  /** Resolves when it has ended, and the adapter touches nothing any more. */
  readonly ended: Promise<void>;

  /**
   * @param receives datagrams that may come before any is looked at
   * @throws VerbsError ENOMEM when there is no room, EIO when the device was lost
   */
  constructor(
    readonly engine: Engine,
    receives: number,
    qkey: number,
    private readonly listener: CarrierListener,
  ) {
    const { context } = engine;
    let onEnded = (): void => undefined;
    this.ended = new Promise((resolve) => (onEnded = resolve));
    this.#onEnded = onEnded;
    this.segmentBytes = Math.min(MAX_UD_SEGMENT_BYTES, mtuBytes(context.queryPort(PORT).activeMtu));
    const gid: Gid = context.queryGid(PORT, this.#sgidIndex);
    this.#qp = engine.pd.createQp({
      qpType: QpType.UD,
      sendCq: engine.cq,
      recvCq: engine.cq,
      cap: { maxSendWr: SENDS, maxRecvWr: receives, maxSendSge: 2, maxRecvSge: 1, maxInlineData: INLINE_BYTES },
    });
    this.address = { gid, qpn: this.#qp.qpNum, qkey };
    const owner = OWNER;
    this.#sends = SendQueue.owning(engine, this.#qp, SENDS, this, owner);
    this.#receives = new ReceiveQueue(engine, this.#qp, this, { bytes: GRH_BYTES + this.segmentBytes, owner });
    this.#hold = engine.hold();
    try {
      this.#qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: PORT, qkey });
      this.#receives.deepen(receives);
      this.#qp.modify({ qpState: QpState.RTR });
      this.#qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
    } catch (error) {
      this.#destroy();
      throw error;
    }
  }

  /** Why nothing goes any more. */
  get failure(): UcsStatus | undefined {
    return this.#failure;
  }

  /** Whether one more datagram can be begun. */
  get hasRoom(): boolean {
    return this.#sends.room > RESERVED;
  }

  /** Whether something can be sent that others wait for. */
  get hasReserve(): boolean {
    return this.#sends.room > 0;
  }

  /** @throws VerbsError ENOMEM when the device is full */
  addressee({ gid, qpn, qkey }: UdAddress): Addressee {
    const grh = { dgid: gid, sgidIndex: this.#sgidIndex, hopLimit: HOP_LIMIT };
    return new Addressee(this.engine.pd.createAh({ isGlobal: true, portNum: PORT, grh }), qpn, qkey);
  }

  /** Sends one; there is to be room. @returns false when nothing goes any more */
  post(datagram: Datagram): boolean {
    const { to, lease, length, payload, afterwards } = datagram;
    datagram.posted();
    const qp = this.#begin(to, afterwards);
    if (qp === undefined) {
      datagram.onComplete();
      return false;
    }
    if (payload === undefined) qp.wrSetSge(lease.lkey, lease.addr, length);
    else {
      const { memory, offset } = payload;
      const place = { addr: memory.address + BigInt(offset), length: payload.length, lkey: memory.lkey };
      qp.wrSetSgeList([{ addr: lease.addr, length, lkey: lease.lkey }, place]);
    }
    this.#sends.end();
    return true;
  }

  /** Sends a copy of a few bytes, of which nobody hears again; there is to be room. */
  postCopy(to: Addressee, bytes: Uint8Array): void {
    to.sent();
    const qp = this.#begin(to, to.afterwards);
    if (qp === undefined) {
      to.left();
      return;
    }
    qp.wrSetInlineData(bytes);
    this.#sends.end();
  }

  /** Nothing more goes or comes but what was posted; then the queue pair ends. Idempotent. */
  end(): void {
    const isLost = this.#failure !== undefined;
    this.#failure ??= UcsStatus.UCS_ERR_CANCELED;
    this.#isEnding = true;
    if (isLost || this.#sends.isEmpty) this.#destroy();
  }

  onMessage(receive: number, bytes: Uint8Array, cq: Cq): void {
    const { byteLen, srcQp } = cq;
    try {
      if (this.#failure === undefined) this.listener.onDatagram(bytes.subarray(0, byteLen), srcQp);
    } finally {
      this.#receives.giveBack(receive);
    }
  }

  onDone(afterwards: Afterwards | undefined, lease: Lease | undefined): void {
    settle(afterwards, lease, UcsStatus.UCS_OK);
    if (!this.#isEnding) this.listener.onRoom();
    else if (this.#sends.isEmpty) this.engine.afterPass(() => this.#destroy());
  }

  onFailed(afterwards: Afterwards | undefined, lease: Lease | undefined, cq: Cq | undefined): void {
    const status = statusOf(cq?.status);
    this.#lose(status);
    settle(afterwards, lease, this.#failure ?? status);
  }

  onRefused(): void {
    this.#lose(UcsStatus.UCS_ERR_CONNECTION_RESET);
  }

  onReceiveRefused(): void {
    this.#lose(UcsStatus.UCS_ERR_CONNECTION_RESET);
  }

  onReceiveError(cq: Cq): void {
    this.#lose(statusOf(cq.status));
  }

  #begin(to: Addressee, afterwards: Afterwards): Qp | undefined {
    const qp = this.#failure === undefined ? this.#sends.begin(afterwards) : undefined;
    if (qp === undefined) return undefined;
    qp.wrSend();
    qp.wrSetUdAddr(to.ah, to.qpn, to.qkey);
    return qp;
  }

  #lose(status: UcsStatus): void {
    if (this.#isEnding) this.#destroy();
    if (this.#failure !== undefined) return;
    this.#failure = status;
    this.listener.onLost(status);
  }

  #destroy(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#qp[Symbol.dispose]();
    this.#sends.destroyed();
    this.#receives.end();
    this.#hold.release();
    this.#onEnded();
  }
}
