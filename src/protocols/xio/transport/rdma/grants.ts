import { AccessFlags } from '../../../../device/ibta/index.js';
import { alloc, secretBytes } from '../../../../api/provider/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import type { Engine, Registration } from '../../../core/index.js';
import { type Access, PLACE_BYTES } from '../../wire/index.js';
import type { LinkGrant } from '../link.js';
import type { BodyMemory, Shared } from './body-memory.js';

/** Bytes of a seal: whoever reads these behind what it has done knows that it was still allowed. */
export const SEAL_BYTES = 8;
/** Grants of a link at a time; what is granted beyond that goes by messages. */
const SEALS = 512;

/** {@link LinkGrant.place}, read. */
export interface GrantedPlace {
  readonly address: bigint;
  readonly rkey: number;
  readonly length: number;
  readonly sealAddress: bigint;
  readonly sealRkey: number;
  readonly seal: Uint8Array;
}

/** As bytes: address 8, length 8, R_Key 4, R_Key of the seal 4, its address 8, the seal 8, zeros 8. */
function encodePlace({ address, rkey, length, sealAddress, sealRkey, seal }: GrantedPlace): Uint8Array {
  const bytes = new Uint8Array(PLACE_BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, address);
  view.setBigUint64(8, BigInt(length));
  view.setUint32(16, rkey);
  view.setUint32(20, sealRkey);
  view.setBigUint64(24, sealAddress);
  bytes.set(seal, 32);
  return bytes;
}

export function decodePlace(bytes: Uint8Array): GrantedPlace {
  const view = new DataView(bytes.buffer, bytes.byteOffset, PLACE_BYTES);
  return {
    address: view.getBigUint64(0),
    length: Number(view.getBigUint64(8)),
    rkey: view.getUint32(16),
    sealRkey: view.getUint32(20),
    sealAddress: view.getBigUint64(24),
    seal: bytes.slice(32, 32 + SEAL_BYTES),
  };
}

/**
 * Memory that the peer uses when it likes. Beside each there is a seal, which the peer READs after what it does: revoking breaks the seal first, so that whoever finds it
 * whole was there before. Then the memory is moved away under the key, so that nothing of what is under way fails, and with it the link.
 */
export class LinkGrants {
  #seals: { readonly bytes: Uint8Array; readonly registration: Registration } | undefined;
  readonly #free: number[] = [];

  constructor(
    private readonly engine: Engine,
    private readonly memory: BodyMemory,
  ) {}

  /** Undefined where this memory cannot be registered, or there are too many. */
  grant(bytes: Uint8Array, access: Access): LinkGrant | undefined {
    if (bytes.byteLength === 0) return undefined;
    const seals = this.#sealed();
    const slot = this.#free.pop();
    if (seals === undefined || slot === undefined) return undefined;
    const shared = this.memory.grant(bytes, access);
    if (shared === undefined) {
      this.#free.push(slot);
      return undefined;
    }
    const place = seals.bytes.subarray(slot * SEAL_BYTES, (slot + 1) * SEAL_BYTES);
    const seal = secretBytes(SEAL_BYTES);
    place.set(seal);
    const { registration } = seals;
    const encoded = encodePlace({
      ...shared.place,
      sealAddress: BigInt(registration.addr + slot * SEAL_BYTES),
      sealRkey: registration.mr.rkey,
      seal,
    });
    return new Granted(shared, encoded, place, () => this.#free.push(slot));
  }

  end(): void {
    this.#seals?.registration.release();
    this.#seals = undefined;
    this.#free.length = 0;
  }

  #sealed() {
    if (this.#seals !== undefined) return this.#seals;
    try {
      const bytes = alloc(SEALS * SEAL_BYTES);
      this.#seals = { bytes, registration: this.engine.registrations.remote(bytes, AccessFlags.REMOTE_READ) };
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      return undefined;
    }
    for (let slot = SEALS - 1; slot >= 0; slot -= 1) this.#free.push(slot);
    return this.#seals;
  }
}

class Granted implements LinkGrant {
  #isRevoked = false;
  #isReleased = false;

  constructor(
    private readonly shared: Shared,
    readonly place: Uint8Array,
    private readonly seal: Uint8Array,
    private readonly onReleased: () => void,
  ) {}

  revoke(): void {
    if (this.#isRevoked) return;
    this.#isRevoked = true;
    // In this order: what is done under a seal that is whole was done to the program's memory.
    this.seal.fill(0);
    this.shared.takeBack();
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#isRevoked = true;
    this.seal.fill(0);
    this.shared.release();
    this.onReleased();
  }
}
