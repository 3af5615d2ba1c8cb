import { randomInt } from 'node:crypto';
import {
  AccessFlags,
  type CompChannel,
  type Context,
  type Cq,
  type Mr,
  type Pd,
  type Qp,
  type QpModifyAttr,
  QpState,
  QpType,
  SendFlags,
  type Srq,
  SrqType,
  WrOpcode,
  type Xrcd,
  type XrcTargetQp,
} from '../../../entry/index.js';
import { attempt } from '../../kit/errors.js';
import { refuseUnreachable } from '../exchange/destination.js';
import { registerBuffer } from '../loop/memory.js';
import { RECV_WRID, SEND_WRID } from '../loop/endpoint.js';
import { addressOf, type Path } from '../loop/service.js';
import type { XsrqDestination } from './destination.js';

/** How a ping-pong over XRC is to be run. */
export interface XsrqSetup extends Path {
  readonly sizeBytes: number;
  readonly clients: number;
  /** Messages to each client. */
  readonly tests: number;
  /** Sleep on completion events in place of polling. */
  readonly events: boolean;
  readonly odp: boolean;
}

/** The verbs objects of one side: one shared receive queue, and for each peer a target and an initiator. */
export class XsrqEndpoint {
  readonly #setup: XsrqSetup;
  readonly #pd: Pd;
  readonly #mr: Mr;
  readonly #xrcd: Xrcd;
  readonly #srq: Srq;
  readonly #targets: readonly XrcTargetQp[];
  readonly #initiators: readonly Qp[];
  readonly #remoteSrqns: number[] = [];
  readonly channel: CompChannel | undefined;
  readonly recvCq: Cq;
  readonly sendCq: Cq;
  /** What each peer needs to reach this side. */
  readonly local: readonly XsrqDestination[];

