import { type Family, familyOf, isGroup, isLoopback, plainAddress } from '../../../device/wire/index.js';
import { runtime } from '../../runtime/index.js';
import { currentProvider, openDevice, openedDevices } from '../../provider/index.js';
import {
  type Context,
  type FieldsOf,
  fieldsProblem,
  invalid,
  isList,
  listProblem,
  openingFields,
  type OpenOptions,
  refuse,
  VerbsError,
} from '../../verbs/index.js';
import { dispatcherOf } from '../events/dispatcher.js';

/** Which devices somebody may use. */
export interface DeviceChoice {
  /**
   * The devices that identifiers may use. Default: those that the program has through rdma_cm, opened when they are first
   * needed (`getDevices`).
   */
  readonly contexts?: readonly Context[];
  /**
   * How devices are opened that are not there yet. Where neither this nor VERBENA_HOST says where the NIC runs, it is `auto`:
   * inline, with a stand-in. A program whose memory peers must reach while it computes says `{ host: 'thread' }`.
   */
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
}

export const choiceFields: FieldsOf<DeviceChoice> = { contexts: true, open: true };

const LOOPBACK = { 4: '127.0.0.1', 6: '::1' } as const;

/** Devices that were opened because a program used rdma_cm, first come first. They stay open, as librdmacm's do. */
const opened: Context[] = [];

export function isUp(context: Context): boolean {
  try {
    return dispatcherOf(context, 'rdma_get_devices').lost === undefined;
  } catch {
    // The program has closed it, which it need not, but may.
    return false;
  }
}

function devicesUp(): readonly Context[] {
  const up = opened.filter(isUp);
  opened.splice(0, opened.length, ...up);
  return up;
}

/** The address that VERBENA_ADDR says; undefined when it says nothing, or nothing that is one. */
function addressAskedFor(): string | undefined {
  try {
    return plainAddress(runtime().environment('VERBENA_ADDR') ?? '');
  } catch {
    // Opening a device will say what is wrong with it.
    return undefined;
  }
}

function isAddressAskedFor(): boolean {
  return (runtime().environment('VERBENA_ADDR') ?? '') !== '';
}

/**
 * Programs that connect await their peers: they get an inline NIC with a stand-in, unless the program, or VERBENA_HOST, says where the
 * NIC runs.
 */
function hosted(how: OpenOptions): OpenOptions {
  const isSaid = how.host !== undefined || (runtime().environment('VERBENA_HOST') ?? '') !== '';
  return isSaid ? how : { ...how, host: 'auto' };
}

function open(address: string | undefined, how: OpenOptions = {}): Context {
  const choice = hosted(how);
  const context = openDevice(address === undefined ? choice : { ...choice, address });
  opened.push(context);
  return context;
}

/** The devices of the program: those of rdma_cm, then those that it has opened otherwise; one at each address. */
function programDevices(): readonly Context[] {
  const byAddress = new Map<string, Context>();
  for (const context of [...devicesUp(), ...openedDevices().filter(isUp)]) {
    const address = plainAddress(context.address);
    if (!byAddress.has(address)) byAddress.set(address, context);
  }
  return [...byAddress.values()];
}

function findAt(address: string | undefined): Context | undefined {
  return programDevices().find((context) => plainAddress(context.address) === address);
}

/** The device that is at an address, opened when there is none. */
function deviceAt(address: string, how?: OpenOptions): Context {
  return findAt(address) ?? open(address, how);
}

/** Counts a device that the program has opened otherwise among those of rdma_cm. */
function adopt(context: Context): void {
  if (!opened.includes(context)) opened.push(context);
}

/** The device that VERBENA_ADDR asks for. */
function deviceAskedFor(how?: OpenOptions): Context {
  return findAt(addressAskedFor()) ?? open(undefined, how);
}

function isTaken(error: unknown): boolean {
  return error instanceof VerbsError && (error.errno === 'EADDRINUSE' || error.errno === 'EADDRNOTAVAIL');
}

