import { mtuBytes } from '../../src/device/ibta/index.js';
import type { SimulatedPacket } from '../../src/device/link/index.js';
import {
  Aeth,
  aethMsn,
  aethOffset,
  aethSyndrome,
  bthDestQp,
  bthPsn,
  dethOffset,
  dethQkey,
  OpcodeBit,
  opcodeBits,
} from '../../src/device/wire/index.js';
import type { TestHost } from '../../src/device/nic/test/host.js';
import type { TestQp } from '../../src/device/nic/test/qp.js';
import { QKEY } from '../../src/device/nic/test/ud.js';
import { check } from './failure.js';
import type { Flow } from './flow.js';
import type { PacketKind } from './packet-book.js';
import { RequestBook } from './request-book.js';

const ENDS = OpcodeBit.LAST | OpcodeBit.ONLY;
const SYNDROME_KIND = 0xe0;
const SYNDROME_VALUE = 0x1f;

interface Asked {
  readonly flow: Flow;
  readonly messages: Set<number>;
  readonly book: RequestBook;
}

class QueuePairs {
  readonly #hosts = new Map<string, Map<number, Asked>>();

  add({ host, qpn }: TestQp, asked: Asked): void {
    const known = this.#hosts.get(host.address);
    if (known === undefined) this.#hosts.set(host.address, new Map([[qpn, asked]]));
    else known.set(qpn, asked);
  }

  find(address: string, qpn: number): Asked | undefined {
    return this.#hosts.get(address)?.get(qpn);
  }
}

/** What responders tell on the wire, though nobody here may make use of it: other adapters do (protocol/reliable.md 2.1, 2.4). */
export class WireWatch {
  /** By whom requests go to, and by whom their answers go to. */
  readonly #byResponder = new QueuePairs();
  readonly #byRequester = new QueuePairs();
  readonly #all: Asked[] = [];
  readonly #unreliable: Flow[] = [];
  /** Datagrams with another Q_Key than that of all, by the address to which they came. */
  readonly wrongQkeys = new Map<string, number>();

  add(flow: Flow): void {
    if (!flow.end.rules.reliable) {
      this.#unreliable.push(flow);
      return;
    }
    const { plan } = flow.end.connection;
    const book = new RequestBook(flow.end.plan.sqPsn, mtuBytes(plan.pathMtu));
    const asked = { flow, messages: new Set<number>(), book };
    this.#all.push(asked);
    this.#byResponder.add(flow.peer.inbound, asked);
    this.#byRequester.add(flow.end.qp, asked);
  }

  see({ to, bytes }: SimulatedPacket): void {
    const opcode = bytes[0];
    const bits = opcodeBits[opcode];
    const qpn = bthDestQp(bytes, 0);
    if ((bits & OpcodeBit.REQUEST) !== 0) {
      const asked = this.#byResponder.find(to, qpn);
      asked?.book.sent(bytes);
      if ((bits & ENDS) !== 0) asked?.messages.add(bthPsn(bytes, 0));
      return;
    }
    const aeth = aethOffset[opcode];
    const asked = aeth === 0 ? undefined : this.#byRequester.find(to, qpn);
    if (asked === undefined) return;
    const { flow, messages } = asked;
    const what = `an answer to QP 0x${flow.end.qp.qpn.toString(16)}`;
    const msn = aethMsn(bytes, aeth);
    check(
      msn <= messages.size,
      () => `${what} has message sequence number ${String(msn)} after ${String(messages.size)} messages`,
    );
    const syndrome = aethSyndrome(bytes, aeth);
    const { minRnrTimer } = flow.end.plan;
    check(
      (syndrome & SYNDROME_KIND) !== Aeth.RNR_NAK || (syndrome & SYNDROME_VALUE) === minRnrTimer,
      () => `${what} asks for time by RNR timer code ${String(syndrome & SYNDROME_VALUE)}, not ${String(minRnrTimer)}`,
    );
  }

  /** A packet comes whole to the NIC at `address`. */
  take(address: string, bytes: Uint8Array, kind: PacketKind): void {
    if (kind === 'request') {
      this.#byResponder.find(address, bthDestQp(bytes, 0))?.book.taken(bytes);
    } else if (kind === 'datagram' && dethQkey(bytes, dethOffset[bytes[0]]) !== (QKEY | 0)) {
      this.wrongQkeys.set(address, (this.wrongQkeys.get(address) ?? 0) + 1);
    }
  }

  /** What the reliable requesters of a host have sent, and what was sent to its responders. */
  requestsOf(host: TestHost): RequestBook[] {
    return this.#all.filter(({ flow }) => flow.end.qp.host === host).map(({ book }) => book);
  }

  requestsTo(host: TestHost): RequestBook[] {
    return this.#all.filter(({ flow }) => flow.peer.inbound.host === host).map(({ book }) => book);
  }

  /** WRITEs of UC to this host that were to be refused. */
  misdirectedTo(host: TestHost): number {
    const there = this.#unreliable.filter(({ peer, end }) => peer.qp.host === host && !end.rules.datagrams);
    return there.reduce((sum, { misdirected }) => sum + misdirected, 0);
  }
}
