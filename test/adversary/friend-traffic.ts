import { PSN_MASK } from '../../src/device/ibta/index.js';
import { bthDestQp } from '../../src/device/wire/index.js';
import {
  AccessFlags,
  alloc,
  type Context,
  type Cq,
  type Mr,
  type Pd,
  type Qp,
  type QpBase,
  QpState,
  QpType,
  SendFlags,
  type Srq,
  SrqType,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { type SimulatedCluster, type Verdict } from '../../src/entry/sim.js';
import type { Choices } from '../fuzz/random.js';
import { type VictimMemory, EVERY_ACCESS } from './memory.js';
import { FRIEND, VICTIM } from './addresses.js';
import { connectTarget, freshPsn, type TargetQp } from './target-qp.js';

const CAP = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
const MESSAGE_BYTES = 64;
const RECEIVES = 8;
/** Long enough for all that a friend says at once. */
const EXCHANGE_US = 2000;
const GSI_QPN = 1;
/** Requests in an exchange, those of them that take a receive request, and packets over the reliable connection. */
const SAID = 6;
const HEARD = 3;
const RC_PACKETS = 4;

interface Parts {
  readonly victim: Context;
  readonly friend: Context;
  /** Of the victim's, and the region in it that the friend has the key of. */
  readonly pd: Pd;
  readonly target: Mr;
  readonly victimMemory: VictimMemory;
  readonly choices: Choices;
}

/** What the victim has with its friend: a connection of each type, and a datagram queue pair. */
export class FriendTraffic {
  readonly rc: TargetQp<Qp>;
  readonly uc: TargetQp<Qp>;
  readonly xrc: TargetQp;
  readonly ud: { readonly qp: Qp; readonly qkey: number };
  readonly srq: Srq;
  readonly cq: Cq;
  /** Packets that the friend sent in the last exchange, and what it sends: what somebody saw who was on the way then. */
  readonly seen: Uint8Array[] = [];
  readonly #inbox: Mr;
  readonly #friend: Context;
  readonly #friendCq: Cq;
  readonly #friendMr: Mr;
  readonly #ends: readonly [rc: Qp, uc: Qp, xrc: Qp];
  readonly #target: Mr;
  readonly #victimMemory: VictimMemory;

  constructor({ victim, friend, pd, target, victimMemory, choices }: Parts) {
    this.#friend = friend;
    this.#target = target;
    this.#victimMemory = victimMemory;
    this.#inbox = victimMemory.region(pd, AccessFlags.LOCAL_WRITE);
    const friendPd = friend.allocPd();
    this.#friendCq = friend.createCq({ cqe: 512 });
    this.#friendMr = friendPd.regMr(alloc(1024), EVERY_ACCESS);
    this.cq = victim.createCq({ cqe: 512 });
    const both = { sendCq: this.cq, recvCq: this.cq, cap: CAP };
    const end = (qpType: typeof QpType.RC | typeof QpType.UC | typeof QpType.XRC_SEND): Qp =>
      friendPd.createQp({ qpType, sendCq: this.#friendCq, recvCq: this.#friendCq, cap: CAP });
    const join = <T extends QpBase>(qp: T, peer: Qp): TargetQp<T> => {
      const post = connectTarget(qp, FRIEND, choices, peer.qpNum);
      const sqPsn = post.psn;
      const { psn: own } = connectTarget(peer, VICTIM, choices, qp.qpNum);
      const retries = { timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 4 };
      peer.modify({ qpState: QpState.RTS, sqPsn, ...(peer.qpType === QpType.UC ? {} : retries) });
      if (qp.qpType !== QpType.XRC_RECV)
        qp.modify({ qpState: QpState.RTS, sqPsn: own, ...(qp.qpType === QpType.UC ? {} : retries) });
      return { ...post, sqPsn: own };
    };
    this.#ends = [end(QpType.RC), end(QpType.UC), end(QpType.XRC_SEND)];
    const [rc, uc, xrc] = this.#ends;
    this.rc = join(pd.createQp({ ...both, qpType: QpType.RC }), rc);
    this.uc = join(pd.createQp({ ...both, qpType: QpType.UC }), uc);
    const xrcd = victim.openXrcd();
    this.srq = pd.createSrq({ srqType: SrqType.XRC, maxWr: 16, xrcd, cq: this.cq });
    this.xrc = join(xrcd.createQp(), xrc);
    this.ud = { qp: pd.createQp({ ...both, qpType: QpType.UD }), qkey: choices.u32() & 0x7fffffff };
    this.ud.qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: this.ud.qkey });
    this.ud.qp.modify({ qpState: QpState.RTR });
    this.ud.qp.modify({ qpState: QpState.RTS, sqPsn: freshPsn(choices) });
    for (const queue of [this.rc.qp, this.uc.qp, this.ud.qp, this.srq])
      for (let i = 0; i < RECEIVES; i += 1) queue.postRecv(this.#receive());
  }

  get qps(): readonly QpBase[] {
    return [this.rc.qp, this.uc.qp, this.xrc.qp, this.ud.qp];
  }

  /**
   * The friend says what it always says, over each connection. What passes is noted down.
   *
   * @throws Error when it does not get through
   */
  exchange(cluster: SimulatedCluster): void {
    this.#listen(cluster, 'pass', () => {
      this.#speak();
      cluster.run(cluster.nowUs + EXCHANGE_US);
    });
    const done = this.#friendCq.poll(16);
    const arrived = this.cq.poll(64).filter(({ status }) => status === WcStatus.SUCCESS);
    if (done.length !== SAID || done.some(({ status }) => status !== WcStatus.SUCCESS) || arrived.length !== HEARD) {
      const words = done.map((wc) => this.#friend.explain(wc)).join('; ');
      throw new Error(`the friend did not get through: ${arrived.length} of ${HEARD} messages arrived; ${words}`);
    }
    this.rc.psn = (this.rc.psn + RC_PACKETS) & PSN_MASK;
    this.xrc.psn = (this.xrc.psn + 1) & PSN_MASK;
    for (const queue of [this.rc.qp, this.uc.qp, this.srq]) queue.postRecv(this.#receive());
    this.#victimMemory.remember();
  }

  /** The friend speaks once more, and nothing of it arrives. */
  intercept(cluster: SimulatedCluster): void {
    this.#listen(cluster, 'drop', () => {
      this.#speak();
      cluster.run(cluster.nowUs + 1);
    });
  }

  #listen({ network }: SimulatedCluster, verdict: Verdict, during: () => void): void {
    const before = network.onPacket;
    this.seen.length = 0;
    network.onPacket = ({ from, bytes }) => {
      if (from !== FRIEND || bthDestQp(bytes, 0) === GSI_QPN) return 'pass';
      this.seen.push(bytes.slice());
      return verdict;
    };
    during();
    network.onPacket = before;
  }

  #speak(): void {
    const [rc, uc, xrc] = this.#ends;
    const sgList = [this.#friendMr.sge(0, MESSAGE_BYTES)] as const;
    const word = [this.#friendMr.sge(0, 8)] as const;
    const sendFlags = SendFlags.SIGNALED;
    const rdma = { remoteAddr: this.#target.addr, rkey: this.#target.rkey };
    rc.postSend([
      { opcode: WrOpcode.SEND, sgList, sendFlags },
      { opcode: WrOpcode.RDMA_WRITE, sgList, rdma, sendFlags },
      { opcode: WrOpcode.RDMA_READ, sgList, rdma, sendFlags },
      { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: word, sendFlags, atomic: { ...rdma, compareAdd: 1n } },
    ]);
    uc.postSend({ opcode: WrOpcode.SEND, sgList, sendFlags });
    xrc.postSend({ opcode: WrOpcode.SEND, sgList, sendFlags, xrc: { remoteSrqn: this.srq.srqNum } });
  }

  #receive() {
    return { sgList: [this.#inbox.sge(0, 4 * MESSAGE_BYTES)] };
  }
}
