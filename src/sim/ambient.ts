import { type Ambient, runtime } from '../api/runtime/index.js';
import { type Provider, setProviderFinder } from '../api/provider/index.js';
import { VerbsError } from '../api/verbs/index.js';

/** A simulated machine with programs on it. */
export interface SimMachine extends Provider {
  /** Calls `action` when programs of the machine may run: now, when it is resumed, or, after a crash, never. */
  whenUp(action: () => void): void;
}

let ambient: Ambient<SimMachine> | undefined;

/** The machine that a program runs on, through all that it awaits where the runtime can tell. */
function machines(): Ambient<SimMachine> {
  // Not before it is needed: by then it is known what the program runs in.
  ambient ??= runtime().ambient();
  return ambient;
}

setProviderFinder(() => ambient?.get());

/** Calls a function, which then runs on that machine, and so does all that it begins. */
export function onMachine<T>(machine: SimMachine, program: () => T): T {
  return machines().run(machine, program);
}

function nowhere(call: string): never {
  throw new VerbsError(call, {
    errno: 'ENODEV',
    message: 'this part of the simulation runs on none of its hosts',
    advice:
      'Call it in host.run(() => ...), or take what the host has: host.connect, host.listen, host.createId, host.context',
  });
}

/** Where the test itself runs: it must not use devices of the real machine by mistake. */
const NOWHERE: SimMachine = {
  deviceList: () => nowhere('ibv_get_device_list'),
  open: () => nowhere('ibv_open_device'),
  fixedDevices: () => nowhere('rdma_get_devices'),
  addresses: () => [],
  sourceToward: () => undefined,
  lookup: (call) => nowhere(call),
  whenUp: (action) => action(),
};

/** Calls a function that belongs to no machine. */
export function onNoMachine<T>(program: () => T): T {
  return machines().run(NOWHERE, program);
}

/** The machine that the caller runs on, if it runs on one. */
export function machineHere(): SimMachine | undefined {
  return machines().get();
}

/** Binds a function to the machine it was handed over on, whoever calls it later. */
export function here<Arguments extends unknown[], Result>(
  action: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  return machines().bind(action);
}
