import { type Mapping, testsOf } from './types.js';

const rereg = testsOf('mr-rereg', 'changing a region');

export const mapping: Mapping = {
  'MrTest.RegisterMemory': {
    test: 'mr-registration: regions › tell domain, device, address, length, access and bytes',
  },
  'MrTest.DeregInvalidMr': {
    test: 'mr-registration: regions › cannot be ended twice',
    note: 'A program has no handles to break here, only objects that have ended, and they know it: EINVAL, not ENOENT.',
  },
  'MrTest.RemoteWriteWithoutLocalWrite': {
    test: [
      'mr-registration: regions › with REMOTE_WRITE and no LOCAL_WRITE are refused',
      'mr-registration: regions › with REMOTE_WRITE+REMOTE_READ and no LOCAL_WRITE are refused',
    ],
  },
  'MrTest.RemoteAtomicWithoutLocalWrite': {
    test: [
      'mr-registration: regions › with REMOTE_ATOMIC and no LOCAL_WRITE are refused',
      'mr-registration: regions › with REMOTE_READ+REMOTE_ATOMIC and no LOCAL_WRITE are refused',
    ],
  },
  'MrTest.ReregMrChangeAddress': {
    test: rereg('to other memory, it has its address, length and bytes, under the same keys'),
  },
  'MrTest.ReregMrChangePd': { test: rereg('to another domain, it names that one, and only that one is in use') },
  'MrTest.ReregMrInvalidPermission': {
    test: rereg('to rights for peers that need LOCAL_WRITE is refused without it, and changes nothing'),
    note: 'EINVAL, where C tells REREG_MR_ERR_CMD: the region never becomes unusable here, so there is one kind of failure.',
  },
  'MrTest.ReregMrInvalidBuffer': {
    test: rereg('to memory without bytes is refused, and changes nothing'),
    note: 'EINVAL, where C tells REREG_MR_ERR_INPUT.',
  },
  'MrLoopbackTest.OutstandingRecv': {
    test: 'mr-outstanding: ending a region under work › a posted receive request does not stand in the way, and completes nothing',
  },
  'MrLoopbackTest.ReregMrChangeAccess': {
    test: 'mr-rereg: traffic while a region changes › READs do not get through any more once it is for writing only',
  },
  'MrLoopbackTest.OutstandingRead': {
    test: 'mr-outstanding: ending a region under work › READs that use it at home break off, and none of them is lost',
  },
  'MrLoopbackTest.OutstandingWrite': {
    test: 'mr-outstanding: ending a region under work › WRITEs that use it at home break off, and none of them is lost',
  },
};
