import type { Path } from '../wire/index.js';
import type { PacketSink } from './link.js';

/** Packets built between two flushes: as much as other links take. */
const ARENA_BYTES = 256 * 1024;

export interface ArenaPacket {
  readonly path: Path;
  readonly offset: number;
  readonly lengthBytes: number;
}

/** Packets are built one behind the other in ordinary memory, and wait there for a link that takes them at the flush. */
export class ArenaSink implements PacketSink {
  readonly bytes = new Uint8Array(ARENA_BYTES);
  /** A sender that uses another one seals packets again, or leaves it to the receiver to find out (protocol/packets.md 1.7). */
  readonly ipId = 0;
  readonly pending: ArenaPacket[] = [];
  #end = 0;
  #reserved: ArenaPacket | undefined;

  constructor(private readonly maxPacketBytes: number) {}

  reserve(path: Path, lengthBytes: number): number {
    if (lengthBytes <= 0 || lengthBytes > this.maxPacketBytes) {
      throw new RangeError(`a packet of ${lengthBytes} bytes on a link that carries 1 to ${this.maxPacketBytes}`);
    }
    this.#reserved = undefined;
    if (this.#end + lengthBytes > ARENA_BYTES) return -1;
    this.#reserved = { path, offset: this.#end, lengthBytes };
    return this.#end;
  }

  commit(): void {
    if (this.#reserved === undefined) return;
    this.pending.push(this.#reserved);
    this.#end += this.#reserved.lengthBytes;
    this.#reserved = undefined;
  }

  /** Those that waited are sent, or will never be. */
  discard(): void {
    this.pending.length = 0;
    this.#end = 0;
    this.#reserved = undefined;
  }
}
