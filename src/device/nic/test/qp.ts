import {
  type AhAttr,
  type Gid,
  type GlobalRoute,
  Mtu,
  type QpAttr,
  QpState,
  SendFlags,
  WrOpcode,
} from '../../ibta/index.js';
import type { TestHost, TestMr } from './host.js';
import {
  ALL_ACCESS,
  type Completion,
  type DriverCq,
  type DriverQueue,
  type ReceiveRequest,
  type SendRequest,
} from './rings.js';

/** What a connection needs to know of the other side. */
export interface Peer {
  readonly gid: Gid;
  readonly qpn: number;
}

/** Attributes of a connected QP that tests choose; the rest has sane defaults. */
export type ConnectOptions = Partial<
  Pick<
    QpAttr,
    | 'pathMtu'
    | 'sqPsn'
    | 'rqPsn'
    | 'qpAccessFlags'
    | 'timeout'
    | 'retryCnt'
    | 'rnrRetry'
    | 'minRnrTimer'
    | 'maxRdAtomic'
    | 'maxDestRdAtomic'
  >
>;

export function ahAttrTo(dgid: Gid, hopLimit = 64): AhAttr & { readonly grh: GlobalRoute } {
  return {
    grh: { dgid, flowLabel: 0, sgidIndex: 0, hopLimit, trafficClass: 0 },
    dlid: 0,
    sl: 0,
    srcPathBits: 0,
    staticRate: 0,
    isGlobal: true,
    portNum: 1,
  };
}

export const initAttr = (options: ConnectOptions = {}): Partial<QpAttr> => ({
  qpState: QpState.INIT,
  pkeyIndex: 0,
  portNum: 1,
  qpAccessFlags: options.qpAccessFlags ?? ALL_ACCESS,
});

export const rtrAttr = (peer: Peer, options: ConnectOptions = {}): Partial<QpAttr> => ({
  qpState: QpState.RTR,
  ahAttr: ahAttrTo(peer.gid),
  pathMtu: options.pathMtu ?? Mtu.MTU_1024,
  destQpNum: peer.qpn,
  rqPsn: options.rqPsn ?? 0,
  maxDestRdAtomic: options.maxDestRdAtomic ?? 16,
  minRnrTimer: options.minRnrTimer ?? 12,
});

export const rtsAttr = (options: ConnectOptions = {}): Partial<QpAttr> => ({
  qpState: QpState.RTS,
  sqPsn: options.sqPsn ?? 0,
  timeout: options.timeout ?? 14,
  retryCnt: options.retryCnt ?? 7,
  rnrRetry: options.rnrRetry ?? 7,
  maxRdAtomic: options.maxRdAtomic ?? 16,
});

/** A queue pair as a program sees it. */
export class TestQp {
  #nextWrId = 1n;

  constructor(
    readonly host: TestHost,
    readonly qpn: number,
    readonly sq: DriverQueue,
    readonly rq: DriverQueue,
    readonly sendCq: DriverCq,
    readonly recvCq: DriverCq,
  ) {}

  get state(): QpState {
    return this.host.nic.control.queryQp(this.qpn).qpState;
  }

  get peer(): Peer {
    return { gid: this.host.gid, qpn: this.qpn };
  }

  modify(attr: Partial<QpAttr>): void {
    this.host.nic.control.modifyQp(this.qpn, attr);
  }

  toInit(options: ConnectOptions = {}): void {
    this.modify(initAttr(options));
  }

  toRtr(peer: Peer, options: ConnectOptions = {}): void {
    this.toInit(options);
    this.modify(rtrAttr(peer, options));
  }

  toRts(peer: Peer, options: ConnectOptions = {}): void {
    this.toRtr(peer, options);
    this.modify(rtsAttr(options));
  }

  /** Posts a send request, signalled unless `flags` says otherwise. @returns its wr_id */
  post(request: SendRequest): bigint {
    const wrId = BigInt(request.wrId ?? this.#nextWrId++);
    this.sq.writeSend({ ...request, wrId });
    this.host.doorbell.ring(this.sq.words, this.qpn);
    return wrId;
  }

  /** Posts a receive request. In ERR it must ring, since nothing else would flush it. @returns its wr_id */
  postRecv(request: ReceiveRequest = {}): bigint {
    const wrId = BigInt(request.wrId ?? this.#nextWrId++);
    this.rq.writeReceive({ ...request, wrId });
    if (this.rq.state === QpState.ERR) this.host.doorbell.ring(this.sq.words, this.qpn);
    return wrId;
  }

  send(mr: TestMr, options: Partial<SendRequest> = {}): bigint {
    return this.post({ opcode: WrOpcode.SEND, sgList: [mr.sge()], ...options });
  }

  recv(mr: TestMr): bigint {
    return this.postRecv({ sgList: [mr.sge()] });
  }

  write(local: TestMr, remote: TestMr, options: Partial<SendRequest> = {}): bigint {
    return this.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...remote.at(0), ...options });
  }

  read(local: TestMr, remote: TestMr, options: Partial<SendRequest> = {}): bigint {
    return this.post({ opcode: WrOpcode.RDMA_READ, sgList: [local.sge()], ...remote.at(0), ...options });
  }

  fetchAdd(local: TestMr, remote: TestMr, add: bigint, options: Partial<SendRequest> = {}): bigint {
    return this.post({
      opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
      sgList: [local.sge(0, 8)],
      ...remote.at(0),
      compareAdd: add,
      ...options,
    });
  }

  compareSwap(
    local: TestMr,
    remote: TestMr,
    compare: bigint,
    swap: bigint,
    options: Partial<SendRequest> = {},
  ): bigint {
    return this.post({
      opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
      sgList: [local.sge(0, 8)],
      ...remote.at(0),
      compareAdd: compare,
      swap,
      ...options,
    });
  }

  sent(): Completion[] {
    return this.sendCq.poll();
  }

  received(): Completion[] {
    return this.recvCq.poll();
  }
}

export const UNSIGNALLED = 0;
export const FENCED = SendFlags.SIGNALED | SendFlags.FENCE;
export const SOLICITED = SendFlags.SIGNALED | SendFlags.SOLICITED;
