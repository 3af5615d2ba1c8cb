import { invalid, refuse, VerbsError } from '../../../api/verbs/index.js';
import { type PackedRkey, RkeyAccess, unpackRkey } from '../wire/index.js';

/** How the words of a memory are changed: by the adapter, or by messages to its owner. */
export type AtomicsBy = 'device' | 'messages';

/** What peers may do with memory. */
export interface RkeyRights {
  readonly read: boolean;
  readonly write: boolean;
  /** False where there are no atomics. */
  readonly atomics: AtomicsBy | false;
}

export function accessOf({ read, write, atomics }: RkeyRights): number {
  let access = 0;
  if (read) access |= RkeyAccess.READ;
  if (write) access |= RkeyAccess.WRITE;
  if (atomics === 'device') access |= RkeyAccess.ATOMIC;
  if (atomics === 'messages') access |= RkeyAccess.ATOMIC_MESSAGES;
  return access;
}

function rightsOf(access: number): RkeyRights {
  const has = (right: number): boolean => (access & right) !== 0;
  const byDevice = has(RkeyAccess.ATOMIC) ? 'device' : false;
  return {
    read: has(RkeyAccess.READ),
    write: has(RkeyAccess.WRITE),
    atomics: has(RkeyAccess.ATOMIC_MESSAGES) ? 'messages' : byDevice,
  };
}

/** Memory of a peer's, and the right to use it: `ucp_rkey_h`. */
export class UcpRkey implements RkeyRights {
  /** Where the memory begins, at the peer. */
  readonly address: bigint;
  /** Bytes of it. */
  readonly length: number;
  readonly read: boolean;
  readonly write: boolean;
  readonly atomics: AtomicsBy | false;
  readonly #rkey: number;
  readonly #owner: object;

  /** @internal {@link UcpEndpoint.unpackRkey} makes them. */
  constructor(owner: object, { address, length, rkey, access }: PackedRkey) {
    this.address = address;
    this.length = length;
    ({ read: this.read, write: this.write, atomics: this.atomics } = rightsOf(access));
    this.#rkey = rkey;
    this.#owner = owner;
  }

  /** @internal What the transport calls it. */
  get rkey(): number {
    return this.#rkey;
  }

  /** @internal Whether it is a key of whoever that endpoint leads to. */
  isOf(owner: object): boolean {
    return this.#owner === owner;
  }
}

/** @throws VerbsError EINVAL for bytes that are no key */
export function keyFrom(call: string, owner: object, bytes: Uint8Array): UcpRkey {
  const said = unpackRkey(bytes);
  if (typeof said !== 'string') return new UcpRkey(owner, said);
  throw new VerbsError(call, invalid(`these bytes are no key: ${said}`, 'Pass on what packRkey gave, whole'));
}

/** What somebody wants of a peer's memory. */
export interface Wanted {
  /** At the peer. */
  readonly address: bigint;
  readonly length: number;
  readonly right: 'read' | 'write' | 'atomics';
}

/**
 * @returns where that begins, from the beginning of the memory
 * @throws VerbsError EINVAL for a key of another endpoint's and for what is not in its memory, EACCES for what it gives no right to
 */
export function checkRemote(call: string, owner: object, rkey: UcpRkey, { address, length, right }: Wanted): number {
  if (!(rkey instanceof UcpRkey) || !rkey.isOf(owner))
    refuse(call, invalid('the key is of another endpoint', 'Unpack it by the endpoint that is to use it'));
  if (typeof address !== 'bigint')
    refuse(call, invalid('the remote address is no bigint', 'Add to the address of the key'));
  const offset = address - rkey.address;
  if (offset < 0n || offset + BigInt(length) > BigInt(rkey.length)) {
    const what = `${length} bytes at ${address} are not within the ${rkey.length} at ${rkey.address}`;
    refuse(call, invalid(what, 'Stay within the memory of the key'));
  }
  if (rkey[right] !== false) return Number(offset);
  const message = `the key gives no right to ${right === 'atomics' ? 'atomics' : right}`;
  throw new VerbsError(call, { errno: 'EACCES', message, advice: 'Map the memory with that right' });
}
