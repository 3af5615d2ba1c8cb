import { psnAdd, type QpAttr, SendFlags, type Syndrome, WcStatus } from '../../spec/index.js';
import { immOffset, OpcodeBit, opcodeBits, OpcodeService, putU32, rethOffset, writeReth } from '../../wire/index.js';
import type { SendingHalf } from '../halves.js';
import { SendWqe } from '../layout.js';
import { type NicCore, Served } from '../nic-core.js';
import type { QueuePair } from '../queue-pair.js';
import { opcodeClass, type RequestKind, requestKinds } from '../request-kinds.js';
import { localNames, LocalRequests } from './local-requests.js';
import { type CompletionNames, UnacknowledgedQueue } from './send-queue.js';

const kinds = requestKinds(opcodeClass(OpcodeService.UC));
const names: CompletionNames = (() => {
  const table: { readonly wcOpcode: number }[] = [];
  kinds.forEach((kind, wrOpcode) => {
    if (kind !== undefined) table[wrOpcode] = kind;
  });
  for (const [wrOpcode, wcOpcode] of localNames) table[wrOpcode] = { wcOpcode };
  return table;
})();

/** The requester of a UC QP: messages of any length, each packet sent once (PROTOCOL.md 2.2, 3.1). */
export class UnreliableRequester implements SendingHalf {
  readonly #queue: UnacknowledgedQueue;
  readonly #local: LocalRequests;
  #psn = 0;
  /** Whether the oldest request was started; #packet of its #packets are sent. */
  #started = false;
  #packet = 0;
  #packets = 0;
  #lengthBytes = 0;

  constructor(
    private readonly qp: QueuePair,
    private readonly core: NicCore,
  ) {
    this.#queue = new UnacknowledgedQueue(qp, core, names);
    this.#local = new LocalRequests(qp, core);
  }

  get busy(): boolean {
    return this.#started;
  }

  start(): void {
    this.#psn = this.qp.attr.sqPsn;
    this.#started = false;
    this.#queue.start();
  }

  onAttributes(changes: Partial<QpAttr>): void {
    this.#queue.onAttributes(changes);
  }

  transmit(budget: number): Served {
    const { qp } = this;
    let served: Served = Served.MORE;
    for (let left = budget; left > 0 && served === Served.MORE; left -= 1) served = this.#step();
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

  flush(cause: Syndrome): void {
    this.#started = false;
    this.#queue.flush(cause);
  }

  reset(): void {
    this.#started = false;
    this.#queue.reset();
  }

  /** Sends one packet, or carries out one request that needs none. */
  #step(): Served {
    const { qp } = this;
    const { sq } = qp;
    if (!qp.maySend || (!this.#started && (!qp.mayStart || !sq.has(sq.head)))) return Served.IDLE;
    const entry = sq.entry(sq.head);
    const opcode = sq.words[entry + SendWqe.CONTROL] & 0xff;
    const kind = kinds[opcode];
    if (kind === undefined) return this.#executeLocal(opcode, entry);
    if (!this.#started) {
      if (!this.#queue.measure(entry, this.core.limits.maxMessageBytes)) return Served.IDLE;
      this.#lengthBytes = this.#queue.lengthBytes;
      this.#packet = 0;
      this.#packets = Math.max(1, Math.ceil(this.#lengthBytes / qp.mtuBytes));
      this.#started = true;
    }
    return this.#sendPacket(entry, kind);
  }

  #executeLocal(opcode: number, entry: number): Served {
    const local = this.#local;
    const status = local.execute(opcode, entry);
    if (status === WcStatus.SUCCESS) {
      this.#queue.succeed(0);
      return Served.MORE;
    }
    if (status === undefined) this.#queue.refuse(entry);
    else this.#queue.fail(status, local.syndrome, local.detail);
    return Served.IDLE;
  }

  #sendPacket(entry: number, kind: RequestKind): Served {
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
    if (!queue.mayLeave()) return Served.IDLE;
    if (!builder.open(qp, opcode, this.#psn, length, solicited, false)) return Served.BLOCKED;
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
    if (!queue.gather(entry, begin, builder.bytes, builder.payload, length)) {
      this.#started = false;
      return Served.IDLE;
    }
    builder.close();
    queue.spendPacket(qp.path.ipv6, opcode, length);
    this.#psn = psnAdd(this.#psn, 1);
    this.#packet += 1;
    if (last) {
      this.#started = false;
      queue.succeed(this.#lengthBytes);
      qp.onSendIdle();
    }
    return Served.MORE;
  }
}
