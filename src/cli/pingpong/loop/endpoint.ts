import { randomInt } from 'node:crypto';
import {
  type Ah,
  type CompChannel,
  type Context,
  type Cq,
  type Mr,
  type Pd,
  type Qp,
  QpState,
  SendFlags,
  type Srq,
  WC_STANDARD_FLAGS,
  WcExFlags,
  WrOpcode,
} from '../../../entry/index.js';
import { attempt } from '../../kit/errors.js';
import { type Destination, refuseUnreachable } from '../exchange/destination.js';
import { registerBuffer } from './memory.js';
import { addressOf, type Path, QKEY } from './service.js';
import type { PingPongTool } from '../tools.js';

export const RECV_WRID = 1;
export const SEND_WRID = 2;

/** How a ping-pong is to be run. */
export interface Setup extends Path {
  readonly sizeBytes: number;
  readonly rxDepth: number;
  readonly qps: number;
  /** Sleep on completion events in place of polling. */
  readonly events: boolean;
  /** Post by `wrStart` ... `wrComplete` in place of `postSend`. */
  readonly newSend: boolean;
  readonly timestamps: boolean;
  readonly odp: boolean;
  readonly prefetch: boolean;
}

export class Endpoint {
  readonly #tool: PingPongTool;
  readonly #setup: Setup;
  readonly #pd: Pd;
  readonly #mr: Mr;
  readonly #srq: Srq | undefined;
  readonly #qps: readonly Qp[];
  readonly #sendFlags: number;
  /** Where the QPs' requests go, by QP: what UD needs. */
  #datagrams: { readonly ah: Ah; readonly remoteQpn: number; readonly remoteQkey: number }[] = [];
  readonly channel: CompChannel | undefined;
  readonly cq: Cq;
  /** What the peer needs to reach this side, by QP. */
  readonly local: readonly Destination[];
  outstandingReceives = 0;

