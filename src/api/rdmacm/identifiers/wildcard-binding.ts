import type { PortSpace } from '../../../device/ibta/index.js';
import { familyOf, plainAddress } from '../../../device/wire/index.js';
import { type Context, VerbsError } from '../../verbs/index.js';
import { type DeviceChoice, devicesOfFamilies, type Families, isUp } from '../addresses/devices.js';
import { checkWildcards, enterWildcard, type Wildcard, type WildcardHolder } from '../addresses/wildcard.js';
import { type Dispatcher, dispatcherOf, type EventTarget } from '../events/dispatcher.js';
import type { EventQueue } from '../events/event-queue.js';

/** How often a port is looked for that is free on all devices. */
const PORT_TRIES = 64;
/** Linux's range of ports for programs that ask for none in particular. */
const FIRST_EPHEMERAL = 32_768;
const EPHEMERAL_PORTS = 28_232;

interface Owner extends EventTarget {
  readonly portSpace: PortSpace;
  readonly devices: DeviceChoice;
  readonly options: { readonly reuseAddr: boolean };
  readonly queue: EventQueue;
}

/**
 * The port of an identifier that is bound to a wildcard address. A wildcard belongs to no device: the identifier has the port,
 * and later listens, on every device of the program, and on devices that the program opens later (Linux: `cma_listen_on_all`,
 * `cma_add_one`).
 */
export class WildcardBinding implements WildcardHolder {
  port = 0;
  families: Families;
  readonly host: string;
  readonly #numbers = new Map<Dispatcher, number>();
  #backlog: number | undefined;
  #leave: (() => void) | undefined;

  constructor(
    private readonly owner: Owner,
    { host, families }: Wildcard,
  ) {
    this.host = host;
    this.families = families;
  }

  get portSpace(): PortSpace {
    return this.owner.portSpace;
  }

  get devices(): DeviceChoice {
    return this.owner.devices;
  }

  /** Whether others that say the same may have the port: none once it listens. */
  get isShared(): boolean {
    return this.owner.options.reuseAddr && this.#backlog === undefined;
  }

