import { casesOf } from './types.js';

// A buffer of six pages, a region over pages 1 to 4 of it; window cases bind pages 1 and 2 of the region. One RC pair.
export const rdmaUnitTestBuffer = casesOf('rdma-unit-test', 'unit/buffer_test.cc', {
  'BufferTest.RegisterZeroByteMr': 'reg_mr of length 0 succeeds.',
  'BufferMrTest.SendZeroByte':
    'SEND of a 0-byte SGE inside the region into a 0-byte receive SGE: SUCCESS at both ends.',
  'BufferMrTest.SendZeroByteFromZeroByteMr':
    'With a 0-byte region registered too, SEND of a 0-byte SGE at its address (keys of the large region): SUCCESS at both ends.',
  'BufferMrTest.SendZeroByteOutsideMr':
    'SEND and receive with 0-byte SGEs at an address before the region, its lkey: SUCCESS at both ends.',
  'BufferMrTest.ReadExceedFront': 'READ of a page starting one byte before the remote region completes REM_ACCESS_ERR.',
  'BufferMrTest.ReadExceedRear': 'READ of a page ending one byte past the remote region completes REM_ACCESS_ERR.',
  'BufferMrTest.ReadZeroByte': '0-byte READ inside the region completes SUCCESS.',
  'BufferMrTest.ReadZeroByteOutsideMr':
    '0-byte READ with local and remote address outside the region completes SUCCESS.',
  'BufferMrTest.ReadZeroByteFromZeroByteMr':
    '0-byte READ with the rkey of a 0-byte region at its address completes SUCCESS.',
  'BufferMrTest.ReadZeroByteOutsideZeroByteMr':
    '0-byte READ with the rkey of a 0-byte region completes SUCCESS (the addresses are in fact those of that region).',
  'BufferMrTest.ReadZeroByteInvalidRKey': '0-byte READ with rkey 0xDEADBEEF completes SUCCESS (key not looked at).',
  'BufferMrTest.WriteExceedFront':
    'WRITE of a page starting one byte before the remote region completes REM_ACCESS_ERR.',
  'BufferMrTest.WriteExceedRear': 'WRITE of a page ending one byte past the remote region completes REM_ACCESS_ERR.',
  'BufferMrTest.WriteZeroByte': '0-byte WRITE inside the region completes SUCCESS.',
  'BufferMrTest.WriteZeroByteOutsideMr':
    '0-byte WRITE with local and remote address outside the region completes SUCCESS.',
  'BufferMrTest.WriteZeroByteToZeroByteMr':
    '0-byte WRITE with the rkey of a 0-byte region at its address completes SUCCESS.',
  'BufferMrTest.WriteZeroByteOutsideZeroByteMr':
    '0-byte WRITE with the rkey of a 0-byte region to an address outside it completes SUCCESS.',
  'BufferMrTest.WriteZeroByteInvalidRKey': '0-byte WRITE with rkey 0xDEADBEEF completes SUCCESS (key not looked at).',
  'BufferMwTest.BindExceedFront':
    'Types 1 and 2: bind of a range that starts one byte before the region completes MW_BIND_ERR.',
  'BufferMwTest.BindExceedRear':
    'Types 1 and 2: bind of a range that ends one byte past the region completes MW_BIND_ERR.',
  'BufferMwTest.ReadExceedFront':
    'Types 1 and 2: READ of a page starting one byte before the window, inside the region, completes REM_ACCESS_ERR.',
  'BufferMwTest.ReadExceedRear':
    'Types 1 and 2: READ of a page ending one byte past the window, inside the region, completes REM_ACCESS_ERR.',
  'BufferMwTest.ReadZeroByte': 'Types 1 and 2: 0-byte READ inside the window completes SUCCESS.',
  'BufferMwTest.ReadZeroByteOutsideMw':
    'Types 1 and 2: 0-byte READ with the window key at an address before the window completes SUCCESS.',
  'BufferMwTest.WriteExceedFront':
    'Types 1 and 2: WRITE of a page starting one byte before the window, inside the region, completes REM_ACCESS_ERR.',
  'BufferMwTest.WriteExceedRear':
    'Types 1 and 2: WRITE of a page ending one byte past the window, inside the region, completes REM_ACCESS_ERR.',
  'BufferMwTest.WriteZeroByte': 'Types 1 and 2: 0-byte WRITE inside the window completes SUCCESS.',
  'BufferMwTest.WriteZeroByteOutsideMw':
    'Types 1 and 2: 0-byte WRITE with the window key at an address before the window completes SUCCESS.',
});
