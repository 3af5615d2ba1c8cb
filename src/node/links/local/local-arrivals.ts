/** The end of a ring where packets come out. What the other end may write at any time is read once, and checked. */
import type { PacketReceiver } from '../../../device/link/index.js';
import { BTH_BYTES, opcodeHeaderBytes, OpcodeService, PacketMeta } from '../../../device/wire/index.js';
import { releaseFile, SharedMapping } from '../../system/index.js';
import {
  ENOUGH_ROOM_BYTES,
  Entry,
  entryBytes,
  LARGE_SEGMENT_BYTES,
  RING_BYTES,
  ringOffset,
  Slot,
  SlotState,
  slotWord,
} from './local-layout.js';
import type { Neighbour } from './local-neighbour.js';

/** More than all headers of a packet together (protocol/packets.md 1.3). */
const HEADER_BYTES = 64;
/** Up to so many, words are copied one by one. */
const LOOP_BYTES = 256;
const MAX_PACKET_BYTES = LARGE_SEGMENT_BYTES + HEADER_BYTES;
/**
 * What is handed over at a time, before the sender gets its room back and, from the NIC, an acknowledgement: with more it
 * would wait for us, and we for it, in turns.
 */
const BATCH_BYTES = 64 * 1024;
/** Room that is given back together: to say so takes as long as to look at a short packet, and the ring is much longer. */
const RETURNED_BYTES = 32 * 1024;

/** How much of a packet with this opcode is copied, whatever it says when it is looked at again. */
function copiedBytes(opcode: number): number {
  const service = opcode >>> 5;
  if (service !== OpcodeService.RC && service !== OpcodeService.XRC) return MAX_PACKET_BYTES;
  return Math.max(BTH_BYTES, opcodeHeaderBytes[opcode]);
}

/** Where packets are looked at: no sender can change what is here. One for all rings of a link. */
export class Scratch {
  readonly words = new Int32Array((MAX_PACKET_BYTES + HEADER_BYTES) >> 2);
  readonly bytes = new Uint8Array(this.words.buffer);
  readonly meta = new PacketMeta();
}

export class LocalArrivals {
  packets = 0;
  /** The sender does not keep to the rules, and nothing more is taken from it. */
  corrupt = false;

  readonly #ring: SharedMapping;
  readonly #at: number;
  #consumer = 0;
  #returned = 0;
  #open = true;

  /** @throws SystemCallError */
  constructor(
    private readonly control: Int32Array,
    private readonly fd: number,
    readonly slot: number,
    readonly state: number,
    readonly from: Neighbour | undefined,
    private readonly source: Int32Array,
    private readonly scratch: Scratch,
    /** Whether packets are to be in one piece, as whoever records them wants them. */
    private readonly whole: boolean,
    private readonly wake: (neighbour: Neighbour) => void,
  ) {
    this.#ring = new SharedMapping(fd, ringOffset(slot), RING_BYTES);
    this.#at = slotWord(slot);
  }

  get isEmpty(): boolean {
    return this.corrupt || Atomics.load(this.control, this.#at + Slot.PRODUCER) === this.#consumer;
  }

  /** Hands over what has come. @returns how many packets */
  receive(receiver: PacketReceiver, maxPackets: number): number {
    let consumer = this.#consumer;
    // A plain look first: mostly there is nothing.
    if (this.control[this.#at + Slot.PRODUCER] === consumer || this.corrupt) return 0;
    const producer = Atomics.load(this.control, this.#at + Slot.PRODUCER);
    const { words } = this.#ring;
    const { meta } = this.scratch;
    let left = (producer - consumer) | 0;
    if (left < 0 || left > RING_BYTES) return this.#spoil();
    this.#describeSource(meta);
    let packets = 0;
    const enough = left - BATCH_BYTES;
    while (left > 0 && left > enough && packets < maxPackets) {
      const place = consumer & (RING_BYTES - 1);
      const word = place >> 2;
      const length = words[word + Entry.LENGTH];
      if (length === Entry.REST) {
        left -= RING_BYTES - place;
        consumer = (consumer + RING_BYTES - place) | 0;
        if (left < 0) return this.#spoil();
        continue;
      }
      const size = entryBytes(length);
      if (length <= 0 || length > MAX_PACKET_BYTES || size > left || place + size > RING_BYTES) return this.#spoil();
      const fields = words[word + Entry.FIELDS];
      meta.trafficClass = fields & 0xff;
      meta.hopLimit = (fields >>> 8) & 0xff;
      meta.flowLabel = words[word + Entry.FLOW_LABEL] & 0xfffff;
      meta.segmentBytes = (fields & Entry.LARGE) === 0 ? 0 : LARGE_SEGMENT_BYTES;
      this.#deliver(receiver, place + Entry.BYTES, length, meta);
      packets += 1;
      left -= size;
      consumer = (consumer + size) | 0;
      // A receiver may have closed the link.
      if (!this.#open) return packets;
    }
    this.#consumer = consumer;
    if (((consumer - this.#returned) | 0) >= RETURNED_BYTES) {
      this.#returned = consumer;
      Atomics.store(this.control, this.#at + Slot.CONSUMER, consumer);
      if (RING_BYTES - left >= ENOUGH_ROOM_BYTES) this.#tell();
    }
    this.packets += packets;
    return packets;
  }

  #tell(): void {
    const { control, from } = this;
    const waiting = this.#at + Slot.WAITING;
    if (Atomics.load(control, waiting) === 0 || Atomics.exchange(control, waiting, 0) === 0) return;
    if (from?.isClosed === false && from.takeSleep()) this.wake(from);
  }

  #describeSource(meta: PacketMeta): void {
    const { source } = this;
    const { sourceWords } = meta;
    meta.way = this.from?.way ?? 0;
    for (let i = 0; i < 4; i += 1) sourceWords[i] = source[i];
  }

  /**
   * Headers are copied, so that nothing changes between a check and the use of what was checked. The payload, which in
   * reliable services nobody checks, stays where it is.
   */
  #deliver(receiver: PacketReceiver, offset: number, length: number, meta: PacketMeta): void {
    const { scratch } = this;
    const { words, bytes } = this.#ring;
    const from = offset >> 2;
    const first = words[from];
    const copied = this.whole ? length : Math.min(length, copiedBytes(first & 0xff));
    if (copied <= LOOP_BYTES) {
      const to = scratch.words;
      // Read once: how much is copied, and what is made of it, depend on the same opcode.
      to[0] = first;
      for (let i = 1, end = (copied + 3) >> 2; i < end; i += 1) to[i] = words[from + i];
    } else {
      scratch.bytes.set(bytes.subarray(offset, offset + copied));
    }
    const apart = copied < length;
    meta.payload = apart ? bytes : undefined;
    meta.payloadShift = apart ? offset : 0;
    receiver.receive(scratch.bytes, 0, length, meta);
  }

  #spoil(): number {
    this.corrupt = true;
    return 0;
  }

  /** Lets go of the ring, and frees the slot for others. Idempotent. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#ring.close();
    releaseFile(this.fd, ringOffset(this.slot), RING_BYTES);
    const state = Atomics.load(this.control, this.#at + Slot.STATE);
    // Unless somebody else has it by now, which would be against the rules.
    if (state >>> SlotState.BITS === this.state >>> SlotState.BITS)
      Atomics.compareExchange(this.control, this.#at + Slot.STATE, state, SlotState.FREE);
  }
}
