import { type Mapping, testsOf } from './types.js';

const devices = testsOf('device-open', 'devices');
const itself = testsOf('device-query', 'what a device tells of itself');
const ports = testsOf('device-query', 'what a device tells of its ports');

const NO_DM =
  'The device has no memory of its own: the query says maxDmSize 0, and allocDm throws EOPNOTSUPP (device-absent checks both).';

export const mapping: Mapping = {
  'DeviceTest.test_dev_list': { test: devices('are listed, each once') },
  'DeviceTest.test_open_dev': { test: devices('open to contexts that name them') },
  'DeviceTest.test_query_device': { test: itself('has plausible limits and names') },
  'DeviceTest.test_query_pkey': { test: ports('has a P_Key at index 0, which is found by its value') },
  'DeviceTest.test_get_pkey_index': {
    test: ports('has a P_Key at index 0, which is found by its value'),
    note: 'There is no sysfs entry of this device: the key is what queryPkey tells.',
  },
  'DeviceTest.test_query_gid': { test: ports('has a GID at index 0') },
  'DeviceTest.test_query_gid_table': { test: ports('has all GIDs in one table') },
  'DeviceTest.test_query_gid_table_bad_flow': {
    reason: 'queryGidTable makes a table that is as long as it must be: nobody tells it how much room there is.',
  },
  'DeviceTest.test_query_gid_ex': { test: ports('has the same GID with its type and its place') },
  'DeviceTest.test_query_gid_ex_bad_flow': { test: ports('has no GID where the table is empty') },
  'DeviceTest.test_query_device_ex': { test: itself('is the same in the extended query') },
  'DeviceTest.test_phys_port_cnt_ex': { test: itself('counts its ports in both queries') },
  'DeviceTest.test_query_port': { test: ports('is known of each') },
  'DeviceTest.test_query_port_bad_flow': { test: ports('does not exist of others') },
  'DeviceTest.test_query_port_speed': { test: ports('has their speed') },
  'DMTest.test_create_dm': { reason: NO_DM },
  'DMTest.test_destroy_dm': { reason: NO_DM },
  'DMTest.test_create_dm_bad_flow': {
    test: 'device-absent: what this device does not have › memory of its own: more than the query says cannot be had',
    note: 'The query says 0, so that whatever is asked for is more.',
  },
  'DMTest.test_destroy_dm_bad_flow': { reason: NO_DM },
  'DMTest.test_dm_write': { reason: NO_DM },
  'DMTest.test_dm_write_bad_flow': { reason: NO_DM },
  'DMTest.test_dm_read': { reason: NO_DM },
  'DMTest.test_multi_process_alloc_dm': { reason: NO_DM },
  'SharedDMTest.test_import_dm': { reason: NO_DM },
};
