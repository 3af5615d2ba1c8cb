import { Mtu, type QpAttr, QpState, QpType, SendFlags, WrOpcode } from '../../ibta/index.js';
import { SeededRandom } from '../../link/simulated/index.js';
import {
  completionQueueShape,
  doorbellPageShape,
  Nic,
  type NicAsyncEvent,
  recvQueueShape,
  sendQueueShape,
} from '../index.js';
import { crc32 } from '../../wire/index.js';
import { Doorbell, DriverCq, DriverQueue, type Sge } from './rings.js';

/** Raw packet QPs, for tests: a NIC whose link is the test. */

const ADDRESS = 0x1000;

/** Memory registered from address 0x1000 on. */
export class FrameMemory {
  constructor(
    readonly bytes: Uint8Array,
    readonly lkey: number,
  ) {}

  sge(offset = 0, length = this.bytes.length - offset): Sge {
    return { addr: BigInt(ADDRESS + offset), length, lkey: this.lkey };
  }
}

export class RawQp {
  readonly sq = new DriverQueue(sendQueueShape(64, 4, 256));
  readonly rq = new DriverQueue(recvQueueShape(64, 4));
  readonly sendCq: DriverCq;
  readonly recvCq: DriverCq;
  readonly qpn: number;
  #nextWrId = 1n;

  constructor(private readonly host: FrameHost) {
    this.sendCq = host.cq();
    this.recvCq = host.cq();
    this.qpn = host.nic.control.createQp({
      type: QpType.RAW_PACKET,
      pd: host.pd,
      sendCq: this.sendCq.cqn,
      recvCq: this.recvCq.cqn,
      cap: { maxSendWr: 64, maxRecvWr: 64, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 256 },
      sqSigAll: false,
      sq: this.sq.memory,
      rq: this.rq.memory,
    }).qpn;
  }

  get state(): QpState {
    return this.host.nic.control.queryQp(this.qpn).qpState;
  }

  modify(attr: Partial<QpAttr>): void {
    this.host.nic.control.modifyQp(this.qpn, attr);
  }

  toRtr(): this {
    this.modify({ qpState: QpState.INIT, portNum: 1 });
    this.modify({ qpState: QpState.RTR });
    return this;
  }

  toRts(): this {
    this.toRtr().modify({ qpState: QpState.RTS });
    return this;
  }

  send(sgList: readonly Sge[], opcode: number = WrOpcode.SEND, flags: number = SendFlags.SIGNALED): bigint {
    return this.#post(() => this.sq.writeSend({ opcode, sgList, flags, wrId: this.#nextWrId }));
  }

  sendInline(inline: Uint8Array): bigint {
    return this.#post(() => this.sq.writeSend({ opcode: WrOpcode.SEND, inline, wrId: this.#nextWrId }));
  }

  recv(...sgList: readonly Sge[]): bigint {
    return this.#post(() => this.rq.writeReceive({ sgList, wrId: this.#nextWrId }));
  }

  #post(write: () => void): bigint {
    write();
    this.host.doorbell.ring(this.sq.words, this.qpn);
    return this.#nextWrId++;
  }
}

/** A NIC on a link that carries frames, or refuses them. */
export class FrameHost {
  readonly nic: Nic;
  readonly pd: number;
  readonly doorbell: Doorbell;
  readonly events: NicAsyncEvent[] = [];
  readonly sent: Uint8Array[] = [];
  /** When each of them left. */
  readonly sentAtUs: number[] = [];
  /** How often the way of frames was opened. */
  opened = 0;
  /** The errno with which the link refuses frames; 0 takes them. */
  errno = 0;
  #nowUs = 0;

  constructor() {
    const doorbells = new SharedArrayBuffer(doorbellPageShape().bytes);
    this.doorbell = new Doorbell(doorbells);
    this.nic = new Nic({
      sink: { bytes: new Uint8Array(0), ipId: 0, reserve: () => -1, commit: () => undefined },
      events: { completionEvent: () => undefined, asyncEvent: (event) => this.events.push(event) },
      crc32,
      random: new SeededRandom(1).u32,
      gids: [new Uint8Array(16)],
      portMtu: Mtu.MTU_1024,
      doorbells,
      openFrames: () => {
        this.opened += 1;
        return (bytes, offset, lengthBytes) => {
          if (this.errno !== 0) return this.errno;
          this.sent.push(bytes.slice(offset, offset + lengthBytes));
          this.sentAtUs.push(this.#nowUs);
          return 0;
        };
      },
    });
    this.pd = this.nic.control.allocPd();
  }

  cq(): DriverCq {
    const cq = new DriverCq(completionQueueShape(64));
    cq.cqn = this.nic.control.createCq({ entries: 64, memory: cq.memory });
    return cq;
  }

  /** Registers `bytes` from address 0x1000 on. */
  register(bytes: Uint8Array, access: number): FrameMemory {
    const attributes = { pd: this.pd, bytes, iovaHi: 0, iovaLo: ADDRESS, access };
    return new FrameMemory(bytes, this.nic.control.regMr(attributes).lkey);
  }

  /** Lets the NIC do what there is to do until `untilUs`, and jumps from timer to timer. */
  run(untilUs = this.#nowUs): void {
    for (;;) {
      this.nic.advanceTo(this.#nowUs);
      this.nic.ringDoorbells();
      while (this.nic.transmit());
      const nextUs = this.nic.nextWakeupUs();
      if (nextUs > untilUs) break;
      this.#nowUs = Math.max(nextUs, this.#nowUs);
    }
    this.#nowUs = Math.max(untilUs, this.#nowUs);
    this.nic.advanceTo(this.#nowUs);
  }

  /** A frame arrives, somewhere in a larger buffer. */
  arrive(frame: Uint8Array): void {
    const bytes = new Uint8Array(frame.length + 20).fill(0xee);
    bytes.set(frame, 7);
    this.nic.receiveFrame(bytes, 7, frame.length);
  }
}
