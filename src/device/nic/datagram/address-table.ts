import { type AhAttr, checkAhAttr } from '../../ibta/index.js';
import type { Path } from '../../wire/index.js';
import { CommandError } from '../command-error.js';
import { pathTo } from '../port/path-to.js';
import type { Port } from '../port/port.js';

export interface AddressHandle {
  /** The QPs that may use it are those of the same domain. */
  readonly pd: number;
  /** The way there, ready to send along. */
  readonly path: Path;
}

/** What fits into a word of a send entry, and is positive there. */
const MAX_HANDLE = 0x7fffffff;
/** The only port of this device. */
const PORT_NUM = 1;

/** The address handles of a NIC (`man ibv_create_ah`). That a domain has one more user is for the caller to note. */
export class AddressTable {
  readonly #handles = new Map<number, AddressHandle>();
  #last = 0;

  constructor(private readonly limits: { readonly maxAh: number }) {}

  get size(): number {
    return this.#handles.size;
  }

  /**
   * Makes a handle; send requests name it by the number returned.
   *
   * @throws CommandError EINVAL for an address that cannot be one on RoCE, for a port or a GID index that is not there
   *   (protocol/services.md 3.9); ENOMEM when there are too many
   */
  create(pd: number, attr: AhAttr, port: Port): number {
    const objection = checkAhAttr(attr);
    if (objection !== undefined) throw new CommandError('EINVAL', objection);
    if (attr.portNum !== PORT_NUM)
      throw new CommandError('EINVAL', `there is no port ${attr.portNum}; this device has port ${PORT_NUM}`);
    const path = pathTo(attr, port);
    if (this.#handles.size >= this.limits.maxAh)
      throw new CommandError('ENOMEM', `no more than ${this.limits.maxAh} address handles`);
    const handle = this.#freshNumber();
    this.#handles.set(handle, { pd, path });
    return handle;
  }

  /** Ends a handle: datagrams that name it and have not left yet will fail. @returns the domain that it was of */
  destroy(handle: number): number {
    const address = this.#handles.get(handle);
    if (address === undefined) throw new CommandError('EINVAL', `there is no address handle ${handle}`);
    this.#handles.delete(handle);
    return address.pd;
  }

  find(handle: number): AddressHandle | undefined {
    return this.#handles.get(handle);
  }

  /** None that was in use a moment ago; a program may make a handle for every message, for days, so they come again. */
  #freshNumber(): number {
    do {
      this.#last = this.#last === MAX_HANDLE ? 1 : this.#last + 1;
    } while (this.#handles.has(this.#last));
    return this.#last;
  }
}
