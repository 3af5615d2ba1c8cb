import { QpType, WcOpcode, WcStatus } from '../../../../device/ibta/index.js';
import {
  AccessFlags,
  type Ah,
  alloc,
  type Mr,
  type Pd,
  type Qp,
  type WorkCompletion,
  WrOpcode,
} from '../../../../entry/index.js';
import { check } from '../../../../../test/sim/failure.js';

/** Of a message: who sends it, which of theirs it is, and bytes that both make. */
export const MESSAGE_BYTES = 32;
const GRH_BYTES = 40;
const SLOT_BYTES = 128;
const SLOTS = 1024;
/** Messages that one end may send, and so must be able to receive. */
export const MOST_MESSAGES = 4;
/** Marks the work request of a message that is sent. */
const SENT = 1 << 20;

/** Memory of a host in which messages lie, each in a slot of its own. */
export class MessageMemory {
  readonly #mr: Mr;
  #next = 0;

  constructor(pd: Pd) {
    this.#mr = pd.regMr(alloc(SLOT_BYTES * SLOTS), AccessFlags.LOCAL_WRITE);
  }

  /** Slots are handed out in turn; by the time that one comes again its message is long gone. */
  take(): number {
    const slot = this.#next;
    this.#next = (slot + 1) % SLOTS;
    return slot;
  }

  at(slot: number, offset = 0): Uint8Array {
    const begin = slot * SLOT_BYTES + offset;
    return this.#mr.bytes.subarray(begin, begin + MESSAGE_BYTES);
  }

  sge(slot: number, length: number): ReturnType<Mr['sge']> {
    return this.#mr.sge(slot * SLOT_BYTES, length);
  }

  end(): void {
    this.#mr.dereg();
  }
}

function write(bytes: Uint8Array, sender: number, sequence: number): void {
  bytes.forEach((_, i) => (bytes[i] = (31 * i + 7 * sender + 13 * sequence) & 0xff));
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(0, sender);
  view.setUint32(4, sequence);
}

/** Where the datagrams of a queue pair go. */
export interface Destination {
  readonly ah: Ah;
  readonly remoteQpn: number;
  readonly remoteQkey: number;
}

export class Traffic {
  sent = 0;
  /** Sequence numbers of the messages that came, with who sent them. */
  readonly received: { readonly sender: number; readonly sequence: number }[] = [];
  /** How requests ended that did not succeed. */
  readonly failures: WcStatus[] = [];

  constructor(
    private readonly memory: MessageMemory,
    readonly qp: Qp,
    private readonly sender: number,
    private readonly heard?: (sender: number, sequence: number) => void,
  ) {}

  /** Posts all the receive requests that the queue pair will need. */
  expect(count = MOST_MESSAGES): void {
    const length = MESSAGE_BYTES + (this.qp.qpType === QpType.UD ? GRH_BYTES : 0);
    for (let i = 0; i < count; i += 1) {
      const slot = this.memory.take();
      this.qp.postRecv({ wrId: slot, sgList: [this.memory.sge(slot, length)] });
    }
  }

  send(count: number, ud?: Destination): void {
    for (; this.sent < count; this.sent += 1) {
      const slot = this.memory.take();
      write(this.memory.at(slot), this.sender, this.sent);
      const wr = { wrId: slot | SENT, opcode: WrOpcode.SEND, sgList: [this.memory.sge(slot, MESSAGE_BYTES)] } as const;
      this.qp.postSend(ud === undefined ? wr : { ...wr, ud });
    }
  }

  /** Takes a completion of the queue pair. @throws SimulationFailure for a message that is not as it was sent */
  take({ wrId, status, opcode }: WorkCompletion): void {
    if (status !== WcStatus.SUCCESS) {
      this.failures.push(status);
      return;
    }
    if (opcode !== WcOpcode.RECV) return;
    const datagrams = this.qp.qpType === QpType.UD;
    const bytes = this.memory.at(Number(wrId), datagrams ? GRH_BYTES : 0);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const sender = view.getUint32(0);
    const sequence = view.getUint32(4);
    const expected = new Uint8Array(MESSAGE_BYTES);
    write(expected, sender, sequence);
    check(Buffer.compare(bytes, expected) === 0, () => `a message arrived damaged`);
    const place = this.received.length;
    check(datagrams || sequence === place, () => `message ${sequence} came in the place of message ${place}`);
    this.received.push({ sender, sequence });
    this.heard?.(sender, sequence);
  }
}
