import { Errno, Syndrome, WcOpcode, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { NicCore } from '../nic-core.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { TransmitResult } from '../queue-pairs/turns.js';
import { SendWqe } from '../rings/layout.js';
import type { CompletionNames } from '../unreliable/send-queue.js';
import { SinglePacketRequester } from '../unreliable/single-packet-requester.js';

/** An Ethernet header: two addresses and a type. What is shorter is not a frame. */
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

/** The requester of a raw packet QP: each request is a whole Ethernet frame (protocol/packets.md 1.2). */
export class RawRequester extends SinglePacketRequester {
  constructor(qp: QpContext, core: NicCore) {
    super(qp, core, names);
    if (scratch.frame.length === 0) scratch.frame = new Uint8Array(MAX_FRAME_BYTES);
  }

  protected send(entry: number): TransmitResult {
    const { qp, core } = this;
    const { counters } = core;
    const { frame } = scratch;
    const { queue } = this;
    if (names[qp.sq.words[entry + SendWqe.CONTROL] & 0xff] === undefined) {
      queue.refuse(entry);
      return TransmitResult.IDLE;
    }
    if (!queue.measure(entry, MAX_FRAME_BYTES)) return TransmitResult.IDLE;
    const length = queue.lengthBytes;
    if (length < ETHERNET_HEADER_BYTES) {
      queue.refuse(entry);
      return TransmitResult.IDLE;
    }
    if (!queue.mayLeave() || !queue.gather(entry, 0, frame, 0, length)) return TransmitResult.IDLE;
    const errno = core.sendFrame(frame, 0, length);
    if (errno === Errno.EAGAIN || errno === Errno.ENOBUFS) {
      // The interface is behind: as on an adapter, the send queue waits for the wire.
      core.timers.arm(qp.timerId, core.nowUs + WIRE_WAIT_US);
      return TransmitResult.IDLE;
    }
    if (errno !== 0) {
      counters.sendErr += 1;
      queue.failWith(WcStatus.GENERAL_ERR, Syndrome.LINK_REFUSED, length, errno);
      return TransmitResult.IDLE;
    }
    counters.sentPkts += 1;
    counters.sentBytes += length;
    queue.spend(length);
    queue.succeed(length);
    return TransmitResult.MORE;
  }
}
