import { QpState, QpType } from '../../../device/ibta/index.js';
import { type Ah, type Cq, type Qp, VerbsError } from '../../../api/verbs/index.js';
import {
  type Engine,
  type Lease,
  type Receiver,
  ReceiveQueue,
  type SendListener,
  SendQueue,
} from '../../core/index.js';
import { INLINE_BYTES, OWNER, type Path, SPARE_BUFFERS } from './link.js';
import { type Describe, sendCopy } from './send-copy.js';

/** What the adapter puts before each datagram. */
const GRH_BYTES = 40;
/** Takes nothing: until somebody has chosen a Q_Key, none comes. */
const NO_QKEY = 0;

export class Addressee {
  #underWay = 0;
  #hasEnded = false;

  constructor(
    readonly ah: Ah,
    readonly qpn: number,
  ) {}

  sent(): void {
    this.#underWay += 1;
  }

  /** It is under way no more. */
  left(): void {
    this.#underWay -= 1;
    this.#tidy();
  }

  /** Nothing more is sent to it. Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#tidy();
  }

  /** An address handle that ended under a datagram would take the queue pair with it. */
  #tidy(): void {
    if (this.#hasEnded && this.#underWay === 0) this.ah[Symbol.dispose]();
  }
}

export interface DatagramListener {
  /** From whomever: its bytes are true only until this returns. @param fromQpn the queue pair that it says it comes from */
  onDatagram(bytes: Uint8Array, fromQpn: number): void;
  onRoom(): void;
  /** Nothing goes or comes any more. */
  onLost(error: Error): void;
}

/** How many datagrams are under way at most, each way, and how long those are that come. */
export interface DatagramSizes {
  readonly sends: number;
  readonly receives: number;
  readonly bytes: number;
}

export class Datagrams implements Receiver, SendListener<Addressee> {
  readonly #qp: Qp;
  readonly #sends: SendQueue<Addressee>;
  readonly #receives: ReceiveQueue;
  #qkey = NO_QKEY;
  #isOver = false;
  readonly #describe: Describe<Addressee> = (qp, { ah, qpn }) => {
    qp.wrSend();
    qp.wrSetUdAddr(ah, qpn, this.#qkey);
  };

  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost */
  constructor(
    private readonly engine: Engine,
    private readonly sizes: DatagramSizes,
    private readonly listener: DatagramListener,
  ) {
    const { sends, receives, bytes } = sizes;
    this.#qp = engine.pd.createQp({
      qpType: QpType.UD,
      sendCq: engine.cq,
      recvCq: engine.cq,
      sqSigAll: true,
      cap: { maxSendWr: sends, maxRecvWr: receives, maxSendSge: 1, maxRecvSge: 1, maxInlineData: INLINE_BYTES },
    });
    this.#sends = SendQueue.owning(engine, this.#qp, sends, this, OWNER);
    this.#receives = new ReceiveQueue(engine, this.#qp, this, {
      bytes: GRH_BYTES + bytes,
      owner: OWNER,
      spare: SPARE_BUFFERS,
    });
    try {
      this.#qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: NO_QKEY });
    } catch (error) {
      this.end();
      throw error;
    }
  }

  get qpn(): number {
    return this.#qp.qpNum;
  }

  /** Whether nothing goes or comes any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get room(): number {
    return this.#isOver ? 0 : this.#sends.room;
  }

  /** Has buffers lie ready for what comes. Idempotent. @throws VerbsError ENOMEM when there is no room */
  take(): void {
    this.#receives.deepenNow(this.sizes.receives);
  }

  /** From now on datagrams with that Q_Key are sent, and come. */
  begin(qkey: number): void {
    this.#qkey = qkey;
    this.#qp.modify({ qpState: QpState.RTR, qkey });
    this.#qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  }

  /** Somebody at the other end of a path. @throws VerbsError ENOMEM when the device is full */
  addressee({ ahAttr }: Path, qpn: number): Addressee {
    return new Addressee(this.engine.pd.createAh(ahAttr), qpn);
  }

  /** Sends a copy, if there is {@link room}. */
  send(bytes: Uint8Array, to: Addressee): void {
    if (this.#isOver) return;
    to.sent();
    if (!sendCopy(this.#sends, bytes, to, this.#describe)) to.left();
  }

  /** Idempotent. */
  end(): void {
    this.#isOver = true;
    this.#qp[Symbol.dispose]();
    this.#sends.destroyed();
    this.#receives.end();
  }

  onDone(to: Addressee | undefined): void {
    to?.left();
    if (!this.#isOver) this.listener.onRoom();
  }

  onFailed(to: Addressee | undefined, _: Lease | undefined, cq: Cq | undefined): void {
    to?.left();
    if (cq !== undefined && !this.#isOver) this.#loseBy(cq);
  }

  onRefused(error: VerbsError): void {
    this.#lose(error);
  }

  onMessage(receive: number, bytes: Uint8Array, cq: Cq): void {
    const { byteLen, srcQp } = cq;
    try {
      if (!this.#isOver) this.listener.onDatagram(bytes.subarray(GRH_BYTES, byteLen), srcQp);
    } finally {
      this.#receives.giveBack(receive);
    }
  }

  onReceiveRefused(error: VerbsError): void {
    this.#lose(error);
  }

  onReceiveError(cq: Cq): void {
    if (!this.#isOver) this.#loseBy(cq);
  }

  #loseBy(cq: Cq): void {
    const message = this.engine.context.explain(cq.workCompletion());
    this.#lose(new VerbsError('kv', { errno: 'EIO', message, advice: '' }));
  }

  #lose(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.listener.onLost(error);
  }
}
