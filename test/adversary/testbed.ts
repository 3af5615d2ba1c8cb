import type { Adapter } from '../../src/device/adapter/adapter.js';
import { SoftContext } from '../../src/providers/soft/driver/context.js';
import { SoftPd } from '../../src/providers/soft/driver/domains/protection-domain.js';
import { SimulatedHost } from '../../src/sim/cluster/simulated-host.js';
import { PSN_MASK } from '../../src/device/ibta/index.js';
import type { SimulatedPacket } from '../../src/device/link/simulated/index.js';
import {
  Aeth,
  aethOffset,
  aethSyndrome,
  bthDestQp,
  bthPsn,
  OpcodeBit,
  opcodeBits,
} from '../../src/device/wire/index.js';
import {
  AccessFlags,
  type Context,
  type Cq,
  incRkey,
  type Mr,
  type Mw,
  MwType,
  type Pd,
  type Qp,
  type QpBase,
  QpState,
  QpType,
  SendFlags,
  type Srq,
  SrqType,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { SimulatedCluster } from '../../src/entry/sim.js';
import type { Choices } from '../fuzz/random.js';
import { Secrets } from './attacks/secrets.js';
import { Conversations } from './conversations.js';
import { Forge } from './forge.js';
import { FriendTraffic } from './friend-traffic.js';
import { VictimMemory, EVERY_ACCESS } from './memory.js';
import { ADVERSARY, FRIEND, SILENT, VICTIM } from './addresses.js';
import { connectTarget, freshPsn, type TargetQp } from './target-qp.js';

const CAP = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
export const WINDOW_BYTES = 512;
export const WINDOW_OFFSET = 256;
/** Bytes that a message of the adversary's may fill. */
export const MESSAGE_BYTES = 256;
/** Bytes that the victim asks the adversary for. */
export const ASKED_BYTES = 64;
const GUEST_RECEIVES = 4;
const GuestQpn = { RC: 0x42, UC: 0x43, XRC: 0x44 } as const;

export function adapterOf(context: Context): Adapter {
  if (!(context instanceof SoftContext) || !(context.adapter instanceof SimulatedHost))
    throw new Error('not a device of a simulation');
  return context.adapter.nic.adapter;
}

/**
 * A device with everything that an adversary may want: connections of all types with a friend, requests that wait for
 * answers, memory of several protection domains, listeners; and connections with the adversary itself, which was given a
 * window and a key for reading.
 */
export class Testbed {
  readonly cluster: SimulatedCluster;
  readonly victim: Context;
  readonly adapter: Adapter;
  readonly forge: Forge;
  readonly victimMemory: VictimMemory;

  readonly mainPd: Pd;
  readonly otherPd: Pd;
  readonly guestPd: Pd;
  readonly main: Mr;
  readonly other: Mr;
  /** Of the domain in which the adversary is a guest: only the window opens a part of it; all open, to those with its key; open for reading. */
  readonly hidden: Mr;
  readonly roomy: Mr;
  readonly readable: Mr;
  /** A region that is none any more. */
  readonly gone: { readonly rkey: number; readonly addr: bigint };
  /** Where the victim has READs put what the adversary answers. */
  readonly sink: Mr;
  readonly #inbox: Mr;

  readonly friends: FriendTraffic;
  readonly conversations: Conversations;
  readonly secrets: Secrets;
  /** Connections whose peer has answered neither a SEND nor a READ. */
  readonly sending: TargetQp<Qp>;
  readonly reading: TargetQp<Qp>;

  readonly guest: TargetQp<Qp>;
  readonly guestUc: TargetQp<Qp>;
  readonly guestXrc: TargetQp;
  readonly guestSrq: Srq;
  readonly guestCq: Cq;
  /** Windows that open nothing, on the queue pairs of a friend and of the adversary: keys that their peers could close. */
  readonly friendsWindow: number;
  readonly guestsWindow: number;
  readonly #window: Mw;
  /** The window's key now, and before it was bound the last time. */
  windowRkey = 0;
  lastWindowRkey = 0;

  constructor(readonly choices: Choices) {
    const cluster = new SimulatedCluster({ seed: choices.below(0x7fffffff) });
    this.cluster = cluster;
    this.victim = cluster.open(VICTIM);
    const friend = cluster.open(FRIEND);
    this.adapter = adapterOf(this.victim);
    this.forge = new Forge(cluster.network, VICTIM);
    this.victimMemory = new VictimMemory(choices);
    const { victim, victimMemory } = this;
    this.mainPd = victim.allocPd();
    this.otherPd = victim.allocPd();
    this.guestPd = victim.allocPd();
    this.guestCq = victim.createCq({ cqe: 512 });

    this.main = victimMemory.region(this.mainPd, EVERY_ACCESS);
    this.other = victimMemory.region(this.otherPd, EVERY_ACCESS);
    this.hidden = victimMemory.region(this.guestPd, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
    this.roomy = victimMemory.region(this.guestPd, EVERY_ACCESS);
    this.readable = victimMemory.region(this.guestPd, AccessFlags.REMOTE_READ);
    const gone = victimMemory.region(this.guestPd, EVERY_ACCESS);
    this.gone = { rkey: gone.rkey, addr: gone.addr };
    gone.dereg();
    this.sink = victimMemory.region(this.guestPd, AccessFlags.LOCAL_WRITE);
    this.#inbox = victimMemory.region(this.guestPd, AccessFlags.LOCAL_WRITE);
    victimMemory.publish(this.readable.bytes);
    victimMemory.open(this.hidden.bytes.subarray(WINDOW_OFFSET, WINDOW_OFFSET + WINDOW_BYTES));
    victimMemory.open(this.sink.bytes.subarray(0, ASKED_BYTES));
    victimMemory.open(this.#inbox.bytes.subarray(0, MESSAGE_BYTES));

    this.friends = new FriendTraffic({ victim, friend, pd: this.mainPd, target: this.main, victimMemory, choices });
    this.sending = this.#connected(QpType.RC, this.mainPd, this.friends.cq, SILENT, choices.below(1 << 24));
    this.reading = this.#connected(QpType.RC, this.mainPd, this.friends.cq, SILENT, choices.below(1 << 24));
    const sgList = [this.main.sge(0, ASKED_BYTES)];
    const sendFlags = SendFlags.SIGNALED;
    this.sending.qp.postSend({ opcode: WrOpcode.SEND, sendFlags, sgList });
    this.reading.qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags, sgList, rdma: { remoteAddr: 0n, rkey: 1 } });

    const xrcd = victim.openXrcd();
    this.guestSrq = this.guestPd.createSrq({ srqType: SrqType.XRC, maxWr: 16, xrcd, cq: this.guestCq });
    this.guestSrq.postRecv(this.#receives());
    this.guest = this.#connected(QpType.RC, this.guestPd, this.guestCq, ADVERSARY, GuestQpn.RC);
    this.guestUc = this.#connected(QpType.UC, this.guestPd, this.guestCq, ADVERSARY, GuestQpn.UC);
    this.guestXrc = connectTarget(xrcd.createQp(), ADVERSARY, choices, GuestQpn.XRC);
    this.#window = this.guestPd.allocMw(MwType.TYPE_2);
    this.windowRkey = this.#window.rkey;
    for (const { qp } of [this.guest, this.guestUc]) qp.postRecv(this.#receives());
    this.#bindWindow();
    this.friendsWindow = this.#bindIdle(this.mainPd, this.friends.rc.qp);
    this.guestsWindow = this.#bindIdle(this.guestPd, this.guest.qp);

    this.conversations = new Conversations(victim, this.adapter.cm, {
      friend,
      forge: this.forge,
      choices,
      settle: (us) => this.settle(us),
    });
    this.secrets = new Secrets(this);
    victimMemory.seal();
    this.settle(1000);
    this.friends.exchange(cluster);
  }

  /** Lets that much time pass. */
  settle(us: number): void {
    this.cluster.run(this.cluster.nowUs + us);
  }

  /** The queue pairs that are nobody's but the victim's and its friends'. */
  get friendly(): readonly QpBase[] {
    return [...this.friends.qps, this.sending.qp, this.reading.qp];
  }

  get guests(): readonly TargetQp[] {
    return [this.guest, this.guestUc, this.guestXrc];
  }

  /** Has the victim ask the adversary for some bytes. @returns the PSN of the request */
  askGuest(): number {
    const sgList = [this.sink.sge(0, ASKED_BYTES)];
    this.guest.qp.postSend({ opcode: WrOpcode.RDMA_READ, sgList, rdma: { remoteAddr: 0n, rkey: 1 } });
    this.settle(1);
    return this.#askedPsn;
  }

  /** What the adversary hears: all that the victim sends to it. */
  hear({ from, to, bytes }: SimulatedPacket): void {
    if (from !== VICTIM || to !== ADVERSARY) return;
    const bits = opcodeBits[bytes[0]];
    const psn = bthPsn(bytes, 0);
    if ((bits & OpcodeBit.READ_REQUEST) !== 0) this.#askedPsn = psn;
    if ((bits & OpcodeBit.AETH) === 0 || (bits & OpcodeBit.FIRST) !== 0) return;
    if ((aethSyndrome(bytes, aethOffset[bytes[0]]) & Aeth.KIND_MASK) !== Aeth.ACK) return;
    for (const post of [this.guest, this.guestXrc])
      if (bthDestQp(bytes, 0) === (post === this.guest ? GuestQpn.RC : GuestQpn.XRC)) post.psn = (psn + 1) & PSN_MASK;
  }
  #askedPsn = 0;

  /** Takes the window back. The adversary still has its key. */
  revokeWindow(): void {
    this.lastWindowRkey = this.windowRkey;
    this.guest.qp.postSend({ opcode: WrOpcode.LOCAL_INV, invalidateRkey: this.windowRkey });
    this.settle(1);
  }

  /** Takes the completions of the adversary's own connections. @returns how many there were; there must be one at least */
  collect(): number {
    const taken = this.guestCq.poll(64);
    for (const { qpNum, opcode, status } of taken) {
      if (status !== WcStatus.SUCCESS || (opcode & WcOpcode.RECV) === 0) continue;
      const receives = this.#receives(1);
      if (qpNum === this.guestXrc.qp.qpNum) this.guestSrq.postRecv(receives);
      else (qpNum === this.guest.qp.qpNum ? this.guest : this.guestUc).qp.postRecv(receives);
    }
    return taken.length;
  }

  /** Brings the adversary's own connections back, as far as it has wrecked them. @param anew its reliable one in any case */
  renew(anew = false): void {
    if (anew || this.guest.qp.state !== QpState.RTS) {
      this.#reconnect(this.guest);
      this.guest.qp.postRecv(this.#receives());
      // A queue pair that starts anew keeps the windows that were bound on it.
      if (this.#windowIsOpen) this.revokeWindow();
    }
    if (!this.#windowIsOpen) this.#bindWindow();
    if (this.guestUc.qp.state !== QpState.RTS) {
      this.#reconnect(this.guestUc);
      this.guestUc.qp.postRecv(this.#receives());
    }
    if (this.guestXrc.qp.state !== QpState.RTR) {
      this.guestXrc.qp.modify({ qpState: QpState.RESET });
      this.guestXrc.psn = connectTarget(this.guestXrc.qp, ADVERSARY, this.choices, GuestQpn.XRC).psn;
    }
  }

  /** The number by which the NIC knows a domain of the victim's. */
  static numberOf(pd: Pd): number {
    if (pd instanceof SoftPd) return pd.handle;
    throw new Error('not a domain of a software NIC');
  }

  get #windowIsOpen(): boolean {
    const { memory } = this.adapter.nic;
    return memory.openWhole(this.windowRkey | 0, Testbed.numberOf(this.guestPd), this.guest.qp.qpNum, 0) !== undefined;
  }

  /** Binds the free window under a new key. */
  #bindWindow(): void {
    this.lastWindowRkey = this.windowRkey;
    this.windowRkey = incRkey(this.windowRkey);
    const { REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC } = AccessFlags;
    const bindInfo = {
      mr: this.hidden,
      addr: this.hidden.addr + BigInt(WINDOW_OFFSET),
      length: WINDOW_BYTES,
      mwAccessFlags: REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC,
    };
    this.guest.qp.postSend({ opcode: WrOpcode.BIND_MW, bindMw: { mw: this.#window, rkey: this.windowRkey, bindInfo } });
    this.settle(1);
  }

  #bindIdle(pd: Pd, qp: Qp): number {
    const mr = this.victimMemory.region(pd, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
    const mw = pd.allocMw(MwType.TYPE_2);
    const rkey = incRkey(mw.rkey);
    const bindInfo = { mr, addr: mr.addr, length: mr.length, mwAccessFlags: 0 };
    qp.postSend({ opcode: WrOpcode.BIND_MW, bindMw: { mw, rkey, bindInfo } });
    this.settle(1);
    return rkey;
  }

  #receives(count = GUEST_RECEIVES) {
    return Array.from({ length: count }, () => ({ sgList: [this.#inbox.sge(0, MESSAGE_BYTES)] }));
  }

  #connected(
    qpType: typeof QpType.RC | typeof QpType.UC,
    pd: Pd,
    cq: Cq,
    peer: string,
    peersQpn: number,
  ): TargetQp<Qp> {
    const qp = pd.createQp({ qpType, sendCq: cq, recvCq: cq, cap: CAP });
    const post = { ...connectTarget(qp, peer, this.choices, peersQpn), sqPsn: freshPsn(this.choices) };
    this.#makeReady(post);
    return post;
  }

  #reconnect(post: TargetQp<Qp>): void {
    post.qp.modify({ qpState: QpState.RESET });
    const qpn = post === this.guest ? GuestQpn.RC : GuestQpn.UC;
    post.psn = connectTarget(post.qp, ADVERSARY, this.choices, qpn).psn;
    this.#makeReady(post);
  }

  /** Without a timer: whoever does not answer is waited for, for ever. */
  #makeReady({ qp, sqPsn }: TargetQp<Qp>): void {
    const reliable = { timeout: 0, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 4 };
    qp.modify({ qpState: QpState.RTS, sqPsn, ...(qp.qpType === QpType.RC ? reliable : {}) });
  }
}
