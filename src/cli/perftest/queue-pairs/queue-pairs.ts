import { randomInt } from 'node:crypto';
import {
  type Ah,
  type CompChannel,
  type Context,
  type Cq,
  type Gid,
  gidFromIp,
  type Mtu,
  type Pd,
  type Qp,
  type QpBase,
  type QpModifyAttr,
  QpState,
  QpType,
  type Srq,
  SrqType,
  type Xrcd,
} from '../../../entry/index.js';
import { refuseUnreachable } from '../../pingpong/exchange/destination.js';
import { attempt } from '../../kit/errors.js';
import type { Agreement } from '../exchange/agreement.js';
import type { PerfFlags } from '../flags.js';
import type { Keys } from '../exchange/keys.js';
import { accessOf, Memory } from './memory.js';
import { BATCH } from '../running/run.js';
import type { Settings } from '../settings.js';
import { type Connection, Verb } from '../tests.js';

/** The Q_Key of the C tools, for queue pairs that rdma_cm does not make. */
const QKEY = 0x11111111;
const HOP_LIMIT = 0xff;
const MIN_RNR_TIMER = 12;
const RETRIES = 7;

const QP_TYPES: Readonly<Record<Connection, QpType>> = {
  RC: QpType.RC,
  UC: QpType.UC,
  UD: QpType.UD,
  XRC: QpType.XRC_SEND,
};

export interface Datagrams {
  readonly ah: Ah;
  readonly remoteQpn: number;
  readonly remoteQkey: number;
}

/** The GID that has the address of the device, or the one that was asked for. */
function gidIndexOf(context: Context, { gidIndex, ibPort }: PerfFlags): number {
  if (gidIndex !== undefined) return gidIndex;
  const own = Buffer.from(gidFromIp(context.address.replace(/%.*$/, '')));
  const table = context.queryGidTable();
  return table.find(({ gid, portNum }) => portNum === ibPort && own.equals(gid))?.gidIndex ?? 0;
}

/** READs and atomics that may be outstanding: as many as the device has, or fewer. */
function outReadsOf(context: Context, { test }: Settings, { outs }: PerfFlags): number {
  if (test.verb === Verb.SEND || test.verb === Verb.WRITE) return 1;
  const most = context.queryDevice().maxQpRdAtom;
  return Math.min(outs ?? most, most);
}

/** The verbs objects of one side of a test. */
export class QueuePairs {
  readonly context: Context;
  readonly gidIndex: number;
  readonly outReads: number;
  readonly pd: Pd;
  readonly memory: Memory;
  readonly channel: CompChannel | undefined;
  readonly sendCq: Cq;
  readonly recvCq: Cq;
  readonly srq: Srq | undefined;
  /** Those that send, by queue pair; none on a side of XRC that only receives. */
  readonly senders: Qp[] = [];
  /** What the peer needs to know of each queue pair, and what it told of its own. */
  readonly local: Keys[] = [];
  remote: readonly Keys[] = [];
  /** UD only, by queue pair. */
  readonly datagrams: Datagrams[] = [];
  readonly #settings: Settings;
  readonly #flags: PerfFlags;
  readonly #xrcd: Xrcd | undefined;
  readonly #qps: QpBase[] = [];
  readonly #gid: Gid;

