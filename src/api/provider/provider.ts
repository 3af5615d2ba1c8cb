import type { CmCommandTable, CmEvent } from '../../device/cm/index.js';
import type { Gid } from '../../device/ibta/index.js';
import type { DatagramPort, DatagramPortOptions, EventFollower, Following, Life } from '../runtime/index.js';
import {
  type CompChannel,
  type Context,
  type Cq,
  type Device,
  invalid,
  type OpenOptions,
  VerbsError,
  type WorkCompletion,
} from '../verbs/index.js';

/** An address of the machine that a program runs on. */
export interface OwnAddress {
  readonly address: string;
  /** Name of the interface. */
  readonly via: string;
  /** Leading bits that its network shares. */
  readonly bits: number;
}

/** What gives a program its devices: the machine below it, or a host of a simulation. */
export interface Provider {
  /** Every device that there is (`ibv_get_device_list`). */
  deviceList(): readonly Device[];
  /** Opens the first of them. @throws VerbsError as `Device.open` */
  open(options: OpenOptions): Context;
  /** The devices that rdma_cm may use, where nobody opens others: one at least. Undefined where they are opened as needed. */
  fixedDevices(): readonly [Context, ...Context[]] | undefined;
  /** Addresses of the machine, as far as they are its own rather than a device's. */
  addresses(): readonly OwnAddress[];
  /** The address that packets to `destination` leave from; undefined when no route leads there. */
  sourceToward(destination: string): string | undefined;
  /**
   * Addresses of a host by its name.
   *
   * @throws (the promise rejects) VerbsError ENOENT when nobody knows the name, EAGAIN when nobody answers who may know it
   */
  lookup(call: string, name: string, family: 4 | 6 | undefined): Promise<readonly string[]>;
  /** 32 random bits from the seed of a simulation; absent on a machine. */
  readonly secretWord?: (() => number) | undefined;
}

export type CmVerb = keyof CmCommandTable;
export type CmArgument<V extends CmVerb> = CmCommandTable[V][0];
export type CmValue<V extends CmVerb> = CmCommandTable[V][1];

/** The connection manager of an open device, as rdma_cm sees it. */
export interface CmDevice {
  readonly gid: Gid;
  /** Has the connection manager execute a command. @throws VerbsError bearing that C name when it is refused */
  execute<V extends CmVerb>(call: string, verb: V, argument: CmArgument<V>): CmValue<V>;
  /** What has happened since this was last asked. @throws VerbsError EINVAL when the device was closed */
  takeEvents(): readonly CmEvent[];
  /** @throws VerbsError EIO when the device has died: nothing comes of it any more */
  requireWorking(): void;
  /**
   * Blocks the thread until there may be events, or for about so long.
   *
   * @throws VerbsError EIO when the device has died, ETIMEDOUT when nothing is left to happen in a simulation
   */
  wait(timeoutUs: number): void;
  /**
   * Calls `listener` from the event loop when there may be events, or the device was closed. Keeps the process alive until
   * what is returned ends, or is not referenced.
   */
  listen(listener: () => void): Life;
  /** µs on the clock that timeouts are counted by. */
  nowUs(): number;
}

/** What layers above the verbs ask of a provider's objects, under a name that no program meets by chance. */
export const cmDevice: unique symbol = Symbol('verbena.cmDevice');
export const startTimer: unique symbol = Symbol('verbena.startTimer');
export const startChore: unique symbol = Symbol('verbena.startChore');
export const startTurn: unique symbol = Symbol('verbena.startTurn');
export const datagramPort: unique symbol = Symbol('verbena.datagramPort');
export const hasOwnThread: unique symbol = Symbol('verbena.hasOwnThread');
export const followEvents: unique symbol = Symbol('verbena.followEvents');
export const unreadCount: unique symbol = Symbol('verbena.unreadCount');
export const unreadWrId: unique symbol = Symbol('verbena.unreadWrId');
export const pollAwaited: unique symbol = Symbol('verbena.pollAwaited');
export const startPollAwaited: unique symbol = Symbol('verbena.startPollAwaited');
export const lookupName: unique symbol = Symbol('verbena.lookupName');
export const seededWord: unique symbol = Symbol('verbena.seededWord');

