import {
  type Context,
  type Device,
  fieldsProblem,
  openFields,
  type OpenOptions,
  refuse,
  VerbsError,
} from '../verbs/index.js';
import type { Provider } from './provider.js';

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

/** The caller's provider. */
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
