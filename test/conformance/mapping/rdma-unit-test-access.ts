import { type Mapping, testsOf } from './types.js';

const send = testsOf('access-messages', 'access of SEND');
const oneSided = testsOf('access-one-sided', 'access of one-sided requests');

const OPENINGS = ['a region', 'a window of type 1', 'a window of type 2'];

/** The tests of these requests by each kind of key, with what is taken away. */
const each = (access: string, outcomes: Readonly<Record<string, string>>): readonly string[] =>
  OPENINGS.flatMap((opening) =>
    Object.entries(outcomes).map(([request, outcome]) =>
      oneSided(`${request} by ${opening} ${access} ends in ${outcome}`),
    ),
  );

const bothSucceed = { READ: 'SUCCESS', WRITE: 'SUCCESS' };
const bothAtomicsSucceed = { FETCH_ADD: 'SUCCESS', CMP_SWAP: 'SUCCESS' };
const notWritable = { READ: 'SUCCESS', WRITE: 'REM_ACCESS_ERR' };

export const mapping: Mapping = {
  'MessagingAccessTest.AllAccess': { test: send('from and into regions with all access is enough') },
  'MessagingAccessTest.MissingSrcLocalWrite': { test: send('from a region without LOCAL_WRITE is enough') },
  'MessagingAccessTest.MissingDstLocalWrite': { test: send('into a region without LOCAL_WRITE fails at both ends') },
  'MessagingAccessTest.MissingDstRemoteWrite': { test: send('into a region without REMOTE_WRITE is enough') },
  'RdmaAccessTest.AllAccess': { test: each('with all access', bothSucceed) },
  'RdmaAccessTest.ZeroBasedAccess': {
    test: ['READ', 'WRITE'].flatMap((request) => [
      oneSided(`${request} by a ZERO_BASED region finds its first byte at address 0`),
      oneSided(`${request} by a ZERO_BASED window of type 2 finds its first byte at address 0`),
    ]),
  },
  'RdmaAccessTest.MissingSrcLocalWrite': {
    test: [
      ...each('and own memory without LOCAL_WRITE', { READ: 'LOC_PROT_ERR' }),
      ...each('and own memory without LOCAL_WRITE', { WRITE: 'SUCCESS' }),
    ],
  },
  'RdmaAccessTest.MissingDstRemoteWrite': { test: each('without REMOTE_WRITE', notWritable) },
  'RdmaAccessTest.MissingDstRemoteRead': {
    test: [
      ...each('without REMOTE_WRITE', notWritable),
      ...each('without REMOTE_READ', { READ: 'REM_ACCESS_ERR', WRITE: 'SUCCESS' }),
    ],
    note: 'What the name says is checked as well as what the case does.',
  },
  'RdmaAccessTest.MissingDstRemoteAtomic': { test: each('without REMOTE_ATOMIC', bothSucceed) },
  'AtomicAccessTest.AllAccess': { test: each('with all access', bothAtomicsSucceed) },
  'AtomicAccessTest.MissingSrcLocalWrite': {
    test: each('and own memory without LOCAL_WRITE', { FETCH_ADD: 'LOC_PROT_ERR', CMP_SWAP: 'LOC_PROT_ERR' }),
  },
  'AtomicAccessTest.MissingDstRemoteWrite': { test: each('without REMOTE_WRITE', bothAtomicsSucceed) },
  'AtomicAccessTest.MissingDstRemoteRead': { test: each('without REMOTE_READ', bothAtomicsSucceed) },
  'AtomicAccessTest.MissingDstRemoteAtomic': {
    test: each('without REMOTE_ATOMIC', { FETCH_ADD: 'REM_ACCESS_ERR', CMP_SWAP: 'REM_ACCESS_ERR' }),
  },
};
