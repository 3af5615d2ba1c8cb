import type { Direction } from './direction.js';
import type { PacketHeader } from './packet.js';

/** A host's end of the simulated network, as the network knows it. */
export interface Station {
  /** The host's address, as IP text. */
  readonly address: string;
  /** Its address on the Ethernet. */
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
