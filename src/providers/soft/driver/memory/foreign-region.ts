import { AccessFlags } from '../../../../device/ibta/index.js';
import type { ForeignMemory } from '../../../../device/nic/index.js';
import {
  type Address,
  defaultIova,
  type DeviceMemory,
  DeviceMemoryBase,
  invalid,
  iovaProblem,
  isAddress,
  type Mr,
  type MrChange,
  pieceOfRegionProblem,
  refuse,
  type RegistrableMemory,
  reregProblem,
  Resource,
  type Sge,
  unsupported,
  VerbsError,
} from '../../../../api/verbs/index.js';
import type { MemoryRef } from '../../../../device/adapter/index.js';
import { type OpenDevice, domainOf, type OwnPd } from '../context-base.js';
import { SUPPORTED_ACCESS } from '../device-facts.js';
import { Hold } from './memory-region.js';

const NO_BYTES = new Uint8Array(0);
const REREG = 'ibv_rereg_mr';

/** Memory that is no bytes of the program, as a driver registers it. */
export interface Elsewhere {
  readonly memory: MemoryRef;
  readonly lengthBytes: number;
  /** Where it begins; undefined where only whoever registers it knows. */
  readonly address?: bigint;
  /** What has it, and cannot be ended meanwhile. */
  readonly owner?: DeviceMemoryBase;
}

/**
 * As the driver registers memory of a device.
 *
 * @throws VerbsError EINVAL when that was given back; EOPNOTSUPP for access that its device cannot give; EIO when that fails
 */
export function onDevice(call: string, memory: DeviceMemoryBase, access: number): Elsewhere {
  if (memory.destroyed) refuse(call, invalid('the memory was given back to its device', 'Register it before'));
  refuse(call, memory.accessProblem(access));
  const { length, address } = memory;
  const place = memory.placeFor(call, access);
  return { memory: { kind: 'device', place }, lengthBytes: length, address, owner: memory };
}

export function elsewhere(memory: ForeignMemory): Elsewhere {
  return { memory: { kind: 'foreign', memory }, lengthBytes: memory.lengthBytes };
}

/** A region of foreign memory: the program of the driver has none of its bytes at hand. */
export class ForeignMr extends Resource implements Mr {
  readonly context: OpenDevice;
  readonly lkey: number;
  readonly rkey: number;
  readonly bytes = NO_BYTES;
  access: number;
  iova: bigint;

  readonly #handle: number;
  #pd: OwnPd;
  #place: Elsewhere;
  #hold: Hold;
  #ownerHold: Hold | undefined;

  constructor(pd: OwnPd, place: Elsewhere, access: number, iova: Address) {
    const { context } = pd;
    const { memory } = place;
    const keys = context.command('ibv_reg_mr', 'regMr', { pd: pd.handle, memory, iova: BigInt(iova), access });
    super('ibv_dereg_mr', [context]);
    this.context = context;
    this.lkey = keys.lkey;
    this.rkey = keys.rkey;
    this.access = access;
    this.iova = BigInt(iova);
    this.#handle = keys.handle;
    this.#pd = pd;
    this.#place = place;
    this.#hold = new Hold(pd, () => this.label);
    this.#ownerHold = this.#holdOwner(place);
    this.abandoned = () => this.#letGo();
  }

  get pd(): OwnPd {
    return this.#pd;
  }

  /** What has the memory, where that is a device's. */
  get #owner(): DeviceMemoryBase | undefined {
    return this.#place.owner;
  }

  get length(): number {
    return this.#place.lengthBytes;
  }

  /** Where nobody says where it really lies, what it is named by. */
  get addr(): bigint {
    return this.#place.address ?? this.iova;
  }

  sge(offset = 0, length = this.length - offset): Sge {
    this.assertAlive('mr.sge');
    refuse('mr.sge', pieceOfRegionProblem(offset, length, this.length));
    return { addr: this.iova + BigInt(offset), length, lkey: this.lkey };
  }

  rereg(change: MrChange): void {
    this.assertAlive(REREG);
    refuse(REREG, reregProblem(change, SUPPORTED_ACCESS));
    const { context } = this;
    const pd = change.pd === undefined ? this.#pd : domainOf(REREG, context, change.pd);
    const access = change.access ?? this.access;
    const memory = change.memory ?? (change.access === undefined ? undefined : this.#owner);
    const place = memory === undefined ? this.#place : this.#placeOf(memory, access);
    const named = change.iova ?? this.#keptIova(place, access);
    const { address = isAddress(named) ? BigInt(named) : 0n } = place;
    refuse(REREG, iovaProblem(named, address, place.lengthBytes, access));
    const iova = BigInt(named);
    const moved = place === this.#place ? {} : { memory: place.memory };
    context.command(REREG, 'reregMr', { handle: this.#handle, pd: pd.handle, access, iova, ...moved });
    this.access = access;
    this.iova = iova;
    if (place !== this.#place) {
      this.#ownerHold?.letGo();
      this.#ownerHold = this.#holdOwner(place);
      this.#place = place;
    }
    if (pd === this.#pd) return;
    this.#hold.letGo();
    this.#pd = pd;
    this.#hold = new Hold(pd, () => this.label);
  }

  dereg(): void {
    this.end();
  }

  protected get label(): string {
    return `MR 0x${this.lkey.toString(16)} of ${this.length} bytes elsewhere`;
  }

  protected release(): void {
    this.context.endCommand('ibv_dereg_mr', 'deregMr', this.#handle);
    this.#letGo();
  }

  /** Where other memory is that it can have: a device's, if it has such. */
  #placeOf(memory: RegistrableMemory | DeviceMemory, access: number): Elsewhere {
    if (this.#owner !== undefined && memory instanceof DeviceMemoryBase) return onDevice(REREG, memory, access);
    const advice = 'Register that as a region of its own';
    throw new VerbsError(REREG, unsupported(`${this.label} cannot get such memory in place of its own`, advice));
  }

  /** What goes on to name the first byte, where the program does not say. */
  #keptIova(place: Elsewhere, access: number): Address {
    if ((access & AccessFlags.ZERO_BASED) !== 0) return 0;
    const { address } = this.#place;
    // Named as it lies, it is named so again.
    return place.address !== undefined && this.iova === defaultIova(address ?? 0n, this.access)
      ? place.address
      : this.iova;
  }

  #holdOwner({ owner }: Elsewhere): Hold | undefined {
    return owner === undefined ? undefined : new Hold(owner, () => this.label);
  }

  #letGo(): void {
    this.#hold.letGo();
    this.#ownerHold?.letGo();
  }
}
