import type { SimulatedPacket } from '../../src/link/index.js';
import {
  Aeth,
  aethMsn,
  aethOffset,
  aethSyndrome,
  bthDestQp,
  bthPsn,
  OpcodeBit,
  opcodeBits,
} from '../../src/wire/index.js';
import { check } from './failure.js';
import type { Flow } from './flow.js';

const ENDS = OpcodeBit.LAST | OpcodeBit.ONLY;
const SYNDROME_KIND = 0xe0;
const SYNDROME_VALUE = 0x1f;

/** What one requester has asked for. */
interface Asked {
  readonly flow: Flow;
  /** PSNs of the packets with which messages end. */
  readonly messages: Set<number>;
}

/** What responders tell on the wire, though nobody here may make use of it: other adapters do (PROTOCOL.md 2.1, 2.4). */
export class WireWatch {
  /** By whom requests go to, and by whom their answers go to. */
  readonly #byResponder = new Map<string, Asked>();
  readonly #byRequester = new Map<string, Asked>();

  add(flow: Flow): void {
    if (!flow.end.rules.reliable) return;
    const asked = { flow, messages: new Set<number>() };
    const { inbound } = flow.peer;
    this.#byResponder.set(key(inbound.host.address, inbound.qpn), asked);
    const { qp } = flow.end;
    this.#byRequester.set(key(qp.host.address, qp.qpn), asked);
  }

  /** A packet leaves its NIC. */
  see({ to, bytes }: SimulatedPacket): void {
    const opcode = bytes[0];
    const bits = opcodeBits[opcode];
    const name = key(to, bthDestQp(bytes, 0));
    if ((bits & OpcodeBit.REQUEST) !== 0) {
      if ((bits & ENDS) !== 0) this.#byResponder.get(name)?.messages.add(bthPsn(bytes, 0));
      return;
    }
    const aeth = aethOffset[opcode];
    const asked = this.#byRequester.get(name);
    if (aeth === 0 || asked === undefined) return;
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
}

function key(address: string, qpn: number): string {
  return `${address} ${String(qpn)}`;
}
