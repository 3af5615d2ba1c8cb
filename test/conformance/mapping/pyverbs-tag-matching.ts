import type { Mapping } from './types.js';

const reason =
  'The device does not match tags: the query says tmCaps 0, and an SRQ of type TM is refused with EOPNOTSUPP (device-absent checks both).';

export const mapping: Mapping = {
  'TMTest.test_tm_traffic': { reason },
  'TMTest.test_tm_unexpected_tag': { reason },
  'TMTest.test_tm_no_tag': { reason },
  'TMTest.test_tm_rndv': { reason },
};
