import { psnAdd, type QpAttr, SendFlags, type Syndrome, WcStatus } from '../../ibta/index.js';
import { immOffset, OpcodeBit, opcodeBits, OpcodeService, putU32, rethOffset, writeReth } from '../../wire/index.js';
import type { NicCore } from '../nic-core.js';
import type { SendingHalf } from '../queue-pairs/halves.js';
import type { FailedRequest, QpContext } from '../queue-pairs/qp-context.js';
import { connectedKinds, opcodeClass, type RequestKind } from '../queue-pairs/request-kinds.js';
import { TransmitResult } from '../queue-pairs/turns.js';
import { SendWqe } from '../rings/layout.js';
import { UnacknowledgedQueue } from './send-queue.js';

const kinds = connectedKinds(opcodeClass(OpcodeService.UC));

/** The requester of a UC QP: messages of any length, each packet sent once (protocol/reliable.md 2.2, protocol/services.md 3.1). */
export class UnreliableRequester implements SendingHalf {
  readonly #queue: UnacknowledgedQueue;
  #psn = 0;
  /** What the oldest request is, once it was started: a driver that writes another over it changes nothing any more. */
  #kind: RequestKind | undefined;
  #packet = 0;
  #packets = 0;
  #lengthBytes = 0;

  constructor(
    private readonly qp: QpContext,
    private readonly core: NicCore,
  ) {
    this.#queue = new UnacknowledgedQueue(qp, core, kinds);
  }

  get busy(): boolean {
    return this.#kind !== undefined;
  }

  start(): void {
    this.#psn = this.qp.attr.sqPsn;
    this.#queue.start();
  }

  onAttributes(changes: Partial<QpAttr>): void {
    this.#queue.onAttributes(changes);
  }

  transmit(budget: number): TransmitResult {
    const { qp } = this;
    let served: TransmitResult = TransmitResult.MORE;
    for (let left = budget; left > 0 && served === TransmitResult.MORE; left -= 1) served = this.#step();
    qp.sq.publish();
    return served;
  }

  onResponse(): void {
    this.core.counters.rxUnexpectedResponse += 1;
  }

  limitRate(rateKbps: number, maxBurstBytes: number, typicalPacketBytes: number): void {
    this.#queue.limitRate(rateKbps, maxBurstBytes, typicalPacketBytes);
  }

  onTimer(): void {
    this.#queue.onTimer();
  }

  completeFailed(failed: FailedRequest): void {
    this.#queue.completeFailed(failed);
  }

  flush(cause: Syndrome): void {
    this.#kind = undefined;
    this.#queue.flush(cause);
  }

  reset(): void {
    this.#kind = undefined;
    this.#queue.reset();
  }

  /** Sends one packet, or carries out one request that needs none. */
  #step(): TransmitResult {
    const { qp } = this;
    const { sq } = qp;
    const entry = sq.entry(sq.head);
    if (this.#kind !== undefined) return qp.maySend ? this.#sendPacket(entry, this.#kind) : TransmitResult.IDLE;
    if (!qp.mayStart || !sq.has(sq.head)) return TransmitResult.IDLE;
    const kind = kinds[sq.words[entry + SendWqe.CONTROL] & 0xff];
    if (kind === undefined) {
      this.#queue.refuse(entry);
      return TransmitResult.IDLE;
    }
    if (kind.local) return this.#executeLocal(entry);
    if (!this.#queue.measure(entry, this.core.limits.maxMessageBytes)) return TransmitResult.IDLE;
    this.#lengthBytes = this.#queue.lengthBytes;
    this.#packet = 0;
    this.#packets = Math.max(1, Math.ceil(this.#lengthBytes / qp.mtuBytes));
    this.#kind = kind;
    return this.#sendPacket(entry, kind);
  }

  #executeLocal(entry: number): TransmitResult {
    const { qp, core } = this;
    const { local } = core.memory;
    if (local.execute(qp.sq.words, entry, qp.pd, qp.qpn)) {
      this.#queue.succeed(0);
      return TransmitResult.MORE;
    }
    this.#queue.fail(WcStatus.MW_BIND_ERR, local.syndrome, local.detail);
    return TransmitResult.IDLE;
  }

  #sendPacket(entry: number, kind: RequestKind): TransmitResult {
    const { qp, core } = this;
    const queue = this.#queue;
    const { words } = qp.sq;
    const { builder } = core;
    const first = this.#packet === 0;
    const last = this.#packet === this.#packets - 1;
    const opcode = this.#packets === 1 ? kind.only : first ? kind.first : last ? kind.last : kind.middle;
    const begin = this.#packet * qp.mtuBytes;
    const length = Math.min(this.#lengthBytes - begin, qp.mtuBytes);
    const solicited = last && (words[entry + SendWqe.CONTROL] & (SendFlags.SOLICITED << 8)) !== 0;
    if (!queue.mayLeave()) return TransmitResult.IDLE;
    if (!builder.open(qp, opcode, this.#psn, length, solicited, false)) return TransmitResult.BLOCKED;
    const bits = opcodeBits[opcode];
    if ((bits & OpcodeBit.RETH) !== 0)
      writeReth(
        builder.bytes,
        builder.offset + rethOffset[opcode],
        words[entry + SendWqe.REMOTE_ADDR_HI],
        words[entry + SendWqe.REMOTE_ADDR_LO],
        words[entry + SendWqe.RKEY],
        this.#lengthBytes,
      );
    if ((bits & OpcodeBit.IMM) !== 0)
      putU32(builder.bytes, builder.offset + immOffset[opcode], words[entry + SendWqe.IMM_DATA]);
    if (!queue.gather(entry, begin, builder.bytes, builder.payload, length)) return TransmitResult.IDLE;
    builder.close();
    queue.spendPacket(qp.path.ipv6, opcode, length);
    this.#psn = psnAdd(this.#psn, 1);
    this.#packet += 1;
    if (last) {
      this.#kind = undefined;
      queue.succeed(this.#lengthBytes);
      qp.onSendIdle();
    }
    return TransmitResult.MORE;
  }
}
