import { type Mapping, testsOf } from './types.js';

const awaited = testsOf('cq-traffic', 'messages both ways whose completions are waited for by events');

export const mapping: Mapping = {
  'CqEventsTestCase.test_cq_events_ud': { test: awaited('arrive over UD') },
  'CqEventsTestCase.test_cq_events_rc': { test: awaited('arrive over RC') },
};
