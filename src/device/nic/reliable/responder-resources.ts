import { assert, psnDiff } from '../../ibta/index.js';

/** What a responder remembers of one request that it answered, to answer it again (protocol/reliable.md 2.5). */
export class ResponderResource {
  used = false;
  /** The bit of `OpcodeBit` that names the operation. */
  operation = 0;
  firstPsn = 0;
  packets = 0;
  /** The protection domain whose memory the request may use: a repeat has no other. */
  pd = 0;
  rkey = 0;
  addrHi = 0;
  addrLo = 0;
  lengthBytes = 0;
  /** Of a FLUSH: its placement type and selectivity level. */
  placement = 0;
  selectivity = 0;
  /** The value that an atomic found, big-endian as it goes on the wire. */
  readonly answer = new Uint8Array(8);
  /** Message sequence number of the answer. */
  msn = 0;

  describe(
    operation: number,
    psn: number,
    packets: number,
    pd: number,
    rkey: number,
    addrHi: number,
    addrLo: number,
    lengthBytes: number,
  ): void {
    this.operation = operation;
    this.firstPsn = psn;
    this.packets = packets;
    this.pd = pd;
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
  /** As many as were ever needed, at most as many as may be remembered: most peers ask for nothing. */
  #ring: ResponderResource[] = [];
  #next = 0;
  #capacity = 0;

  reset(capacity: number): void {
    this.#ring = [];
    this.#next = 0;
    this.#capacity = capacity;
  }

  /** Remembers `capacity` from now on, and of those so far the newest. */
  resize(capacity: number): void {
    const size = this.#ring.length;
    const oldestFirst = Array.from({ length: size }, (_, i) => this.#ring[(this.#next + i) % size]);
    this.#ring = oldestFirst.slice(Math.max(0, size - capacity));
    this.#capacity = capacity;
    this.#next = this.#ring.length < capacity ? this.#ring.length : 0;
  }

  take(): ResponderResource {
    assert(this.#next < this.#capacity, 'a request is answered of which none may be outstanding');
    if (this.#next === this.#ring.length) this.#ring.push(new ResponderResource());
    const resource = this.#ring[this.#next];
    this.#next = (this.#next + 1) % this.#capacity;
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
