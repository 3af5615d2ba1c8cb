import type { Caller } from '../uverbs/command.js';
import { findCommand } from '../uverbs/commands/index.js';
import { GuestContext } from '../uverbs/guest-context.js';
import { Structs } from '../uverbs/structs.js';
import { RxeRecvWqe, RxeSendWqe } from '../rings/layouts.js';
import { type Context, openDevice, QpAttrMask, QpState, QpType, SendFlags, WrOpcode } from '../../entry/index.js';
import { SharedMapping } from '../../node/system/index.js';
import { SimulatedCluster } from '../../entry/sim.js';
import { Ring } from './fuzz/rings.js';

const ADDRESS = '10.0.0.1';
/** Rounds of the loop of the NICs, each of some microseconds of virtual time. */
const ROUNDS = 40;
const NOTHING = new Uint8Array(0);

export interface ProgramQp {
  readonly handle: number;
  readonly number: number;
  readonly sends: Ring;
  readonly receives: Ring | undefined;
}

interface QpWishes {
  readonly cq: number;
  readonly srq?: number;
  readonly sqSigAll?: boolean;
}

/** A program that has opened a simulated device, and writes its queues as rxe's provider does. */
export class GuestProgram {
  readonly cluster = new SimulatedCluster({ seed: 1 });
  readonly device: Context;
  readonly context: GuestContext;
  readonly pd: number;
  readonly #rings: Ring[] = [];

  constructor() {
    this.device = this.cluster.open(ADDRESS);
    const guest = {
      name: 'rxe0',
      address: ADDRESS,
      interfaceName: 'lo',
      context: this.device,
      openClient: () => openDevice({ device: this.device.share() }),
    };
    this.context = new GuestContext(guest, process.pid, undefined);
    this.pd = Structs.HANDLE.readPadded(this.give(3, Structs.EMPTY.encodePadded({})).answer).handle;
  }

  give(number: number, request: Uint8Array) {
    const caller: Caller = {
      tid: process.pid,
      giveFd: (fd) => fd,
      requireWritable: () => undefined,
      write: () => undefined,
    };
    const command = findCommand(number, false);
    if (command === undefined) throw new Error(`there is no command ${number}`);
    return command.run(this.context, request, NOTHING, caller);
  }

  createCq(cqe: number): { readonly handle: number; readonly ring: Ring } {
    const request = Structs.CREATE_CQ.request.encodePadded({ userHandle: 1n, cqe, compVector: 0, channel: -1 });
    const { answer, driver } = this.give(18, request);
    const ring = this.#map(Structs.CREATE_CQ.driverAnswer.readPadded(driver));
    ring.holdCompletions();
    return { handle: Structs.HANDLE.readPadded(answer).handle, ring };
  }

  createSrq(maxWr: number, srqLimit = 0): { readonly handle: number; readonly ring: Ring } {
    const request = Structs.CREATE_SRQ.request.encodePadded({
      userHandle: 2n,
      pd: this.pd,
      maxWr,
      maxSge: 1,
      srqLimit,
    });
    const { answer, driver } = this.give(32, request);
    const ring = this.#map(Structs.CREATE_SRQ.driverAnswer.readPadded(driver));
    return { handle: Structs.HANDLE.readPadded(answer).handle, ring };
  }

  createQp({ cq, srq, sqSigAll = false }: QpWishes): ProgramQp {
    const request = Structs.CREATE_QP.request.encodePadded({
      userHandle: 3n,
      pd: this.pd,
      sendCq: cq,
      recvCq: cq,
      srq: srq ?? 0,
      isSrq: srq === undefined ? 0 : 1,
      sqSigAll: sqSigAll ? 1 : 0,
      qpType: QpType.RC,
      maxSendWr: 3,
      maxRecvWr: 3,
      maxSendSge: 1,
      maxRecvSge: 1,
      maxInlineData: 16,
    });
    const { answer, driver } = this.give(24, request);
    const { handle, qpn } = Structs.CREATE_QP.answer.readPadded(answer);
    const { sq, rq } = Structs.CREATE_QP.driverAnswer.readPadded(driver);
    return {
      handle,
      number: qpn,
      sends: this.#map(sq),
      receives: srq === undefined ? this.#map(rq) : undefined,
    };
  }

