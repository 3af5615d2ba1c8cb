import { type Mapping, testsOf } from './types.js';

const devices = testsOf('device-open', 'devices');
const limits = testsOf('device-limits', 'a device has as many as it tells');

const SLOW =
  'There are 262144 of them. It takes long and runs when VERBENA_TEST_LIMITS is all; otherwise it is skipped.';

export const mapping: Mapping = {
  'DeviceTest.GetDeviceList': {
    test: devices('are listed, each once'),
    note: 'The list is an array: it has no count beside it, and nothing to be freed.',
  },
  'DeviceTest.Open': {
    test: [devices('open to contexts that name them'), devices('close once, and nothing can be made of them then')],
  },
  'DeviceTest.OpenMany': {
    test: devices('can be open 16 times at once'),
    note: 'Sixteen times: each is a NIC with an address and, where it is threaded, a thread of its own.',
  },
  'DeviceTest.OpenInAnotherThread': { test: 'device-open: a device that another thread opens › works' },
  'DeviceTest.OpenInManyThreads': {
    test: 'device-open: devices that 8 threads open at the same time › work',
    note: 'Eight threads: each brings up a NIC.',
  },
  'DeviceTest.QueryDevice': {
    test: 'device-query: what a device tells of itself › has plausible limits and names',
  },
  'DeviceTest.ContextTomfoolery': {
    test: devices('take nothing that belongs to another context'),
    note: 'An object ends by itself and not by a context that can be switched. What can be mixed up is which context’s objects a call is given.',
  },
  'DeviceLimitTest.MaxAh': { test: limits('address handles') },
  'DeviceLimitTest.MaxCqMixed': { test: limits('completion queues, every other one extended') },
  'DeviceLimitTest.MaxMr': { test: limits('memory regions'), note: SLOW },
  'DeviceLimitTest.MaxMw': { test: limits('memory windows, every other one of type 1'), note: SLOW },
  'DeviceLimitTest.MaxPd': { test: limits('protection domains') },
  'DeviceLimitTest.MaxQp': { test: limits('queue pairs') },
  'DeviceLimitTest.MaxSrq': { test: limits('shared receive queues') },
};
