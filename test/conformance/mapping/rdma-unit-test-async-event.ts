import { type Mapping, testsOf } from './types.js';

const refused = testsOf('events-access', 'asynchronous events of refused requests');

export const mapping: Mapping = {
  'AsyncEventTest.ReadRKeyViolation': {
    test: refused('tell the responder of a READ by a key that nothing has, which changes nothing'),
  },
  'AsyncEventTest.WriteRKeyViolation': {
    test: refused('tell the responder of a WRITE by a key that nothing has, which changes nothing'),
  },
};
