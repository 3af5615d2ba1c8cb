import { type Mapping, testsOf } from './types.js';

const handles = testsOf('ud-address-handles', 'address handles');

export const mapping: Mapping = {
  'AhTest.CreateAndDestroy': {
    test: [handles('to the device itself belong to their domain, and tell their address'), handles('end once')],
  },
  'AhTest.DestroyWithInvalidHandle': {
    test: handles('end once'),
    note: 'There is no handle to break: one that has ended stands for it, and the errno is EINVAL.',
  },
};
