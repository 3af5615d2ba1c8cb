import { casesOf } from './types.js';

// Device memory (DM) cases are skipped where max_dm_size is 0; their sizes are random multiples of 4 up to half of it.
export const pyverbsDevice = casesOf('pyverbs', 'tests/test_device.py', {
  'DeviceTest.test_dev_list': 'get_device_list works and is not empty (else skipped).',
  'DeviceTest.test_open_dev': 'Each listed device can be opened by name.',
  'DeviceTest.test_query_device':
    'query_device of each device: node and image GUID not 0, max_mr_size above a page, page_size_cap at least a page, vendor_id not 0, max_qp, max_qp_wr, max_sge, max_cq, max_cqe, max_mr, max_pd and max_pkeys above 0.',
  'DeviceTest.test_query_pkey': 'query_pkey of index 0 works on a channel adapter.',
  'DeviceTest.test_get_pkey_index': 'get_pkey_index of the key that sysfs shows at index 0 returns 0.',
  'DeviceTest.test_query_gid': 'query_gid of index 0 works when gid_tbl_len is above 0.',
  'DeviceTest.test_query_gid_table':
    'query_gid_table with room for the gid_tbl_len of all ports works (skipped on EOPNOTSUPP or EPROTONOSUPPORT).',
  'DeviceTest.test_query_gid_table_bad_flow': 'query_gid_table with room for 0 entries fails with -EINVAL.',
  'DeviceTest.test_query_gid_ex': 'query_gid_ex of index 0 works.',
  'DeviceTest.test_query_gid_ex_bad_flow': 'query_gid_ex of an unpopulated index within the table fails with ENODATA.',
  'DeviceTest.test_query_device_ex': 'query_device_ex: its orig_attr passes the checks of query_device.',
  'DeviceTest.test_phys_port_cnt_ex':
    'phys_port_cnt_ex equals phys_port_cnt, or phys_port_cnt is 255 when the former is above 255.',
  'DeviceTest.test_query_port':
    'query_port: state, max_mtu, active_mtu, width, speed and link layer have known values, max_msg_sz is above 4096.',
  'DeviceTest.test_query_port_bad_flow': 'query_port of a port 1 to 10 beyond phys_port_cnt fails with EINVAL.',
  'DeviceTest.test_query_port_speed': 'query_port_speed returns 0 or more (skipped where not supported).',
  'DMTest.test_create_dm': 'alloc_dm of a legal size and log alignment 0 to 6 succeeds.',
  'DMTest.test_destroy_dm': 'alloc_dm then free_dm succeeds.',
  'DMTest.test_create_dm_bad_flow':
    'alloc_dm of max_dm_size + 1 fails; with a comp_mask of 1 to 100 as well it fails too.',
  'DMTest.test_destroy_dm_bad_flow': 'Closing a DM object twice raises nothing (the wrapper frees once).',
  'DMTest.test_dm_write': 'memcpy_to_dm at offset and length that are multiples of 4, within the DM, succeeds.',
  'DMTest.test_dm_write_bad_flow': 'memcpy_to_dm at an offset that is a multiple of 4 plus 1 fails.',
  'DMTest.test_dm_read': 'memcpy_from_dm returns what memcpy_to_dm wrote there.',
  'DMTest.test_multi_process_alloc_dm':
    'Five processes allocate a tenth of max_dm_size each at the same time; all succeed.',
  'SharedDMTest.test_import_dm':
    'A DM imported by handle through a context on a duplicated command fd reads what was written to the original; then it is unimported.',
});
