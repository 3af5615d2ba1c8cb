import { type Mapping, testsOf } from './types.js';

const relaxed = testsOf('rc-relaxed-ordering', 'regions with RELAXED_ORDERING');

export const mapping: Mapping = {
  'RoTestCase.test_ro_rc_traffic': { test: relaxed('carry SENDs over RC both ways') },
  'RoTestCase.test_ro_ud_traffic': { test: relaxed('carry SENDs over UD both ways') },
  'RoTestCase.test_ro_xrc_traffic': { test: relaxed('carry SENDs over XRC both ways') },
  'RoTestCase.test_ro_mr_ex_traffic': { test: relaxed('carry WRITEs over RC both ways') },
};
