import { casesOf } from './types.js';

export const pyverbsRssTraffic = casesOf('pyverbs', 'tests/test_rss_traffic.py', {
  'RSSTrafficTest.test_rss_traffic':
    'Raw packet QP with an indirection table of 8 receive WQs on 2 CQs and Toeplitz hash of IPv4 addresses: 32 frames of differing source address give 32 SUCCESS receives over the two CQs.',
});
