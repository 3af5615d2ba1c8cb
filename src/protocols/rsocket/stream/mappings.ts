import { AccessFlags } from '../../../device/ibta/index.js';
import type { Registration, RegistrationCache } from '../../core/index.js';
import { RsocketError } from '../errors.js';
import type { Offers } from '../protocol/index.js';

interface Mapping {
  readonly bytes: Uint8Array;
  readonly index: number;
  readonly registration: Registration;
}

/** Buffers of the program that the peer may write to. */
export class Mappings {
  #mappings: Mapping[] = [];

  constructor(
    private readonly registrations: RegistrationCache,
    private readonly offers: Offers,
  ) {}

  /** @param offset undefined for the address @returns the offset @throws RsocketError ENOMEM; VerbsError as `Pd.regMr` */
  add(bytes: Uint8Array, offset: bigint | undefined): bigint {
    const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
    const registration = this.registrations.remote(bytes, access);
    const { addr, rkey } = registration.mr;
    const begin = offset ?? addr;
    const index = this.offers.add({ offset: begin, span: { addr, key: rkey, length: bytes.length } });
    if (index !== undefined) {
      this.#mappings.push({ bytes, index, registration });
      return begin;
    }
    registration.release();
    const message = "the peer's table of mapped buffers has no entry left";
    throw new RsocketError('riomap', {
      errno: 'ENOMEM',
      message,
      advice: 'Unmap some, or have the peer make a larger table: iomapSize',
    });
  }

  /** @throws RsocketError EINVAL when they are not mapped */
  remove(bytes: Uint8Array): void {
    const { buffer, byteOffset, byteLength } = bytes;
    const found = this.#mappings.find(
      (mapping) =>
        mapping.bytes.buffer === buffer &&
        mapping.bytes.byteOffset === byteOffset &&
        mapping.bytes.byteLength === byteLength,
    );
    if (found === undefined)
      throw new RsocketError('riounmap', {
        errno: 'EINVAL',
        message: 'these bytes are not mapped',
        advice: 'Name exactly what was mapped',
      });
    this.#mappings = this.#mappings.filter((mapping) => mapping !== found);
    this.offers.remove(found.index);
    found.registration.release();
  }

  clear(): void {
    for (const { registration } of this.#mappings.splice(0)) registration.release();
  }
}
