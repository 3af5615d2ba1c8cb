import { Errno, type QpAttr, Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../spec/index.js';
import type { SendingHalf } from '../halves.js';
import { SendWqe } from '../layout.js';
import { type NicCore, Served } from '../nic-core.js';
import type { QueuePair } from '../queue-pair.js';
import { type CompletionNames, UnacknowledgedQueue } from '../unreliable/send-queue.js';

/** An Ethernet header: two addresses and a type. What is shorter is no frame. */
const ETHERNET_HEADER_BYTES = 14;
/** The longest frame of any link: an IP packet, an Ethernet header, and two VLAN tags. */
const MAX_FRAME_BYTES = 65535 + ETHERNET_HEADER_BYTES + 8;

/** Between two attempts to hand over a frame: some 1500 bytes at 100 Mb/s. */
const WIRE_WAIT_US = 100;

const names: CompletionNames = (() => {
  const table: { wcOpcode: number }[] = [];
  table[WrOpcode.SEND] = { wcOpcode: WcOpcode.SEND };
  return table;
})();

/** Where a frame is put together: it leaves within the call, so that all QPs can share the place. */
const scratch = { frame: new Uint8Array(0) };

/** The requester of a raw packet QP: each request is a whole Ethernet frame (PROTOCOL.md 1.2). */
export class RawRequester implements SendingHalf {
  /** A frame leaves at once or not at all. */
  readonly busy = false;
  readonly #queue: UnacknowledgedQueue;

  constructor(
    private readonly qp: QueuePair,
    private readonly core: NicCore,
  ) {
    this.#queue = new UnacknowledgedQueue(qp, core, names);
    if (scratch.frame.length === 0) scratch.frame = new Uint8Array(MAX_FRAME_BYTES);
  }

  start(): void {
    this.#queue.start();
  }

  onAttributes(changes: Partial<QpAttr>): void {
    this.#queue.onAttributes(changes);
  }

  limitRate(rateKbps: number, maxBurstBytes: number, typicalPacketBytes: number): void {
    this.#queue.limitRate(rateKbps, maxBurstBytes, typicalPacketBytes);
  }

  transmit(budget: number): Served {
    const { qp } = this;
    const { sq } = qp;
    let served: Served = Served.MORE;
    for (let left = budget; left > 0 && served === Served.MORE; left -= 1)
      served = qp.mayStart && sq.has(sq.head) ? this.#send(sq.entry(sq.head)) : Served.IDLE;
    sq.publish();
    return served;
  }

  onResponse(): void {
    this.core.counters.rxUnexpectedResponse += 1;
  }

  onTimer(): void {
    this.#queue.onTimer();
  }

  flush(cause: Syndrome): void {
    this.#queue.flush(cause);
  }

  reset(): void {
    this.#queue.reset();
  }

  #send(entry: number): Served {
    const { qp, core } = this;
    const { counters } = core;
    const { frame } = scratch;
    const queue = this.#queue;
    if (names[qp.sq.words[entry + SendWqe.CONTROL] & 0xff] === undefined) {
      queue.refuse(entry);
      return Served.IDLE;
    }
    if (!queue.measure(entry, MAX_FRAME_BYTES)) return Served.IDLE;
    const length = queue.lengthBytes;
    if (length < ETHERNET_HEADER_BYTES) {
      queue.refuse(entry);
      return Served.IDLE;
    }
    if (!queue.mayLeave() || !queue.gather(entry, 0, frame, 0, length)) return Served.IDLE;
    const errno = core.sendFrame(frame, 0, length);
    if (errno === Errno.EAGAIN || errno === Errno.ENOBUFS) {
      // The interface is behind: as on an adapter, the send queue waits for the wire.
      core.timers.arm(qp.timerId, core.nowUs + WIRE_WAIT_US);
      return Served.IDLE;
    }
    if (errno !== 0) {
      counters.sendErr += 1;
      queue.failWith(WcStatus.GENERAL_ERR, Syndrome.LINK_REFUSED, length, errno);
      return Served.IDLE;
    }
    counters.sentPkts += 1;
    counters.sentBytes += length;
    queue.spend(length);
    queue.succeed(length);
    return Served.MORE;
  }
}
