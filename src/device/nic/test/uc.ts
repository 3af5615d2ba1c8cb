import { Mtu, type QpAttr, QpState, QpType } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import type { QpOptions, TestHost } from './host.js';
import { type Captured, craft, type Crafted, Pair, type PairOptions, World } from './pair.js';
import { ahAttrTo, initAttr, type Peer, type TestQp } from './qp.js';

export interface UcOptions {
  readonly pathMtu?: Mtu;
  readonly sqPsn?: number;
  readonly rqPsn?: number;
  readonly qpAccessFlags?: number;
}

const SQ_PSN = 0x1000;
const RQ_PSN = 0x2000;

export const ucRtrAttr = (peer: Peer, options: UcOptions = {}): Partial<QpAttr> => ({
  qpState: QpState.RTR,
  ahAttr: ahAttrTo(peer.gid),
  pathMtu: options.pathMtu ?? Mtu.MTU_256,
  destQpNum: peer.qpn,
  rqPsn: options.rqPsn ?? RQ_PSN,
});

export function connectUc(qp: TestQp, peer: Peer, options: UcOptions = {}): void {
  qp.modify(initAttr(options));
  qp.modify(ucRtrAttr(peer, options));
  qp.modify({ qpState: QpState.RTS, sqPsn: options.sqPsn ?? SQ_PSN });
}

/** Two hosts, and a UC QP on each that is connected to the other. */
export class UcPair extends Pair {
  readonly sender: TestQp;
  readonly receiver: TestQp;

  constructor(options: UcOptions & { readonly pair?: PairOptions; readonly qp?: QpOptions } = {}) {
    super(options.pair);
    this.sender = this.a.qp({ type: QpType.UC, ...options.qp });
    this.receiver = this.b.qp({ type: QpType.UC, ...options.qp });
    const sqPsn = options.sqPsn ?? SQ_PSN;
    const rqPsn = options.rqPsn ?? RQ_PSN;
    connectUc(this.sender, this.receiver.peer, { ...options, sqPsn, rqPsn });
    connectUc(this.receiver, this.sender.peer, { ...options, sqPsn: rqPsn, rqPsn: sqPsn });
  }

  /** Names of the packets that the sender put on the wire, in order. */
  get sentNames(): string[] {
    return this.fromA().map(({ name }) => name);
  }
}

/** A UC QP of a real NIC whose peer the test plays, with hand-made packets of 256 bytes at most. */
export class UcPuppet extends World {
  readonly local: TestHost;
  readonly qp: TestQp;
  readonly peerAddress = '10.0.0.9';
  readonly peer: Peer;

  constructor(options: UcOptions & { readonly qp?: QpOptions } = {}) {
    super();
    this.local = this.host('10.0.0.1');
    this.peer = { gid: this.network.attach(this.peerAddress).gid, qpn: 0x777 };
    this.qp = this.local.qp({ type: QpType.UC, ...options.qp });
    connectUc(this.qp, this.peer, options);
  }

  /** The peer says something; the NIC acts at once. */
  say(fields: Omit<Crafted, 'destQp'>, from = this.peerAddress): void {
    this.deliver(from, this.local.ip, craft(from, this.local.ip, { destQp: this.qp.qpn, ...fields }));
  }

  first(psn: number, payload: Uint8Array): void {
    this.say({ opcode: Opcode.UC_SEND_FIRST, psn, payload });
  }

  middle(psn: number, payload: Uint8Array): void {
    this.say({ opcode: Opcode.UC_SEND_MIDDLE, psn, payload });
  }

  last(psn: number, payload: Uint8Array): void {
    this.say({ opcode: Opcode.UC_SEND_LAST, psn, payload });
  }

  only(psn: number, payload: Uint8Array): void {
    this.say({ opcode: Opcode.UC_SEND_ONLY, psn, payload });
  }

  /** What the NIC has sent: to a peer of a UC QP, nothing. */
  get heard(): readonly Captured[] {
    return this.wire;
  }

  get counters(): TestHost['nic']['counters'] {
    return this.local.nic.counters;
  }
}
