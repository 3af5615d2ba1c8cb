import { casesOf } from './types.js';

export const pyverbsCqEvents = casesOf('pyverbs', 'tests/test_cq_events.py', {
  'CqEventsTestCase.test_cq_events_ud':
    'UD SEND ping-pong, 100 rounds, where every poll first waits for an event on the CQ’s channel and arms again: none hangs, all SUCCESS with the data.',
  'CqEventsTestCase.test_cq_events_rc': 'The same 100 event-driven rounds of SEND over RC.',
});
