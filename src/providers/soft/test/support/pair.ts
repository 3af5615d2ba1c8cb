/** Two devices with a connected RC queue pair each, however they are hosted. */
import {
  AccessFlags,
  alloc,
  type CompChannel,
  type Context,
  type Cq,
  type HostKind,
  type Mr,
  Mtu,
  openDevice,
  type Pd,
  type Qp,
  type QpCap,
  QpState,
  QpType,
  type RemoteMemory,
  SendFlags,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
  MwType,
  incRkey,
} from '../../../../entry/index.js';
import { SimulatedCluster } from '../../../../entry/sim.js';

export type Hosting = HostKind | 'simulated';

/** Every way of hosting a NIC. */
export const HOSTINGS: readonly Hosting[] = ['inline', 'thread', 'simulated'];

export const ALL_ACCESS =
  AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

/** One of two ends. */
export interface Side {
  readonly context: Context;
  readonly pd: Pd;
  readonly mr: Mr;
  readonly channel: CompChannel;
  readonly cq: Cq;
  readonly qp: Qp;
}

export interface PairOptions {
  readonly maxDestRdAtomic?: number;
  readonly rqPsn?: number;
  readonly bytes?: number;
  readonly cqe?: number;
  readonly cap?: Partial<QpCap>;
  readonly retryCnt?: number;
  /** ACK timeout exponent; by default a second, since a peer that gets no processor for that long is none that has died. */
  readonly timeout?: number;
  readonly rnrRetry?: number;
  readonly sqSigAll?: boolean;
}

/** Two contexts; `net` is a /24 network of loopback addresses, that of this process. */
export function openContexts(hosting: Hosting, net: string): [Context, Context] {
  if (hosting === 'simulated') {
    const cluster = new SimulatedCluster({ seed: 1 });
    return [cluster.open(`${net}.1`), cluster.open(`${net}.2`)];
  }
  const first = openDevice({ host: hosting, address: `${net}.1` });
  try {
    return [first, openDevice({ host: hosting, address: `${net}.2` })];
  } catch (error) {
    first.close();
    throw error;
  }
}

export function makeSide(context: Context, options: PairOptions = {}): Side {
  const pd = context.allocPd();
  const mr = pd.regMr(alloc(options.bytes ?? 65536), ALL_ACCESS);
  const channel = context.createCompChannel();
  const cq = context.createCq({ cqe: options.cqe ?? 256, channel });
  const qp = pd.createQp({
    qpType: QpType.RC,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64, ...options.cap },
    sqSigAll: options.sqSigAll ?? false,
  });
  return { context, pd, mr, channel, cq, qp };
}

/** Brings a queue pair to RTS, toward a peer. */
export function connect(
  qp: Qp,
  peer: { readonly qpNum: number; readonly dgid: Uint8Array },
  options: PairOptions = {},
): void {
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ALL_ACCESS });
  qp.modify({
    qpState: QpState.RTR,
    pathMtu: Mtu.MTU_1024,
    destQpNum: peer.qpNum,
    rqPsn: options.rqPsn ?? 0,
    maxDestRdAtomic: options.maxDestRdAtomic ?? 16,
    minRnrTimer: 1,
    ahAttr: { grh: { dgid: peer.dgid } },
  });
  qp.modify({
    qpState: QpState.RTS,
    timeout: options.timeout ?? 18,
    retryCnt: options.retryCnt ?? 7,
    rnrRetry: options.rnrRetry ?? 7,
    sqPsn: 0,
    maxRdAtomic: 16,
  });
}

export class Pair implements Disposable {
  readonly a: Side;
  readonly b: Side;

  constructor(hosting: Hosting, net: string, options: PairOptions = {}) {
    const [first, second] = openContexts(hosting, net);
    this.a = makeSide(first, options);
    this.b = makeSide(second, options);
    connect(this.a.qp, { qpNum: this.b.qp.qpNum, dgid: second.queryGid(1, 0) }, options);
    connect(this.b.qp, { qpNum: this.a.qp.qpNum, dgid: first.queryGid(1, 0) }, options);
  }

  [Symbol.dispose](): void {
    this.a.context[Symbol.dispose]();
    this.b.context[Symbol.dispose]();
  }
}

/** Long enough for any machine; whoever gets there has found a bug. */
const PATIENCE_MS = 60_000;

/** Polls until `count` completions have come. */
export function drain(cq: Cq, count: number): WorkCompletion[] {
  const completions: WorkCompletion[] = [];
  const begun = performance.now();
  while (completions.length < count) {
    completions.push(...cq.poll(count - completions.length));
    if (performance.now() - begun > PATIENCE_MS)
      throw new Error(`only ${completions.length} of ${count} completions came`);
  }
  return completions;
}

export function drainOne(cq: Cq): WorkCompletion {
  return drain(cq, 1)[0];
}

/** Bytes that differ from place to place. */
/** Binds a fresh window of type 2 on the queue pair of a side. @returns the place that it opens to the peer */
export function openWindow({ pd, qp, cq }: Pick<Side, 'pd' | 'qp' | 'cq'>): RemoteMemory {
  const { LOCAL_WRITE, MW_BIND, REMOTE_WRITE } = AccessFlags;
  const region = pd.regMr(alloc(4096), LOCAL_WRITE | MW_BIND);
  const mw = pd.allocMw(MwType.TYPE_2);
  const rkey = incRkey(mw.rkey);
  const bindInfo = { mr: region, addr: region.iova, length: region.length, mwAccessFlags: REMOTE_WRITE };
  qp.postSend({ opcode: WrOpcode.BIND_MW, sendFlags: SendFlags.SIGNALED, bindMw: { mw, rkey, bindInfo } });
  const { status } = drainOne(cq);
  if (status !== WcStatus.SUCCESS) throw new Error(`the bind ended in ${status}`);
  return { remoteAddr: region.iova, rkey };
}

export function pattern(length: number, salt = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 7 + salt) & 0xff);
}
