import type { Mapping } from './types.js';

export const mapping: Mapping = {
  'SharedPDTestCase.test_imported_rc_ex_rdma_write': {
    reason:
      'There is no command descriptor to duplicate: the NIC runs in the program that opened it, whose memory no other program could register with it. Nothing can be imported.',
  },
};