  destroyQp({ handle }: ProgramQp): void {
    this.give(27, Structs.HANDLE_BEHIND.encodePadded({ handle }));
  }

  /** Two queue pairs that are connected with each other. */
  createPair(wishes: QpWishes): readonly [ProgramQp, ProgramQp] {
    const [a, b] = [this.createQp(wishes), this.createQp(wishes)];
    this.#connect(a, b);
    this.#connect(b, a);
    return [a, b];
  }

  modify({ handle }: ProgramQp, qpState: QpState, mask: number, more: object = {}): void {
    const dest = { dgid: this.device.queryGid(1, 0), isGlobal: 1, portNum: 1, sgidIndex: 0, hopLimit: 64 };
    const values = { handle, mask: mask | QpAttrMask.STATE, qpState, dest: dest as never, ...more };
    this.give(26, Structs.MODIFY_QP.request.encodePadded(values));
  }

  /** Moves a queue pair to INIT. */
  initialize(qp: ProgramQp, values: object = { portNum: 1 }): void {
    const { PKEY_INDEX, PORT, ACCESS_FLAGS } = QpAttrMask;
    this.modify(qp, QpState.INIT, PKEY_INDEX | PORT | ACCESS_FLAGS, values);
  }

  /** Moves a queue pair from whatever state to ERR. */
  kill(qp: ProgramQp): void {
    if (this.context.qps.get(qp.handle).qp.state === QpState.RESET) this.initialize(qp);
    this.modify(qp, QpState.ERR, 0);
  }

  #connect(qp: ProgramQp, peer: ProgramQp): void {
    const { AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER } = QpAttrMask;
    const { SQ_PSN, TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC } = QpAttrMask;
    const values = {
      portNum: 1,
      pathMtu: 3,
      destQpNum: peer.number,
      timeout: 14,
      retryCnt: 7,
      rnrRetry: 7,
      minRnrTimer: 1,
    };
    this.initialize(qp, values);
    this.modify(qp, QpState.RTR, AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER, values);
    this.modify(qp, QpState.RTS, SQ_PSN | TIMEOUT | RETRY_CNT | RNR_RETRY | MAX_QP_RD_ATOMIC, values);
  }

  /** Posts an empty message without a doorbell. */
  write({ sends }: ProgramQp, flags: number = SendFlags.SIGNALED): void {
    const { words, next } = sends;
    words[next + RxeSendWqe.OPCODE] = WrOpcode.SEND;
    words[next + RxeSendWqe.FLAGS] = flags;
    words[next + RxeSendWqe.LENGTH] = 0;
    words[next + RxeSendWqe.NUM_SGE] = 0;
    sends.publish();
  }

  /** Posts a receive request, for which there is no doorbell. */
  receive(ring: Ring | undefined): void {
    if (ring === undefined) throw new Error('the queue pair has no receive queue');
    ring.words[ring.next + RxeRecvWqe.NUM_SGE] = 0;
    ring.publish();
  }

  /** Posts an empty message, and rings. */
  send(qp: ProgramQp, flags?: number): void {
    this.write(qp, flags);
    this.context.ring(qp.handle);
  }

  round(): void {
    this.context.pull();
    this.cluster.step();
    this.context.push();
  }

  settle(rounds = ROUNDS): void {
    for (let i = 0; i < rounds; i += 1) this.round();
  }

  close(): void {
    for (const ring of this.#rings) ring.close();
    this.context.close();
    this.device.close();
  }

  #map({ offset, size }: { readonly offset: bigint; readonly size: number }): Ring {
    const ring = new Ring(new SharedMapping(this.context.fd, Number(offset), size));
    this.#rings.push(ring);
    return ring;
  }
}