  constructor(context: Context, tool: PingPongTool, setup: Setup) {
    const { sizeBytes, rxDepth, portNum, sgidIndex, qps } = setup;
    const { service, shared } = tool;
    this.#tool = tool;
    this.#setup = setup;
    const port = attempt("Couldn't get port info", () => context.queryPort(portNum));
    const gid = attempt(tool.noGid(sgidIndex), () => context.queryGid(portNum, sgidIndex));
    const channel = setup.events
      ? attempt("Couldn't create completion channel", () => context.createCompChannel())
      : undefined;
    this.channel = channel;
    this.#pd = attempt("Couldn't allocate PD", () => context.allocPd());
    this.#mr = registerBuffer(this.#pd, service.headerBytes + sizeBytes, tool.fill, setup);
    const cq = attempt("Couldn't create CQ", () =>
      context.createCq({
        cqe: rxDepth + qps,
        ...(channel === undefined ? {} : { channel }),
        ...(setup.timestamps ? { wcFlags: WC_STANDARD_FLAGS | WcExFlags.WITH_COMPLETION_TIMESTAMP } : {}),
      }),
    );
    this.cq = cq;
    const srq = shared
      ? attempt("Couldn't create SRQ", () => this.#pd.createSrq({ maxWr: rxDepth, maxSge: 1 }))
      : undefined;
    this.#srq = srq;
    const receives = srq === undefined ? { maxRecvWr: rxDepth, maxRecvSge: 1 } : {};
    this.#qps = Array.from({ length: qps }, (_, i) =>
      attempt(`Couldn't create ${this.#label(i)}`, () =>
        this.#pd.createQp({
          qpType: service.qpType,
          sendCq: cq,
          recvCq: cq,
          ...(srq === undefined ? {} : { srq }),
          cap: { maxSendWr: 1, maxSendSge: 1, ...receives },
        }),
      ),
    );
    const inline = this.#qps.every(({ cap }) => cap.maxInlineData >= sizeBytes) ? SendFlags.INLINE : 0;
    this.#sendFlags = SendFlags.SIGNALED | inline;
    for (const [i, qp] of this.#qps.entries()) {
      attempt(`Failed to modify ${this.#label(i)} to INIT`, () =>
        qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum, ...service.init }),
      );
    }
    this.fillReceives();
    if (channel !== undefined) attempt("Couldn't request CQ notification", () => cq.reqNotify());
    this.local = this.#qps.map(({ qpNum }) => ({ lid: port.lid, qpn: qpNum, psn: randomInt(1 << 24), gid }));
  }

  get message(): Uint8Array {
    return this.#mr.bytes.subarray(this.#tool.service.headerBytes);
  }

  /** Which of the QPs has this number; -1 when none has. */
  indexOf(qpNum: number): number {
    return this.#qps.findIndex((qp) => qp.qpNum === qpNum);
  }

  /** Moves the QPs to RTS, toward the peer's. */
  connect(remote: readonly Destination[]): void {
    const { rtr, rts } = this.#tool.service;
    for (const [i, qp] of this.#qps.entries()) {
      refuseUnreachable(this.local[i].gid, remote[i].gid);
      attempt(`Failed to modify ${this.#label(i)} to RTR`, () =>
        qp.modify({ qpState: QpState.RTR, ...rtr(remote[i], this.#setup) }),
      );
      attempt(`Failed to modify ${this.#label(i)} to RTS`, () =>
        qp.modify({ qpState: QpState.RTS, sqPsn: this.local[i].psn, ...rts }),
      );
    }
    if (this.#tool.service.headerBytes === 0) return;
    this.#datagrams = remote.map((destination) => ({
      ah: attempt('Failed to create AH', () => this.#pd.createAh(addressOf(destination, this.#setup))),
      remoteQpn: destination.qpn,
      remoteQkey: QKEY,
    }));
  }

  /** Posts receive requests until as many as wanted are outstanding. */
  fillReceives(): void {
    const request = { wrId: RECV_WRID, sgList: [this.#mr.sge()] };
    const queue = this.#srq ?? this.#qps[0];
    attempt(`Couldn't post receive (${this.outstandingReceives})`, () => {
      for (; this.outstandingReceives < this.#setup.rxDepth; this.outstandingReceives += 1) queue.postRecv(request);
    });
  }

  postSend(index: number): void {
    const qp = this.#qps[index];
    const sge = this.#mr.sge(this.#tool.service.headerBytes);
    attempt("Couldn't post send", () => {
      if (this.#setup.newSend) {
        qp.wrStart();
        qp.wrId = SEND_WRID;
        qp.wrFlags = this.#sendFlags;
        qp.wrSend();
        qp.wrSetSge(sge.lkey, sge.addr, sge.length);
        qp.wrComplete();
        return;
      }
      const ud = this.#datagrams.at(index);
      qp.postSend({
        wrId: SEND_WRID,
        opcode: WrOpcode.SEND,
        sendFlags: this.#sendFlags,
        sgList: [sge],
        ...(ud === undefined ? {} : { ud }),
      });
    });
  }

  close(): void {
    for (const [i, qp] of this.#qps.entries()) attempt(`Couldn't destroy ${this.#label(i)}`, () => qp.destroy());
    const { channel } = this;
    const srq = this.#srq;
    if (srq !== undefined) attempt("Couldn't destroy SRQ", () => srq.destroy());
    attempt("Couldn't destroy CQ", () => this.cq.destroy());
    attempt("Couldn't deregister MR", () => this.#mr.dereg());
    for (const { ah } of this.#datagrams) attempt("Couldn't destroy AH", () => ah.destroy());
    attempt("Couldn't deallocate PD", () => this.#pd.dealloc());
    if (channel !== undefined) attempt("Couldn't destroy completion channel", () => channel.destroy());
  }

  /** A QP in the C tools' sentences. */
  #label(index: number): string {
    return this.#tool.shared ? `QP[${index}]` : 'QP';
  }
}