  get dispatchers(): readonly Dispatcher[] {
    return [...this.#numbers.keys()];
  }

  /** The device that stands for the wildcard where one device is needed. */
  get preferred(): Dispatcher | undefined {
    const { dispatchers, families } = this;
    return dispatchers.find(({ context }) => familyOf(context.address) === families[0]) ?? dispatchers.at(0);
  }

  numberOn(dispatcher: Dispatcher | undefined): number | undefined {
    return dispatcher && this.#numbers.get(dispatcher);
  }

  /** Takes the port on every device; any that is free on all of them for 0. @throws VerbsError EADDRINUSE, or as `openDevice` */
  bind(call: string, port: number): void {
    const contexts = devicesOfFamilies(this.devices, this.families);
    for (let tries = 1; this.#leave === undefined; tries += 1) {
      try {
        this.#bindOn(call, contexts, port);
        checkWildcards(call, this);
        this.#leave = enterWildcard(this);
      } catch (error) {
        this.release();
        const isTaken = error instanceof VerbsError && error.errno === 'EADDRINUSE';
        if (port !== 0 || !isTaken || tries === PORT_TRIES) throw error;
      }
    }
  }

  /** Listens on every device. @throws VerbsError EADDRINUSE when another identifier has the port on one of them */
  listen(call: string, backlog: number): void {
    this.#backlog = backlog;
    try {
      checkWildcards(call, this);
      for (const dispatcher of this.dispatchers) this.#listenOn(call, dispatcher, backlog);
    } catch (error) {
      this.#backlog = undefined;
      for (const dispatcher of this.dispatchers) this.#end(dispatcher);
      const contexts = devicesOfFamilies(this.devices, this.families);
      this.#bindOn(call, contexts, this.port);
      throw error;
    }
  }

  /** Sets for which versions of IP it is. @throws VerbsError EADDRINUSE when another identifier has the port there */
  setFamilies(call: string, families: Families): void {
    const before = this.families;
    this.families = families;
    try {
      checkWildcards(call, this);
      for (const context of devicesOfFamilies(this.devices, families)) this.#add(call, context);
    } catch (error) {
      this.families = before;
      throw error;
    }
    for (const dispatcher of this.dispatchers)
      if (!families.includes(familyOf(dispatcher.context.address))) this.#end(dispatcher);
  }

  /** Sets on every device whether others may have the port as well. */
  share(call: string, reuseAddr: boolean): void {
    for (const [dispatcher, id] of this.#numbers) dispatcher.device.execute(call, 'cmShare', { id, reuseAddr });
  }

  addDevice(context: Context): void {
    try {
      this.#add('rdma_listen', context);
    } catch (error) {
      // Another identifier has the port of that device, which somebody has shared: it keeps it.
      if (!(error instanceof VerbsError)) throw error;
    }
  }

  /** A device is gone. @returns whether there are others */
  lose(dispatcher: Dispatcher): boolean {
    this.owner.queue.detach(dispatcher);
    this.#numbers.delete(dispatcher);
    return this.#numbers.size > 0;
  }

  /** Gives one of its devices, with the port there, to its owner, and all others back; undefined where it does not have that one. */
  settleOn(dispatcher: Dispatcher): number | undefined {
    const number = this.#numbers.get(dispatcher);
    if (number === undefined) return undefined;
    this.#numbers.delete(dispatcher);
    this.owner.queue.detach(dispatcher);
    this.release();
    return number;
  }

  /** Gives the port back everywhere. */
  release(): void {
    this.#leave?.();
    this.#leave = undefined;
    for (const dispatcher of this.dispatchers) this.#end(dispatcher);
  }

  #bindOn(call: string, contexts: readonly Context[], port: number): void {
    this.port = port;
    for (const context of contexts) this.port = this.#bindTo(call, dispatcherOf(context, call), this.port);
    if (this.port === 0) this.port = this.#freePort(call);
  }

  #bindTo(call: string, dispatcher: Dispatcher, port: number): number {
    const { device } = dispatcher;
    const { portSpace, options, queue } = this.owner;
    const id = device.execute(call, 'cmCreateId', { portSpace });
    try {
      const given = device.execute(call, 'cmBind', { id, port, reuseAddr: options.reuseAddr });
      this.#numbers.set(dispatcher, id);
      dispatcher.add(id, this.owner);
      queue.attach(dispatcher);
      return given;
    } catch (error) {
      device.execute(call, 'cmDestroyId', id);
      throw error;
    }
  }

  #listenOn(call: string, dispatcher: Dispatcher, backlog: number): void {
    const id = this.#numbers.get(dispatcher);
    if (id !== undefined) dispatcher.device.execute(call, 'cmListen', { id, backlog });
  }

  #add(call: string, context: Context): void {
    const address = plainAddress(context.address);
    // A NIC that is open more than once has its ports once.
    const isThere = this.dispatchers.some(
      (known) => plainAddress(known.context.address) === address && isUp(known.context),
    );
    if (isThere) return;
    const dispatcher = dispatcherOf(context, call);
    this.#bindTo(call, dispatcher, this.port);
    if (this.#backlog === undefined) return;
    try {
      this.#listenOn(call, dispatcher, this.#backlog);
    } catch (error) {
      this.#end(dispatcher);
      throw error;
    }
  }

  #end(dispatcher: Dispatcher): void {
    const number = this.#numbers.get(dispatcher);
    this.#numbers.delete(dispatcher);
    this.owner.queue.detach(dispatcher);
    if (number !== undefined) dispatcher.end(number);
  }

  /** A port that no other wildcard has, where there is no device to ask. */
  #freePort(call: string): number {
    for (let i = 0; i < EPHEMERAL_PORTS; i += 1) {
      this.port = FIRST_EPHEMERAL + i;
      try {
        checkWildcards(call, this);
        return this.port;
      } catch (error) {
        if (!(error instanceof VerbsError)) throw error;
      }
    }
    throw new VerbsError(call, { errno: 'EADDRNOTAVAIL', message: 'no port is free', advice: '' });
  }
}
