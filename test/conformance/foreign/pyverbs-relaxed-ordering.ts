import { casesOf } from './types.js';

export const pyverbsRelaxedOrdering = casesOf('pyverbs', 'tests/test_relaxed_ordering.py', {
  'RoTestCase.test_ro_rc_traffic':
    'RC SEND ping-pong, 100 rounds, over regions with LOCAL_WRITE and RELAXED_ORDERING: SUCCESS with the data.',
  'RoTestCase.test_ro_ud_traffic': 'UD SEND ping-pong, 100 rounds, over regions with RELAXED_ORDERING.',
  'RoTestCase.test_ro_xrc_traffic': 'XRC SEND ping-pong over regions with RELAXED_ORDERING.',
  'RoTestCase.test_ro_mr_ex_traffic':
    'RC WRITE both ways, 100 rounds, over reg_mr_ex regions with REMOTE_WRITE and RELAXED_ORDERING.',
});
