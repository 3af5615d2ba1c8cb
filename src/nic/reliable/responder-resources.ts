import { psnDiff } from '../../spec/index.js';

/** What a responder remembers of one request that it answered, to answer it again (PROTOCOL.md 2.5). */
export class ResponderResource {
  used = false;
  /** The bit of `OpcodeBit` that names the operation. */
  operation = 0;
  firstPsn = 0;
  packets = 0;
  rkey = 0;
  addrHi = 0;
  addrLo = 0;
  lengthBytes = 0;
  /** The value that an atomic found, big-endian as it goes on the wire. */
  readonly answer = new Uint8Array(8);
  /** Message sequence number of the answer. */
  msn = 0;

  describe(
    operation: number,
    psn: number,
    packets: number,
    rkey: number,
    addrHi: number,
    addrLo: number,
    lengthBytes: number,
  ): void {
    this.operation = operation;
    this.firstPsn = psn;
    this.packets = packets;
    this.rkey = rkey;
    this.addrHi = addrHi;
    this.addrLo = addrLo;
    this.lengthBytes = lengthBytes;
  }

  covers(psn: number): boolean {
    const distance = psnDiff(psn, this.firstPsn);
    return this.used && distance >= 0 && distance < this.packets;
  }
}

/** The last `max_dest_rd_atomic` answered requests of a QP; a newer one takes the place of the oldest. */
export class ResponderResources {
  #ring: ResponderResource[] = [];
  #next = 0;

  reset(count: number): void {
    this.#ring = Array.from({ length: count }, () => new ResponderResource());
    this.#next = 0;
  }

  /** Remembers `count` from now on, and of those so far the newest. */
  resize(count: number): void {
    const size = this.#ring.length;
    const newestFirst = Array.from({ length: size }, (_, i) => this.#ring[(this.#next + size - 1 - i) % size]);
    const kept = newestFirst.slice(0, count).reverse();
    const fresh = Array.from({ length: count - kept.length }, () => new ResponderResource());
    this.#ring = [...fresh, ...kept];
    this.#next = 0;
  }

  take(): ResponderResource {
    const resource = this.#ring[this.#next];
    this.#next = (this.#next + 1) % this.#ring.length;
    resource.used = true;
    return resource;
  }

  /** The newest that covers `psn`: one from before the PSNs went round may still be remembered. */
  find(psn: number): ResponderResource | undefined {
    const size = this.#ring.length;
    for (let age = 1; age <= size; age += 1) {
      const resource = this.#ring[(this.#next + size - age) % size];
      if (resource.covers(psn)) return resource;
    }
    return undefined;
  }
}
