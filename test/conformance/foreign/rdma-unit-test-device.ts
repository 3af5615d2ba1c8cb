import { casesOf } from './types.js';

// The limit cases create until it fails and allow the count to be 200 off what query_device announces.
export const rdmaUnitTestDevice = casesOf('rdma-unit-test', 'unit/device_test.cc', {
  'DeviceTest.GetDeviceList': 'get_device_list returns a list with and without a count argument; both can be freed.',
  'DeviceTest.Open':
    'At least one device is listed; each opens to a context that names that device, and close_device returns 0.',
  'DeviceTest.OpenMany': 'The same device is opened 100 times at once.',
  'DeviceTest.OpenInAnotherThread': 'open_device works in another thread.',
  'DeviceTest.OpenInManyThreads': '100 threads open the device at the same time; each succeeds.',
  'DeviceTest.QueryDevice': 'query_device returns 0.',
  'DeviceTest.ContextTomfoolery':
    'dealloc_pd of a PD whose context field was switched to another open context returns ENOENT; switched back it returns 0.',
  'DeviceLimitTest.MaxAh': 'The number of address handles that can be created is within 200 of max_ah.',
  'DeviceLimitTest.MaxCqMixed': 'The number of CQs, plain and extended in turn, is within 200 of max_cq.',
  'DeviceLimitTest.MaxMr': 'The number of one-page regions over two buffers is within 200 of max_mr.',
  'DeviceLimitTest.MaxMw': 'The number of windows, type 2 and type 1 in turn, is within 200 of max_mw.',
  'DeviceLimitTest.MaxPd': 'The number of PDs is within 200 of max_pd.',
  'DeviceLimitTest.MaxQp': 'The number of RC QPs on one CQ (trying up to twice max_qp) is within 200 of max_qp.',
  'DeviceLimitTest.MaxSrq': 'The number of SRQs is within 200 of max_srq.',
});
