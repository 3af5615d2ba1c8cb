import type { LinkConditions } from './conditions.js';
import type { SeededRandom } from './random.js';
import type { PacketHeader } from './packet.js';

/** One direction between two hosts, or the last hop to one of them: its conditions, and how far its serialiser and its last packet have come. */
export class Direction {
  #busyUntilUs = 0;
  #lastArrivalUs = 0;
  #losing = false;

  constructor(
    readonly from: string,
    readonly to: string,
    public conditions: LinkConditions,
  ) {}

  /** When the last bit of a packet sent now leaves, or -1 when the queue has no room for it. */
  serialise(nowUs: number, bytes: number): number {
    const { bandwidthBytesPerUs, queueLimitBytes } = this.conditions;
    if (bandwidthBytesPerUs === Infinity) return nowUs;
    const startUs = Math.max(nowUs, this.#busyUntilUs);
    if ((startUs - nowUs) * bandwidthBytesPerUs + bytes > queueLimitBytes) return -1;
    this.#busyUntilUs = startUs + bytes / bandwidthBytesPerUs;
    return this.#busyUntilUs;
  }

  /** Whether more waits for its turn than should. */
  isLong(nowUs: number): boolean {
    const { bandwidthBytesPerUs, markAboveBytes } = this.conditions;
    return markAboveBytes !== Infinity && (this.#busyUntilUs - nowUs) * bandwidthBytesPerUs > markAboveBytes;
  }

  /** Whether the next packet is lost. Bursts begin and end by chance (Gilbert's model), such that the average is kept. */
  loses(random: SeededRandom): boolean {
    const { loss, lossBurstPackets } = this.conditions;
    if (lossBurstPackets === 0 || loss === 0 || loss === 1) return random.chance(loss);
    const end = 1 / Math.max(1, lossBurstPackets);
    this.#losing = this.#losing ? !random.chance(end) : random.chance((end * loss) / (1 - loss));
    return this.#losing;
  }

  /** When a packet that left at `departureUs` arrives, behind all that left before it. */
  arrival(departureUs: number, random: SeededRandom): number {
    const { delayUs, jitterUs } = this.conditions;
    const jitter = jitterUs > 0 ? random.fraction() * jitterUs : 0;
    this.#lastArrivalUs = Math.max(this.#lastArrivalUs, departureUs + delayUs + jitter);
    return this.#lastArrivalUs;
  }

  /** The same for a packet that strays: nothing waits for it. */
  straying(departureUs: number, extraUs: number): number {
    return departureUs + this.conditions.delayUs + extraUs;
  }
}

/** A host's end of the simulated network, as the network knows it. */
export interface Station {
  /** The host's address, as IP text. */
  readonly address: string;
  readonly mac: Uint8Array;
}

/** What a host's end asks of the simulated network that it is attached to. */
export interface Medium {
  /** Whether receivers do not see the IPv4 identification. */
  readonly hidesIpId: boolean;
  direction(from: string, to: string): Direction;
  /** Puts a packet on the wire. `bytes` becomes the network's own. */
  send(direction: Direction, bytes: Uint8Array, header: PacketHeader): void;
  /** Sends to each host that is in the group now, the sender included, a packet of its own. */
  sendToGroup(from: string, bytes: Uint8Array, header: PacketHeader): void;
  /** Sends a frame to one host, or to all others. `bytes` becomes the network's own. */
  sendFrame(sender: Station, bytes: Uint8Array): void;
  /** Takes the host at `address` off the network. */
  detach(address: string): void;
  enterGroup(group: string, member: Station): void;
  leaveGroup(group: string, member: Station): void;
}