/** A device as its provider makes it, beside the verbs. */
export interface ProvidedContext extends Context {
  /** @throws VerbsError EINVAL when the device was closed */
  [cmDevice](call: string): CmDevice;
  /** Calls `action` after so many ms of the device's own time; undefined where that is the event loop's. */
  [startTimer](delayMs: number, action: () => void): (() => void) | undefined;
  /** As {@link startTimer}, for what nobody waits for: where time is virtual, none passes because of it alone. */
  [startChore](delayMs: number, action: () => void): (() => void) | undefined;
  /**
   * Calls `action` in the next turn of the event loop, as a program of the device's host; no virtual time passes before. After a crash of
   * the host nothing is called.
   */
  [startTurn](action: () => void): void;
  /** Opens a UDP port of the host that the device is in; undefined where that is the machine. @throws VerbsError EADDRINUSE */
  [datagramPort](call: string, options: DatagramPortOptions): DatagramPort | undefined;
  /** As {@link Provider.lookup}, on the host that the device is in; undefined where that is the machine. */
  readonly [lookupName]: Provider['lookup'] | undefined;
  /** 32 random bits from the seed of the simulation that the device is in; undefined where that is the machine. */
  readonly [seededWord]: (() => number) | undefined;
  /** Whether the NIC is in a thread of its own. */
  readonly [hasOwnThread]: boolean;
}

/** What somebody who follows a channel is in for. */
export interface ChannelFollowing extends Following {
  /** Has whoever waits for the channel in the event loop keep the process alive, as at first, or not. */
  reference(isReferenced: boolean): void;
}

/** A completion channel as its provider makes it. */
export interface ProvidedCompChannel extends CompChannel {
  /** Gives every event to a follower, from the event loop. @throws VerbsError EINVAL when the channel was destroyed */
  [followEvents](follower: EventFollower<Cq>): ChannelFollowing;
}

/** A completion queue as its provider makes it. Properties, not methods: the bundler of declarations loses names of computed methods. */
export interface ProvidedCq extends Cq {
  /** Entries that no poll has given back. Reading it takes none of them, and no virtual time passes. */
  readonly [unreadCount]: number;
  /** `wrIdNumber` of one of those entries. @param index from 0, the oldest, up to {@link unreadCount} - 1 */
  readonly [unreadWrId]: (index: number) => number;
  /** As `poll(1)`, for a caller that then awaits an event: a poll that finds nothing lets no virtual time pass. */
  readonly [pollAwaited]: () => WorkCompletion | undefined;
  /** As `startPoll`, for such a caller. */
  readonly [startPollAwaited]: () => boolean;
}

function isProvided(context: object): context is ProvidedContext {
  return cmDevice in context;
}

/** The same context, as its provider made it. @throws VerbsError EINVAL for what no provider has made */
export function providedContext(context: Context, call: string): ProvidedContext {
  if (isProvided(context)) return context;
  throw new VerbsError(
    call,
    invalid('that is not a device of this package', 'openDevice and SimulatedCluster.open give them'),
  );
}

/** The connection manager of a device. @throws VerbsError EINVAL when the device was closed, or no provider has made it */
export function cmDeviceOf(context: Context, call: string): CmDevice {
  return providedContext(context, call)[cmDevice](call);
}

/**
 * Gives the events of a channel to a follower from the event loop, which keeps the process alive until it stops.
 *
 * @throws VerbsError EINVAL when the channel was destroyed, or no provider has made it
 */
export function followCompChannel(channel: CompChannel, follower: EventFollower<Cq>): ChannelFollowing {
  const isOurs = (object: object): object is ProvidedCompChannel => followEvents in object;
  if (isOurs(channel)) return channel[followEvents](follower);
  throw new VerbsError(
    'ibv_get_cq_event',
    invalid('that is not a channel of this package', 'createCompChannel makes them'),
  );
}

/** The same completion queue, as its provider made it. @throws VerbsError EINVAL for a queue that no provider has made */
export function providedCq(cq: Cq, call: string): ProvidedCq {
  const isOurs = (object: object): object is ProvidedCq => startPollAwaited in object;
  if (isOurs(cq)) return cq;
  throw new VerbsError(call, invalid('that is not a queue of this package', 'createCq makes them'));
}