  constructor(context: Context, setup: XsrqSetup) {
    const { portNum, sgidIndex, clients, tests, sizeBytes } = setup;
    this.#setup = setup;
    const port = attempt('Failed to get port info', () => context.queryPort(portNum));
    const gid = attempt(`can't read sgid of index ${sgidIndex}`, () => context.queryGid(portNum, sgidIndex));
    this.channel = setup.events
      ? attempt("Couldn't create completion channel", () => context.createCompChannel())
      : undefined;
    const channel = this.channel === undefined ? {} : { channel: this.channel };
    this.#pd = attempt("Couldn't allocate PD", () => context.allocPd());
    this.#mr = registerBuffer(this.#pd, sizeBytes, 0, { odp: setup.odp, prefetch: false });
    this.#xrcd = attempt("Couldn't Open the XRC Domain", () => context.openXrcd());
    this.recvCq = attempt("Couldn't create recv CQ", () => context.createCq({ cqe: clients, ...channel }));
    // On the channel too, so that a message that cannot be delivered is heard of.
    this.sendCq = attempt("Couldn't create send CQ", () => context.createCq({ cqe: clients, ...channel }));
    if (setup.events) {
      for (const cq of this.cqs) attempt("Couldn't request CQ notification", () => cq.reqNotify());
    }
    this.#srq = attempt("Couldn't create SRQ", () =>
      this.#pd.createSrq({ srqType: SrqType.XRC, maxWr: clients, maxSge: 1, xrcd: this.#xrcd, cq: this.recvCq }),
    );
    const each = Array.from({ length: clients }, (_, i) => i);
    const init = { qpState: QpState.INIT, pkeyIndex: 0, portNum };
    this.#targets = each.map((i) => {
      const qp = attempt(`Couldn't create recv QP[${i}]`, () => this.#xrcd.createQp());
      const qpAccessFlags = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
      attempt(`Failed to modify recv QP[${i}] to INIT`, () => qp.modify({ ...init, qpAccessFlags }));
      return qp;
    });
    this.#initiators = each.map((i) => {
      const cap = { maxSendWr: tests, maxSendSge: 1 };
      const qp = attempt(`Couldn't create send QP[${i}]`, () =>
        this.#pd.createQp({ qpType: QpType.XRC_SEND, sendCq: this.sendCq, cap }),
      );
      attempt(`Failed to modify send QP[${i}] to INIT`, () => qp.modify({ ...init, qpAccessFlags: 0 }));
      return qp;
    });
    for (let i = 0; i < clients; i += 1) this.postRecv();
    this.local = each.map((i) => ({
      lid: port.lid,
      recvQpn: this.#targets[i].qpNum,
      sendQpn: this.#initiators[i].qpNum,
      psn: randomInt(1 << 24),
      srqn: this.#srq.srqNum,
      gid,
    }));
  }

  get cqs(): readonly Cq[] {
    return [this.recvCq, this.sendCq];
  }

  /** Which peer's target has this number; -1 when none has. */
  indexOf(qpNum: number): number {
    return this.#targets.findIndex((qp) => qp.qpNum === qpNum);
  }

  /** Moves both QPs of one peer to RTS. The attributes are the C tool's. */
  connect(index: number, remote: XsrqDestination): void {
    refuseUnreachable(this.local[index].gid, remote.gid);
    const { psn: sqPsn } = this.local[index];
    const toRtr: QpModifyAttr = {
      qpState: QpState.RTR,
      pathMtu: this.#setup.pathMtu,
      rqPsn: remote.psn,
      ahAttr: addressOf(remote, this.#setup),
    };
    const toRts: QpModifyAttr = { qpState: QpState.RTS, timeout: 14, sqPsn };
    const target = this.#targets[index];
    attempt(`Failed to modify recv QP[${index}] to RTR`, () =>
      target.modify({ ...toRtr, destQpNum: remote.sendQpn, maxDestRdAtomic: 0, minRnrTimer: 12 }),
    );
    attempt(`Failed to modify recv QP[${index}] to RTS`, () => target.modify(toRts));
    const initiator = this.#initiators[index];
    attempt(`Failed to modify send QP[${index}] to RTR`, () =>
      initiator.modify({ ...toRtr, destQpNum: remote.recvQpn }),
    );
    attempt(`Failed to modify send QP[${index}] to RTS`, () =>
      initiator.modify({ ...toRts, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 0 }),
    );
    this.#remoteSrqns[index] = remote.srqn;
  }

  postRecv(): void {
    attempt('Failed to post receive to SRQ', () => this.#srq.postRecv({ wrId: RECV_WRID, sgList: [this.#mr.sge()] }));
  }

  /**
   * Sends to a peer over its own connection. The C tool takes the connections in turn, which reaches the right queue
   * only where all clients are programs on one host that share an XRC domain.
   */
  postSend(index: number, last: boolean): void {
    attempt("Couldn't post send", () =>
      this.#initiators[index].postSend({
        wrId: SEND_WRID,
        opcode: WrOpcode.SEND,
        sendFlags: last ? SendFlags.SIGNALED : 0,
        sgList: [this.#mr.sge()],
        xrc: { remoteSrqn: this.#remoteSrqns[index] },
      }),
    );
  }

  close(): void {
    for (const [i, qp] of this.#initiators.entries()) attempt(`Couldn't destroy INI QP[${i}]`, () => qp.destroy());
    for (const [i, qp] of this.#targets.entries()) attempt(`Couldn't destroy TGT QP[${i}]`, () => qp.destroy());
    attempt("Couldn't destroy SRQ", () => this.#srq.destroy());
    attempt("Couldn't close the XRC Domain", () => this.#xrcd.close());
    attempt("Couldn't destroy send CQ", () => this.sendCq.destroy());
    attempt("Couldn't destroy recv CQ", () => this.recvCq.destroy());
    attempt("Couldn't deregister MR", () => this.#mr.dereg());
    attempt("Couldn't deallocate PD", () => this.#pd.dealloc());
    const { channel } = this;
    if (channel !== undefined) attempt("Couldn't destroy completion channel", () => channel.destroy());
  }
}
