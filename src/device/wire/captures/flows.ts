/** Numbers for the flows of a capture: packets of the same addresses, destination queue pair and service. */
import { ipFromGid } from '../../ibta/index.js';
import { getU32 } from '../bytes.js';

/** Words of a flow: source, destination, queue pair, service. */
const WORDS = 10;
const QPN = 8;
const SERVICE = 9;
const IPV4_PREFIX = 0xffff;
const GID_BYTES = 16;

/** Gives each flow a number, from 0 on. */
export class FlowTable {
  #words = new Int32Array(WORDS * 64);
  /** Number + 1 by hash; 0 = free. Twice as many as there are flows, at least; a power of two. */
  #slots = new Int32Array(256);
  #size = 0;
  readonly #key = new Int32Array(WORDS);
  readonly #addresses = new Map<string, string>();
  readonly #sources: string[] = [];
  readonly #destinations: string[] = [];

  /** How many flows there are. */
  get size(): number {
    return this.#size;
  }

  /**
   * The number of a flow.
   *
   * @param ip where the IP header is, with both addresses
   * @param service the upper three bits of the opcode
   */
  numberOf(bytes: Uint8Array, ip: number, ipv6: boolean, qpn: number, service: number): number {
    const key = this.#key;
    if (ipv6) for (let i = 0; i < QPN; i += 1) key[i] = getU32(bytes, ip + 8 + 4 * i);
    else {
      key[0] = 0;
      key[1] = 0;
      key[2] = IPV4_PREFIX;
      key[3] = getU32(bytes, ip + 12);
      key[4] = 0;
      key[5] = 0;
      key[6] = IPV4_PREFIX;
      key[7] = getU32(bytes, ip + 16);
    }
    key[QPN] = qpn;
    key[SERVICE] = service;
    const slot = this.#slotOf(key);
    return this.#slots[slot] === 0 ? this.#add(slot) : this.#slots[slot] - 1;
  }

  /** The sender's address. */
  source(flow: number): string {
    return (this.#sources[flow] ??= this.#address(flow * WORDS));
  }

  /** The receiver's address. */
  destination(flow: number): string {
    return (this.#destinations[flow] ??= this.#address(flow * WORDS + 4));
  }

  /** The destination queue pair. */
  qpn(flow: number): number {
    return this.#words[flow * WORDS + QPN];
  }

  /** A value of `OpcodeService`, if it is a known one. */
  service(flow: number): number {
    return this.#words[flow * WORDS + SERVICE];
  }

  #slotOf(key: Int32Array): number {
    let hash = 0;
    for (let i = 0; i < WORDS; i += 1) hash = Math.imul(hash ^ key[i], 0x9e3779b1) ^ (hash >>> 15);
    const mask = this.#slots.length - 1;
    let slot = (hash ^ (hash >>> 16)) & mask;
    for (;;) {
      const found = this.#slots[slot];
      if (found === 0 || this.#isAt(found - 1, key)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isAt(flow: number, key: Int32Array): boolean {
    const words = this.#words;
    const at = flow * WORDS;
    for (let i = WORDS - 1; i >= 0; i -= 1) if (words[at + i] !== key[i]) return false;
    return true;
  }

  #add(slot: number): number {
    const flow = this.#size;
    this.#size += 1;
    if (this.#words.length < this.#size * WORDS) {
      const words = new Int32Array(2 * this.#words.length);
      words.set(this.#words);
      this.#words = words;
    }
    this.#words.set(this.#key, flow * WORDS);
    this.#slots[slot] = this.#size;
    if (2 * this.#size > this.#slots.length) this.#rehash();
    return flow;
  }

  #rehash(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let flow = 0; flow < this.#size; flow += 1) {
      const key = this.#words.subarray(flow * WORDS, (flow + 1) * WORDS);
      this.#slots[this.#slotOf(key)] = flow + 1;
    }
  }

  /** Flows of the same hosts share one text. */
  #address(at: number): string {
    const key = this.#words.subarray(at, at + 4).join();
    const known = this.#addresses.get(key);
    if (known !== undefined) return known;
    const gid = new Uint8Array(GID_BYTES);
    const view = new DataView(gid.buffer);
    for (let i = 0; i < 4; i += 1) view.setInt32(4 * i, this.#words[at + i]);
    const text = ipFromGid(gid);
    this.#addresses.set(key, text);
    return text;
  }
}