  constructor(context: Context, settings: Settings, flags: PerfFlags, agreement: Agreement) {
    const { test, qps, txDepth, rxDepth, connection } = settings;
    this.context = context;
    this.#settings = settings;
    this.#flags = flags;
    this.gidIndex = gidIndexOf(context, flags);
    this.#gid = attempt(`Couldn't get the GID of index ${this.gidIndex}`, () =>
      context.queryGid(flags.ibPort, this.gidIndex),
    );
    this.outReads = outReadsOf(context, settings, flags);
    this.channel = settings.events
      ? attempt("Couldn't create completion channel", () => context.createCompChannel())
      : undefined;
    const channel = this.channel === undefined ? {} : { channel: this.channel };
    this.pd = attempt("Couldn't allocate PD", () => context.allocPd());
    this.memory = new Memory(this.pd, settings, agreement, this.count, flags.odp === true);
    this.sendCq = attempt("Couldn't create CQ", () => context.createCq({ cqe: txDepth * qps, ...channel }));
    // With room for those that are taken, since new receive requests are posted before they are given back.
    this.recvCq =
      test.verb === Verb.SEND
        ? attempt("Couldn't create a receiver CQ", () => context.createCq({ cqe: rxDepth * qps + BATCH, ...channel }))
        : this.sendCq;
    if (connection === 'XRC') this.#xrcd = attempt('Error opening XRC domain', () => context.openXrcd());
    this.srq = this.#createSrq();
  }

  /** Queue pairs, the XRC ones that only receive among them. */
  get count(): number {
    return this.#settings.qps * (this.#separate ? 2 : 1);
  }

  /** Where on the peer's side messages of a queue pair arrive: which of its keys count. */
  arrivalOf(qpIndex: number): number {
    return this.#separate ? this.#settings.qps + qpIndex : qpIndex;
  }

  /** Makes queue pairs of our own; those of rdma_cm come by {@link adopt}. */
  createQps(): void {
    const { connection, active, test, qps } = this.#settings;
    const targets = connection === 'XRC' ? (this.#separate ? qps : active ? 0 : qps) : 0;
    for (let i = 0; i < this.count - targets; i += 1) this.#createQp(i);
    for (let i = this.count - targets; i < this.count; i += 1) this.#createTarget(i);
    const { ibPort: portNum, pkey_index: pkeyIndex } = this.#flags;
    const particulars = connection === 'UD' ? { qkey: QKEY } : { qpAccessFlags: accessOf(test.verb) };
    const init = { qpState: QpState.INIT, pkeyIndex, portNum };
    for (const qp of this.#qps) attempt('Failed to modify QP to INIT', () => qp.modify({ ...init, ...particulars }));
    this.#tellKeys();
  }

  /** What `createQp` takes beside the type, for queue pairs that rdma_cm makes. */
  get init() {
    const { txDepth, rxDepth, inlineBytes } = this.#settings;
    const receives = this.srq === undefined ? { maxRecvWr: rxDepth, maxRecvSge: 1 } : {};
    return {
      sendCq: this.sendCq,
      recvCq: this.recvCq,
      ...(this.srq === undefined || this.#xrcd !== undefined ? {} : { srq: this.srq }),
      cap: { maxSendWr: txDepth, maxSendSge: 1, maxInlineData: inlineBytes, ...receives },
    };
  }

  /** Takes queue pairs that rdma_cm made and connects. */
  adopt(qps: readonly Qp[], datagrams: readonly Datagrams[]): void {
    this.#qps.push(...qps);
    this.senders.push(...qps);
    this.datagrams.push(...datagrams);
    this.#tellKeys();
  }

  /** @throws ToolError when the peer's address is of another family, so that no packet gets there */
  checkRemote(): void {
    refuseUnreachable(this.#gid, this.remote[0].gid);
  }

  /** Moves our own queue pairs to RTS, toward the peer's. The attributes are the C tools'. */
  connect(mtu: Mtu): void {
    for (const [i, qp] of this.#qps.entries()) {
      const remote = this.remote[this.#peerOf(i)];
      const { rtr, rts } = this.#attributes(qp, mtu, this.local[i], remote);
      attempt(`Failed to modify QP ${qp.qpNum} to RTR`, () => qp.modify({ qpState: QpState.RTR, ...rtr }));
      attempt('Failed to modify QP to RTS', () =>
        qp.modify({ qpState: QpState.RTS, sqPsn: this.local[i].psn, ...rts }),
      );
      if (this.#settings.connection !== 'UD') continue;
      const ah = attempt('Failed to create AH', () => this.pd.createAh(this.#address(remote)));
      this.datagrams.push({ ah, remoteQpn: remote.qpn, remoteQkey: QKEY });
    }
  }

  /** Ends all of it, whatever is under way. */
  close(): void {
    for (const { ah } of this.datagrams) ah.destroy();
    for (const qp of this.#qps) qp.destroy();
    this.srq?.destroy();
    this.#xrcd?.close();
    for (const cq of new Set([this.sendCq, this.recvCq])) cq.destroy();
    this.channel?.destroy();
    this.memory.close();
    this.pd.dealloc();
  }

  /** Whether what sends and what receives are queue pairs of their own: in XRC, when a side does both. */
  get #separate(): boolean {
    const { connection, both, test } = this.#settings;
    return connection === 'XRC' && (both || test.measure === 'lat');
  }

  #peerOf(index: number): number {
    const { qps } = this.#settings;
    if (!this.#separate) return index;
    return index < qps ? index + qps : index - qps;
  }

  #createSrq(): Srq | undefined {
    const { sharedReceives, rxDepth, connection } = this.#settings;
    if (!sharedReceives) return undefined;
    const xrc = this.#xrcd === undefined ? {} : { srqType: SrqType.XRC, xrcd: this.#xrcd, cq: this.recvCq };
    const what = connection === 'XRC' ? "Couldn't create SRQ XRC resources" : "Couldn't create SRQ";
    return attempt(what, () => this.pd.createSrq({ maxWr: rxDepth, maxSge: 1, ...xrc }));
  }

  #createQp(index: number): void {
    const qpType = QP_TYPES[this.#settings.connection];
    const qp = attempt(`Couldn't create QP ${index}`, () => this.pd.createQp({ qpType, ...this.init }));
    this.#qps.push(qp);
    this.senders.push(qp);
  }

  #createTarget(index: number): void {
    const xrcd = this.#xrcd;
    if (xrcd !== undefined) this.#qps.push(attempt(`Couldn't create QP ${index}`, () => xrcd.createQp()));
  }

  #tellKeys(): void {
    const { ibPort } = this.#flags;
    const port = attempt(`Unable to query port ${ibPort} attributes`, () => this.context.queryPort(ibPort));
    for (const [i, { qpNum }] of this.#qps.entries()) {
      this.local.push({
        lid: port.lid,
        outReads: this.outReads,
        qpn: qpNum,
        psn: randomInt(1 << 24),
        rkey: this.memory.mr.rkey,
        addr: BigInt(this.memory.addressOf(this.memory.arrivals(i))),
        gid: this.#gid,
        srqn: this.#xrcd === undefined ? 0 : (this.srq?.srqNum ?? 0),
      });
    }
  }

  #address({ gid, lid }: Keys) {
    const { sl, tclass: trafficClass, ibPort: portNum } = this.#flags;
    return { grh: { dgid: gid, sgidIndex: this.gidIndex, hopLimit: HOP_LIMIT, trafficClass }, dlid: lid, sl, portNum };
  }

  #attributes({ qpType }: QpBase, mtu: Mtu, local: Keys, remote: Keys): Record<'rtr' | 'rts', QpModifyAttr> {
    if (qpType === QpType.UD) return { rtr: {}, rts: {} };
    const route = { pathMtu: mtu, destQpNum: remote.qpn, rqPsn: remote.psn, ahAttr: this.#address(remote) };
    if (qpType === QpType.UC) return { rtr: route, rts: {} };
    const { maxQpInitRdAtom } = this.context.queryDevice();
    const maxRdAtomic = Math.min(remote.outReads, maxQpInitRdAtom);
    const { qpTimeout: timeout } = this.#flags;
    const receives = { maxDestRdAtomic: local.outReads, minRnrTimer: MIN_RNR_TIMER };
    return {
      rtr: qpType === QpType.XRC_SEND ? route : { ...route, ...receives },
      rts: qpType === QpType.XRC_RECV ? { timeout } : { timeout, retryCnt: RETRIES, rnrRetry: RETRIES, maxRdAtomic },
    };
  }
}