/** Opens a device at the first address that is free: `first`, then any other of this machine. */
function openFree(first: string, how?: OpenOptions): Context {
  const family = familyOf(first);
  const others = currentProvider()
    .addresses()
    .map(({ address }) => address);
  const fitting = others.filter((address) => familyOf(address) === family && !address.startsWith('fe80:'));
  // On IPv4 loopback there are millions of addresses, and the device itself finds one that is free.
  const candidates = family === 4 && isLoopback(first) ? [] : [...new Set([first, ...fitting])];
  for (const address of candidates) {
    try {
      return deviceAt(address, how);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  if (family === 4) return open(undefined, how);
  throw new VerbsError('rdma_resolve_addr', {
    errno: 'EADDRINUSE',
    message: `all IPv6 addresses of this machine are taken by other devices (${candidates.join(', ')})`,
    advice: 'Add one, as root: ip -6 addr add fd00:7::2/128 dev lo',
  });
}

/**
 * What a program on a simulated host may use is what that host has, unless the program says otherwise. Whoever awaits something
 * before it opens a device asks before that: not every runtime knows afterwards whose program it is.
 */
export function choiceHere(choice: DeviceChoice): DeviceChoice {
  const contexts = choice.contexts === undefined ? currentProvider().fixedDevices() : undefined;
  return contexts === undefined ? choice : { contexts };
}

/** The versions of IP that a wildcard address stands for, the preferred one first. */
export type Families = readonly [Family, Family?];

/** The program's default device: the one that VERBENA_ADDR says, else one on loopback. */
function ownDefault(families: Families, how?: OpenOptions): Context {
  if (isAddressAskedFor()) {
    const device = deviceAskedFor(how);
    if (families.includes(familyOf(device.address))) return device;
  }
  const [family, other] = families;
  const isLocal = ({ address }: Context): boolean => familyOf(address) === family && isLoopback(address);
  try {
    return findAt(LOOPBACK[family]) ?? devicesUp().find(isLocal) ?? openFree(LOOPBACK[family], how);
  } catch (error) {
    // Not every machine has IPv6.
    if (other === undefined || !isTaken(error)) throw error;
    return ownDefault([other], how);
  }
}

/** Whether a device at `address` can talk to `destination`, as far as addresses tell. */
function canReach({ address, host }: Context, destination: string): boolean {
  if (familyOf(address) !== familyOf(destination)) return false;
  if (host === 'simulated' || isGroup(destination)) return true;
  if (isLoopback(address) || isLoopback(destination))
    // The one loopback address of IPv6 may be another program's: then any address of this machine does.
    return isLoopback(address) ? isHere(destination) : familyOf(address) === 6 && isHere(address);
  return true;
}

function isHere(address: string): boolean {
  return (
    isLoopback(address) ||
    currentProvider()
      .addresses()
      .some((own) => own.address === address)
  );
}

function noDevice(call: string, message: string, advice: string): VerbsError {
  return new VerbsError(call, { errno: 'ENODEV', message, advice });
}

/**
 * The device that has an address, opened when it is this machine's.
 *
 * @throws VerbsError EADDRNOTAVAIL when none of the devices to choose from has it, or this machine does not have it; EADDRINUSE
 *   when another program's device has it
 */
export function deviceWithAddress(call: string, choice: DeviceChoice, address: string): Context {
  const { contexts, open: how } = choiceHere(choice);
  if (contexts !== undefined) {
    const found = contexts.find((context) => plainAddress(context.address) === address);
    if (found !== undefined) return found;
    const there = contexts.map((context) => context.address).join(', ');
    throw new VerbsError(call, {
      errno: 'EADDRNOTAVAIL',
      message: `no device of this program has address ${address}; its devices are at ${there}`,
      advice: 'Name one of these addresses, or the wildcard 0.0.0.0',
    });
  }
  try {
    return deviceAt(address, how);
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    if (error.errno === 'EADDRNOTAVAIL') {
      const message = `this machine does not have address ${address}`;
      throw new VerbsError(call, { errno: error.errno, message, advice: 'Bind to one of its own, or to any' });
    }
    // Its sentence says what to do as well.
    throw new VerbsError(call, { errno: error.errno, message: error.message, advice: '' }, { cause: error });
  }
}

/**
 * Whether a loopback address stands for the program itself, as in Linux: where devices were given beforehand and none of them is on
 * loopback. Where one is, 127.0.0.1 may be another program's.
 */
export function standsForAny(choice: DeviceChoice, address: string): boolean {
  const { contexts } = choiceHere(choice);
  return contexts !== undefined && isLoopback(address) && !contexts.some((context) => isLoopback(context.address));
}

/**
 * The devices that a wildcard stands for: all of the choice whose addresses are of these families. Where devices are opened as
 * needed, the program's default device is opened if no device is there.
 *
 * @throws VerbsError as `openDevice`
 */
export function devicesOfFamilies(choice: DeviceChoice, families: Families): readonly Context[] {
  const { contexts, open: how } = choiceHere(choice);
  const fits = ({ address }: Context): boolean => families.includes(familyOf(address));
  if (contexts !== undefined) return contexts.filter(fits);
  // Peers look for the program there first.
  const first = ownDefault(families, how);
  return [first, ...programDevices().filter((context) => context !== first && fits(context))];
}

/** The device that stands for the program itself: what `0.0.0.0` or `::` is as a destination. @throws VerbsError ENODEV */
export function defaultDevice(call: string, choice: DeviceChoice, family: Family): Context {
  const { contexts, open: how } = choiceHere(choice);
  if (contexts === undefined) return ownDefault([family], how);
  const found = contexts.find(({ address }) => familyOf(address) === family);
  if (found === undefined) throw noDevice(call, `no device has an IPv${family} address`, '');
  return found;
}

/** The device that can talk to a destination. @throws VerbsError ENODEV, EHOSTUNREACH, EADDRINUSE */
export function deviceToward(call: string, choice: DeviceChoice, destination: string): Context {
  const { contexts, open: how } = choiceHere(choice);
  if (contexts !== undefined) {
    // The one at that very address talks to itself as well.
    const found = contexts.find((context) => canReach(context, destination));
    if (found !== undefined) return found;
    const there = contexts.map(({ address }) => address).join(', ');
    throw noDevice(call, `no device can reach ${destination}`, `There are devices at ${there}`);
  }
  if (isAddressAskedFor()) {
    const device = deviceAskedFor(how);
    if (canReach(device, destination)) return device;
    throw noDevice(call, `the device at ${device.address} cannot reach ${destination}`, 'Look at VERBENA_ADDR');
  }
  if (isGroup(destination)) return ownDefault([familyOf(destination)], how);
  if (isLoopback(destination)) {
    const there = devicesUp().find((context) => canReach(context, destination));
    return there ?? openFree(destination, how);
  }
  const source = currentProvider().sourceToward(destination);
  if (source === undefined)
    throw new VerbsError(call, { errno: 'EHOSTUNREACH', message: `no route leads to ${destination}`, advice: '' });
  // A peer on this machine has the address that packets to it leave from; ours is then another one.
  if (source === destination)
    return devicesUp().find((context) => canReach(context, destination)) ?? openFree(source, how);
  return deviceAt(source, how);
}

/** What a program gave as devices. @throws VerbsError EINVAL when they are none */
export function checkedDevices(call: string, { contexts, open: how }: DeviceChoice): DeviceChoice {
  if (how !== undefined) refuse(call, fieldsProblem('open', how, openingFields));
  const opening = how === undefined ? {} : { open: how };
  if (contexts === undefined) return opening;
  refuse(call, listProblem('contexts', contexts));
  if (!isList(contexts) || contexts.length === 0)
    throw new VerbsError(call, invalid('contexts is empty', 'Leave it out for the devices of rdma_cm'));
  for (const context of contexts) dispatcherOf(context, call);
  return { ...opening, contexts: [...contexts] };
}

/**
 * The devices that the program has through rdma_cm (`rdma_get_devices`), which stay open until it ends. When it has none
 * yet, its default device is opened: the one that VERBENA_ADDR says, else one on loopback.
 *
 * @throws VerbsError as `openDevice`
 */
export function getDevices(): readonly Context[] {
  const fixed = currentProvider().fixedDevices();
  if (fixed !== undefined) return fixed;
  if (devicesUp().length === 0) adopt(ownDefault([4, 6]));
  return [...opened];
}
