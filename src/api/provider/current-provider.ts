import {
  type Context,
  type Device,
  fieldsProblem,
  openFields,
  type OpenOptions,
  refuse,
  VerbsError,
} from '../verbs/index.js';
import { datagramPort, lookupName, providedContext, type Provider, seededWord, startTimer } from './provider.js';
import { type DatagramPort, type DatagramPortOptions, runtime } from '../runtime/index.js';
import { Errno, type ErrnoName } from '../../device/ibta/index.js';

function isErrno(code: unknown): code is ErrnoName {
  return typeof code === 'string' && code in Errno;
}

/**
 * Opens a UDP port, beside RDMA, of the host that a device is in: of the machine, or in a simulation of the simulated host, whose network
 * loses and delays what is sent there as it does RDMA's packets.
 *
 * @throws VerbsError EADDRINUSE when another has the port, EADDRNOTAVAIL, EACCES; EOPNOTSUPP in a page of a browser; EIO
 */
export function openDatagramPort(call: string, context: Context, options: DatagramPortOptions): DatagramPort {
  const ofDevice = providedContext(context, call)[datagramPort](call, options);
  if (ofDevice !== undefined) return ofDevice;
  try {
    return runtime().openDatagramPort(options);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `UDP port ${options.port} of ${options.host}: ${reason}`;
    throw new VerbsError(call, { errno: isErrno(code) ? code : 'EIO', message, advice: '' }, { cause: error });
  }
}

/**
 * 32 random bits that nobody can guess. In a simulation they come from its seed, so that a run can be repeated.
 *
 * @param context a device of the host that needs them; default: the simulated host that the program runs on, if any
 */
export function secretWord(context?: Context): number {
  const ofSimulation =
    context === undefined ? currentProvider().secretWord : providedContext(context, 'ibv_open_device')[seededWord];
  return ofSimulation?.() ?? crypto.getRandomValues(new Uint32Array(1))[0];
}

/** So many bytes that nobody can guess, as {@link secretWord}. */
export function secretBytes(count: number, context?: Context): Uint8Array {
  const words = new Uint32Array(Math.ceil(count / Uint32Array.BYTES_PER_ELEMENT));
  for (let i = 0; i < words.length; i += 1) words[i] = secretWord(context);
  return new Uint8Array(words.buffer, 0, count);
}

/**
 * Calls `action` in so many milliseconds: of virtual time where the device is simulated, or the program runs on a simulated
 * host. Keeps the process alive until then.
 *
 * @returns takes it back
 */
export function after(context: Context | undefined, delayMs: number, action: () => void): () => void {
  const device = context ?? currentProvider().fixedDevices()?.[0];
  const ofDevice = device && providedContext(device, 'rdma_create_event_channel')[startTimer](delayMs, action);
  return ofDevice ?? runtime().timer(delayMs, action);
}

/** The devices that this thread has opened. Held weakly: a program may drop a context without closing it. */
const opened = new Set<WeakRef<Context>>();
const watchers = new Set<(context: Context) => void>();

/** Notes a device that a program of this thread has opened on the machine. */
export function noteOpened(context: Context): void {
  for (const known of opened) if (known.deref() === undefined) opened.delete(known);
  opened.add(new WeakRef(context));
  for (const watch of [...watchers]) watch(context);
}

/** The devices that this thread has opened, the oldest first. Closed ones may be among them. */
export function openedDevices(): readonly Context[] {
  return [...opened].flatMap((known) => known.deref() ?? []);
}

/** Has `watch` called with every device that this thread opens from now on. @returns ends that */
export function watchOpened(watch: (context: Context) => void): () => void {
  watchers.add(watch);
  return () => void watchers.delete(watch);
}

/**
 * Addresses of a name: as the host of a simulated device knows it, whoever calls; for any other device as the caller's machine does.
 *
 * @throws (the promise rejects) VerbsError as `Provider.lookup`
 */
export function lookUpFrom(
  context: Context | undefined,
  call: string,
  name: string,
  family: 4 | 6 | undefined,
): Promise<readonly string[]> {
  const ofDevice = context && providedContext(context, call)[lookupName]?.(call, name, family);
  return ofDevice ?? currentProvider().lookup(call, name, family);
}

/** Whether the host of a device knows names itself: then a lookup takes none of the device's time. */
export function knowsNames(context: Context | undefined): boolean {
  return context !== undefined && providedContext(context, 'rdma_getaddrinfo')[lookupName] !== undefined;
}

function nobody(call: string): never {
  throw new VerbsError(call, {
    errno: 'ENODEV',
    message:
      'in a page of a browser only hosts of a simulation have devices, and a program knows its host until its first await',
    advice:
      'Take what the host has, host.connect, host.listen, host.createId, host.context, or call it in host.run(() => ...)',
  });
}

const NOBODY: Provider = {
  deviceList: () => nobody('ibv_get_device_list'),
  open: () => nobody('ibv_open_device'),
  fixedDevices: () => nobody('rdma_get_devices'),
  addresses: () => [],
  sourceToward: () => undefined,
  lookup: (call) => nobody(call),
};

let ofThisMachine = NOBODY;
let find: () => Provider | undefined = () => undefined;

export function currentProvider(): Provider {
  return find() ?? ofThisMachine;
}

/** Sets the provider for programs that run on no simulated host. */
export function useProvider(provider: Provider): void {
  ofThisMachine = provider;
}

/** Sets how the provider of a program on a simulated host is found; undefined for a program on none. */
export function setProviderFinder(finder: () => Provider | undefined): void {
  find = finder;
}

/** The devices of this machine (`ibv_get_device_list`): always one, `verbena0`, since a software NIC needs nothing. */
export function getDeviceList(): readonly Device[] {
  return currentProvider().deviceList();
}

/**
 * Opens `verbena0`: the shortest way to a context.
 *
 * @throws VerbsError as `Device.open`
 */
export function openDevice(options: OpenOptions = {}): Context {
  refuse('ibv_open_device', fieldsProblem('options', options, openFields));
  return currentProvider().open(options);
}
