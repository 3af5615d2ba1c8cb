import { casesOf } from './types.js';

// "All" is LOCAL_WRITE, MW_BIND and the three remote rights for a region, the three remote rights for a remote key.
// The remote key belongs, by parameter, to a region (which also has LOCAL_WRITE) or to a type 1 or type 2 window bound
// with just that access on a region with all. Two-page buffers over RC.
export const rdmaUnitTestAccess = casesOf('rdma-unit-test', 'unit/access_test.cc', {
  'MessagingAccessTest.AllAccess': 'SEND between two regions with all access: SUCCESS at both ends.',
  'MessagingAccessTest.MissingSrcLocalWrite':
    'SEND from a region with only MW_BIND and REMOTE_READ (no LOCAL_WRITE): SUCCESS at both ends.',
  'MessagingAccessTest.MissingDstLocalWrite':
    'SEND into a region with only MW_BIND and REMOTE_READ: sender REM_OP_ERR, receive LOC_PROT_ERR.',
  'MessagingAccessTest.MissingDstRemoteWrite':
    'SEND into a region with all access but REMOTE_WRITE: SUCCESS at both ends.',
  'RdmaAccessTest.AllAccess':
    'READ and WRITE to a region, a type 1 and a type 2 window with all remote access: SUCCESS (12 instances; a last parameter, 1 or 2, goes unused).',
  'RdmaAccessTest.ZeroBasedAccess':
    'READ and WRITE at remote address 0 through the key of a ZERO_BASED region and type 2 window (type 1 skipped): SUCCESS.',
  'RdmaAccessTest.MissingSrcLocalWrite':
    'Local region without LOCAL_WRITE, remote key (region, type 1, type 2) with all: READ LOC_PROT_ERR, WRITE SUCCESS.',
  'RdmaAccessTest.MissingDstRemoteWrite':
    'Remote key (region, type 1, type 2) without REMOTE_WRITE: WRITE REM_ACCESS_ERR, READ SUCCESS.',
  'RdmaAccessTest.MissingDstRemoteRead':
    'Despite the name takes away REMOTE_WRITE again: WRITE REM_ACCESS_ERR, READ SUCCESS, for region, type 1 and type 2.',
  'RdmaAccessTest.MissingDstRemoteAtomic':
    'Remote key (region, type 1, type 2) without REMOTE_ATOMIC: READ and WRITE SUCCESS.',
  'AtomicAccessTest.AllAccess':
    'FETCH_ADD and CMP_SWAP to a region, type 1 and type 2 window with all access: SUCCESS.',
  'AtomicAccessTest.MissingSrcLocalWrite':
    'FETCH_ADD and CMP_SWAP from a local region without LOCAL_WRITE complete LOC_PROT_ERR (region, type 1, type 2).',
  'AtomicAccessTest.MissingDstRemoteWrite':
    'FETCH_ADD and CMP_SWAP to a key without REMOTE_WRITE but with REMOTE_ATOMIC: SUCCESS (region, type 1, type 2).',
  'AtomicAccessTest.MissingDstRemoteRead':
    'FETCH_ADD and CMP_SWAP to a key without REMOTE_READ but with REMOTE_ATOMIC: SUCCESS (region, type 1, type 2).',
  'AtomicAccessTest.MissingDstRemoteAtomic':
    'FETCH_ADD and CMP_SWAP to a key without REMOTE_ATOMIC complete REM_ACCESS_ERR (region, type 1, type 2).',
});
