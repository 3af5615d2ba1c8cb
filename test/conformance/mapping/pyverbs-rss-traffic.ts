import type { Mapping } from './types.js';

export const mapping: Mapping = {
  'RSSTrafficTest.test_rss_traffic': {
    reason:
      'The device has no work queues to spread frames over: the query says rssCaps 0, and createWq and createRwqIndTable throw EOPNOTSUPP (device-absent checks all of it).',
  },
};
