import { casesOf } from './types.js';

export const pyverbsPhcTimestamp = casesOf('pyverbs', 'tests/test_phc_timestamp.py', {
  'TimeStampTest.test_timestamp_free_running_rc_traffic':
    'On a device with a PTP clock: one RC SEND on extended CQs with COMPLETION_TIMESTAMP; both completions SUCCESS and the timestamp can be read.',
  'TimeStampTest.test_timestamp_real_time_rc_traffic':
    'On a device with a PTP clock: one RC SEND with COMPLETION_TIMESTAMP_WALLCLOCK; both timestamps lie within the second before the clock is read.',
});
