/** Several senders, and receivers that share a receive queue. */
import {
  alloc,
  type Context,
  type Cq,
  type Mr,
  type Pd,
  SendFlags,
  type Srq,
  WrOpcode,
} from '../../src/entry/index.js';
import { Belongings, Side } from './sides.js';
import { ALL_ACCESS, bringUp, type PathOptions, targetOf } from './support.js';

export interface MultiplexOptions {
  readonly pairs?: number;
  readonly maxWr?: number;
  readonly maxSge?: number;
  readonly bytes?: number;
  readonly path?: PathOptions;
}

/** Senders on the first device, each connected to a queue pair on the second; those receive from one queue. */
export class Multiplex extends Belongings {
  readonly pd: Pd;
  readonly mr: Mr;
  readonly srq: Srq;
  readonly recvCq: Cq;
  readonly senders: readonly Side[];
  readonly receivers: readonly Side[];

  constructor(devices: readonly Context[], options: MultiplexOptions = {}) {
    super();
    const [here, there] = devices;
    const { pairs = 1, maxWr = 200, maxSge = 1, bytes = 4096, path } = options;
    this.pd = this.keep(there.allocPd());
    this.mr = this.keep(this.pd.regMr(alloc(bytes), ALL_ACCESS));
    this.srq = this.keep(this.pd.createSrq({ maxWr, maxSge }));
    this.recvCq = this.keep(there.createCq({ cqe: 2048 }));
    const side = (context: Context, more: object): Side => this.keep(new Side(context, { bytes, ...more }));
    this.receivers = Array.from({ length: pairs }, () => side(there, { srq: this.srq, recvCq: this.recvCq }));
    this.senders = this.receivers.map(() => side(here, { sendCq: { cqe: 256 } }));
    this.senders.forEach((sender, i) => {
      bringUp(this.receivers[i].qp, targetOf(sender), path);
      bringUp(sender.qp, targetOf(this.receivers[i]), path);
    });
  }

  /** Receive requests of `bytes` bytes, each with its place in the memory, numbered from 0 on. */
  post(count: number, bytes: number): void {
    for (let wrId = 0; wrId < count; wrId += 1)
      this.srq.postRecv({ wrId, sgList: bytes === 0 ? [] : [this.mr.sge(wrId * bytes, bytes)] });
  }
}

/** SENDs the first bytes of a side's memory. */
export function send(side: Side, bytes: number, wrId = 0): void {
  side.qp.postSend({
    wrId,
    opcode: WrOpcode.SEND,
    sendFlags: SendFlags.SIGNALED,
    sgList: [side.mr.sge(0, bytes)],
  });
}
