import { type AhAttr, checkAhAttr } from '../../spec/index.js';
import type { Path } from '../../wire/index.js';
import { CommandError } from '../command-error.js';
import { pathTo } from '../path-to.js';
import type { Port } from '../port.js';

/** Where datagrams go. */
export interface AddressHandle {
  /** The QPs that may use it are those of the same domain. */
  readonly pd: number;
  /** The way there, ready to send along. */
  readonly path: Path;
}

/** The only port of this device. */
const PORT_NUM = 1;

/** The address handles of a NIC (`man ibv_create_ah`). That a domain has one more user is for the caller to note. */
export class AddressTable {
  readonly #handles = new Map<number, AddressHandle>();
  /** Numbers that can be given again: a program may make a handle for every message, for days. */
  readonly #free: number[] = [];
  #next = 1;

  constructor(private readonly limits: { readonly maxAh: number }) {}

  /**
   * Makes a handle; send requests name it by the number returned.
   *
   * @throws CommandError EINVAL for an address that cannot be one on RoCE, for a port or a GID index that is not there
   *   (PROTOCOL.md 3.9); ENOMEM when there are too many
   */
  create(pd: number, attr: AhAttr, port: Port): number {
    const objection = checkAhAttr(attr);
    if (objection !== undefined) throw new CommandError('EINVAL', objection);
    if (attr.portNum !== PORT_NUM)
      throw new CommandError('EINVAL', `there is no port ${attr.portNum}; this device has port ${PORT_NUM}`);
    const path = pathTo(attr, port);
    if (this.#handles.size >= this.limits.maxAh)
      throw new CommandError('ENOMEM', `no more than ${this.limits.maxAh} address handles`);
    const handle = this.#free.shift() ?? this.#next++;
    this.#handles.set(handle, { pd, path });
    return handle;
  }

  /** Ends a handle: datagrams that name it and have not left yet will fail. @returns the domain that it was of */
  destroy(handle: number): number {
    const address = this.#handles.get(handle);
    if (address === undefined) throw new CommandError('EINVAL', `there is no address handle ${handle}`);
    this.#handles.delete(handle);
    this.#free.push(handle);
    return address.pd;
  }

  find(handle: number): AddressHandle | undefined {
    return this.#handles.get(handle);
  }
}
