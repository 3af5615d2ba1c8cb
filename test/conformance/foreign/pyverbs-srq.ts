import { casesOf } from './types.js';

export const pyverbsSrq = casesOf('pyverbs', 'tests/test_srq.py', {
  'SrqTestCase.test_rc_srq_traffic':
    'RC SEND ping-pong, 100 rounds over two QP pairs whose receives come from one SRQ per side: SUCCESS with the data.',
  'SrqTestCase.test_resize_srq':
    'With capability SRQ_RESIZE: modify_srq MAX_WR to twice max_wr (at most max_srq_wr); query_srq then shows at least that.',
  'SrqTestCase.test_modify_srq_limit':
    'SRQ with ten receives and limit 7 (query_srq shows 7): after four SENDs the async event SRQ_LIMIT_REACHED arrives.',
});
