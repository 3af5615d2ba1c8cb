import { type Gid, ipFromGid } from '../../ibta/index.js';
import { isMulticastGid, type Path } from '../../wire/index.js';
import type { Direction, Medium } from './direction.js';

/** A packet that lies in the arena and waits for the flush. */
interface Pending {
  readonly path: Path;
  readonly offset: number;
  readonly lengthBytes: number;
}

interface SinkOwner {
  readonly address: string;
  readonly gid: Gid;
  readonly maxPacketBytes: number;
  readonly closed: boolean;
}

/** The arena in which a NIC builds packets for a simulated link. It is used anew after each flush. */
export class SimulatedSink {
  readonly bytes: Uint8Array;
  ipId = 0;
  sentPackets = 0;
  sentBytes = 0;

  readonly #pending: Pending[] = [];
  readonly #directions = new WeakMap<Path, Direction>();
  #used = 0;
  #reserved: Pending | undefined;

  constructor(
    private readonly medium: Medium,
    private readonly owner: SinkOwner,
    arenaBytes: number,
  ) {
    this.bytes = new Uint8Array(arenaBytes);
  }

  reserve(path: Path, lengthBytes: number): number {
    if (lengthBytes > this.owner.maxPacketBytes)
      throw new RangeError(`a packet of ${lengthBytes} bytes exceeds the link's ${this.owner.maxPacketBytes}`);
    this.#reserved = undefined;
    if (this.#used + lengthBytes > this.bytes.length) return -1;
    this.#reserved = { path, offset: this.#used, lengthBytes };
    this.ipId = this.medium.hidesIpId ? this.#pending.length & 0xffff : 0;
    return this.#used;
  }

  commit(): void {
    if (this.#reserved === undefined) throw new Error('commit without a reservation');
    this.#pending.push(this.#reserved);
    this.#used += this.#reserved.lengthBytes;
    this.#reserved = undefined;
  }

  /** Puts everything committed on the wire. */
  flush(): void {
    if (this.#pending.length === 0) {
      this.discard();
      return;
    }
    const ipId = this.medium.hidesIpId ? -1 : 0;
    // A script that sees one of them may have this very host send something, in the same arena.
    const batch = this.#pending.map(({ path, offset, lengthBytes }) => ({
      path,
      bytes: this.bytes.slice(offset, offset + lengthBytes),
    }));
    this.discard();
    for (const { path, bytes } of batch) {
      // Or it may have ended the host.
      if (this.owner.closed) break;
      this.sentPackets += 1;
      this.sentBytes += bytes.length;
      const header = {
        ipv6: path.ipv6,
        // The address of the socket, whatever the path claims: nobody can send from another's.
        source: this.owner.gid,
        destination: path.dgid,
        sourcePort: path.sourcePort,
        trafficClass: path.trafficClass,
        hopLimit: path.hopLimit,
        flowLabel: path.flowLabel,
        ipId: path.ipv6 ? 0 : ipId,
      };
      if (isMulticastGid(path.dgid)) this.medium.sendToGroup(this.owner.address, bytes, header);
      else this.medium.send(this.#directionOf(path), bytes, header);
    }
  }

  /** Forgets everything committed. */
  discard(): void {
    this.#pending.length = 0;
    this.#used = 0;
    this.#reserved = undefined;
  }

  #directionOf(path: Path): Direction {
    const known = this.#directions.get(path);
    if (known !== undefined) return known;
    const direction = this.medium.direction(this.owner.address, ipFromGid(path.dgid));
    this.#directions.set(path, direction);
    return direction;
  }
}
