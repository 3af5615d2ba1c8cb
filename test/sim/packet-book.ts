import type {
  Happening,
  NetworkWatcher,
  SimulatedLink,
  SimulatedNetwork,
  SimulatedPacket,
} from '../../src/device/link/index.js';
import type { PacketReceiver } from '../../src/device/link/link.js';
import {
  Aeth,
  aethOffset,
  aethSyndrome,
  BthFlag,
  Ecn,
  NakCode,
  Opcode,
  OpcodeBit,
  opcodeBits,
  OpcodeService,
} from '../../src/device/wire/index.js';

/**
 * What a packet is to those who count: a request of a reliable service, its answer with data, one of the four kinds of
 * acknowledgement, a packet of UC, one of UD, or a congestion notification.
 */
export type PacketKind =
  | 'request'
  | 'answer'
  | 'ack'
  | 'rnrNak'
  | 'sequenceNak'
  | 'refusal'
  | 'unacknowledged'
  | 'datagram'
  | 'notification';

export type KindCounts = Record<PacketKind, number>;

function noneOfAny(): KindCounts {
  return {
    request: 0,
    answer: 0,
    ack: 0,
    rnrNak: 0,
    sequenceNak: 0,
    refusal: 0,
    unacknowledged: 0,
    datagram: 0,
    notification: 0,
  };
}

const SYNDROME_KIND = 0xe0;
/** The byte of the BTH that no checksum covers, since switches may write to it (protocol/packets.md 1.7). */
const UNCOVERED_BYTE = 4;
const RC_OPCODE = 0x1f;

function kindOf(bytes: Uint8Array): PacketKind {
  const opcode = bytes[0];
  switch (opcode >>> 5) {
    case OpcodeService.UC:
      return 'unacknowledged';
    case OpcodeService.UD:
      return 'datagram';
    case OpcodeService.CNP:
      return 'notification';
  }
  if ((opcodeBits[opcode] & OpcodeBit.REQUEST) !== 0) return 'request';
  if ((opcode & RC_OPCODE) !== Opcode.RC_ACKNOWLEDGE) return 'answer';
  const syndrome = aethSyndrome(bytes, aethOffset[opcode]);
  switch (syndrome & SYNDROME_KIND) {
    case Aeth.ACK & SYNDROME_KIND:
      return 'ack';
    case Aeth.RNR_NAK:
      return 'rnrNak';
  }
  return syndrome === (Aeth.NAK | NakCode.PSN_SEQUENCE_ERROR) ? 'sequenceNak' : 'refusal';
}

/** What passed between one host's NIC and the network. */
export class HostPackets {
  sentPackets = 0;
  sentBytes = 0;
  /** What the NIC was handed, damaged or not. */
  takenPackets = 0;
  takenBytes = 0;
  /** Of these, so many were changed on the way. */
  damaged = 0;
  /** And so many came whole, no notifications, and bore the mark of a queue that is too long. */
  marked = 0;
  readonly sent = noneOfAny();
  readonly taken = noneOfAny();
}

/** Keeps the book of what NICs put on a simulated network, and of what that handed to them: all that it knows it has from the network. */
export class PacketBook implements NetworkWatcher {
  /** Called for each packet that is handed whole to the NIC at `address`. */
  onTaken: ((address: string, bytes: Uint8Array, kind: PacketKind) => void) | undefined;
  readonly #hosts = new Map<string, HostPackets>();
  #last: SimulatedPacket | undefined;
  #copies = false;
  /** Packets of which a damaged copy is under way, as they were sent, by their index. */
  readonly #originals = new Map<number, Uint8Array>();
  /** Damaged ones that have arrived and were not looked at yet. */
  readonly #damaged = new Set<Uint8Array>();

  /** Follows all hosts that are attached to `network` from now on. */
  constructor(network: SimulatedNetwork) {
    network.watcher = this;
    const attach = network.attach.bind(network);
    network.attach = (address, options) => {
      const link = attach(address, options);
      this.#follow(link);
      return link;
    };
    // A NIC sends one packet to a group, whether nobody is in it or many are.
    const sendToGroup = network.sendToGroup.bind(network);
    network.sendToGroup = (from, bytes, header) => {
      this.#count(from, bytes);
      this.#copies = true;
      sendToGroup(from, bytes, header);
      this.#copies = false;
    };
  }

  /** The host that was attached last at an address. */
  of(address: string): HostPackets {
    const found = this.#hosts.get(address);
    if (found === undefined) throw new Error(`nobody was attached at ${address}`);
    return found;
  }

  sent(packet: SimulatedPacket): void {
    if (this.#hosts.has(packet.from)) this.#last = packet;
    if (!this.#copies) this.#count(packet.from, packet.bytes);
  }

  #count(from: string, bytes: Uint8Array): void {
    const host = this.#hosts.get(from);
    if (host === undefined) return;
    host.sentPackets += 1;
    host.sentBytes += bytes.length;
    host.sent[kindOf(bytes)] += 1;
  }

  happened(index: number, what: Happening): void {
    // Chance has its turn within the call that sends.
    if (what === 'corrupted' && this.#last?.index === index) this.#originals.set(index, this.#last.bytes);
  }

  #follow(link: SimulatedLink): void {
    const host = new HostPackets();
    this.#hosts.set(link.address, host);
    const accept = link.accept.bind(link);
    link.accept = (arriving) => {
      const accepted = accept(arriving);
      const original = this.#originals.get(arriving.index);
      // The other copy of one that was doubled is as it was sent.
      if (accepted && original !== undefined && differs(original, arriving.bytes)) this.#damaged.add(arriving.bytes);
      return accepted;
    };
    const receive = link.receive.bind(link);
    let known: PacketReceiver | undefined;
    let between: PacketReceiver | undefined;
    link.receive = (receiver, maxPackets) => {
      if (between === undefined || known !== receiver) between = this.#between(link.address, host, receiver);
      known = receiver;
      return receive(between, maxPackets);
    };
  }

  /** Sees what a receiver takes, before that may change it. */
  #between(address: string, host: HostPackets, receiver: PacketReceiver): PacketReceiver {
    return {
      receive: (bytes, offset, lengthBytes, meta) => {
        host.takenPackets += 1;
        host.takenBytes += lengthBytes;
        if (this.#damaged.size > 0 && this.#damaged.delete(bytes)) {
          host.damaged += 1;
        } else {
          const kind = kindOf(bytes);
          host.taken[kind] += 1;
          if ((meta.trafficClass & Ecn.MASK) === Ecn.CE && kind !== 'notification') host.marked += 1;
          this.onTaken?.(address, bytes, kind);
        }
        receiver.receive(bytes, offset, lengthBytes, meta);
      },
      receiveFrame: (bytes, offset, lengthBytes) => receiver.receiveFrame?.(bytes, offset, lengthBytes),
    };
  }
}

/** Whether two packets differ where that is noticed: a notification has to say in the uncovered byte that it is one. */
function differs(one: Uint8Array, other: Uint8Array): boolean {
  const looked = one[0] === Opcode.CNP ? BthFlag.BECN : 0;
  return one.some((byte, i) => (i === UNCOVERED_BYTE ? ((byte ^ other[i]) & looked) !== 0 : byte !== other[i]));
}
