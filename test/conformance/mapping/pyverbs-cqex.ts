import { WcExFlags } from '../../../src/entry/index.js';
import { type Mapping, testsOf } from './types.js';

const extended = testsOf('cq-creation', 'extended completion queues');
const fields = testsOf('cq-creation', 'fields and flags of completion queues');
const read = testsOf('cq-traffic', 'messages both ways that are read by startPoll');

const LACKING: readonly string[] = ['WITH_CVLAN', 'WITH_FLOW_TAG', 'WITH_TM_INFO'];

export const mapping: Mapping = {
  'CqExTestCase.test_ud_traffic_cq_ex': { test: read('arrive over UD') },
  'CqExTestCase.test_rc_traffic_cq_ex': { test: read('arrive over RC') },
  'CqExTestCase.test_xrc_traffic_cq_ex': {
    test: read('arrive over XRC'),
    note: 'One pair each way, and 100 messages.',
  },
  'CQEXAPITest.test_create_cq_ex': {
    test: [
      ...Object.keys(WcExFlags).map((name) =>
        fields(LACKING.includes(name) ? `${name} is not supported` : `${name} is granted`),
      ),
      fields('SINGLE_THREADED is granted'),
      fields('IGNORE_OVERRUN is granted'),
    ],
  },
  'CQEXAPITest.test_create_cq_ex_bad_flow': {
    test: [
      extended('larger than the device’s largest are refused'),
      extended('on a completion vector that the context does not have are refused'),
    ],
  },
};
