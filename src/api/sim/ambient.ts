import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { type Machine, setMachineFinder } from '../soft/index.js';
import { VerbsError } from '../verbs/index.js';

/** A simulated machine with programs on it. */
export interface SimMachine extends Machine {
  /** Calls `action` when programs of the machine may run: now, when it is resumed, or, after a crash, never. */
  whenUp(action: () => void): void;
}

/** The machine that a program runs on, through all that it awaits. */
const machines = new AsyncLocalStorage<SimMachine>();

setMachineFinder(() => machines.getStore());

/** Calls a function, which then runs on that machine, and so does all that it begins. */
export function onMachine<T>(machine: SimMachine, program: () => T): T {
  return machines.run(machine, program);
}

function nowhere(call: string): never {
  throw new VerbsError(call, {
    errno: 'ENODEV',
    message: 'this part of the simulation runs on none of its hosts',
    advice:
      'Call it in host.run(() => ...), or take what the host has: host.connect, host.listen, host.createId, host.context',
  });
}

/** Where the test itself runs, which is not to get at devices of the real machine by mistake. */
const NOWHERE: SimMachine = {
  open: () => nowhere('ibv_open_device'),
  devices: () => nowhere('rdma_get_devices'),
  lookup: () => nowhere('rdma_getaddrinfo'),
  whenUp: (action) => action(),
};

/** Calls a function that belongs to no machine. */
export function onNoMachine<T>(program: () => T): T {
  return machines.run(NOWHERE, program);
}

/** The machine of whoever asks, when it is on one. */
export function machineHere(): SimMachine | undefined {
  return machines.getStore();
}

/** A function that runs where it was handed over, whoever calls it. */
export function here<Arguments extends unknown[], Result>(
  action: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  return AsyncResource.bind(action);
}
