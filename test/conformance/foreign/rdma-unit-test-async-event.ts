import { casesOf } from './types.js';

export const rdmaUnitTestAsyncEvent = casesOf('rdma-unit-test', 'unit/async_event_test.cc', {
  'AsyncEventTest.ReadRKeyViolation':
    'RC READ with rkey 0xDEADBEEF completes REM_ACCESS_ERR, local buffer unchanged; the responder context gets async event QP_ACCESS_ERR for its QP.',
  'AsyncEventTest.WriteRKeyViolation':
    'RC WRITE with rkey 0xDEADBEEF completes REM_ACCESS_ERR, local buffer unchanged; the responder context gets async event QP_ACCESS_ERR for its QP.',
});
