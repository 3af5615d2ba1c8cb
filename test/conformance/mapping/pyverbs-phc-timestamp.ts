import { type Mapping, testsOf } from './types.js';

const times = testsOf('cq-timestamps', 'times of completions');

export const mapping: Mapping = {
  'TimeStampTest.test_timestamp_free_running_rc_traffic': {
    test: times('are those of the device’s clock between posting and polling, at both ends'),
    note: 'There is no PTP clock; the device’s clock is read by queryRtValues.',
  },
  'TimeStampTest.test_timestamp_real_time_rc_traffic': {
    test: times('are times of day where that is asked for, at both ends'),
    note: 'There is no PTP clock; the time of day is the system’s.',
  },
};
