import { type Mapping, type MappingEntry, testsOf } from './types.js';

const extended = testsOf('cq-creation', 'extended completion queues');
const polling = testsOf('cq-polling', 'completions that startPoll finds');
const ignoring = testsOf('cq-overrun', 'extended completion queues that ignore overruns');

const NO_HANDLES = 'There is no handle to break: an object that has ended stands for it, and the errno is EINVAL.';
const OVERWRITING =
  'A queue made with IGNORE_OVERRUN keeps what came first, as the case has it; any other fails with CQ_ERR (protocol/services.md 3.8), which cq-overrun tests as well.';

const overrun = (test: string): MappingEntry => ({ test: ignoring(test), note: OVERWRITING });

export const mapping: Mapping = {
  'CqExTest.Basic': {
    test: [
      extended('belong to their context, have no channel unless they are given one, and hold what was asked for'),
      extended('that were ended can be neither ended again nor used'),
    ],
  },
  'CqExTest.DestroyInvalidCqEx': {
    test: extended('that were ended can be neither ended again nor used'),
    note: NO_HANDLES,
  },
  'CqExTest.ZeroCqe': { test: extended('of 0 entries are refused') },
  'CqExTest.MaxCqe': {
    test: [
      extended('are of any size up to the device’s largest'),
      extended('larger than the device’s largest are refused'),
    ],
  },
  'CqExTest.WithChannel': { test: extended('of any size can have a channel') },
  'CqExTest.ShareChannel': { test: extended('can share a channel, which outlives each of them') },
  'CqExTest.ZeroCompVector': { test: extended('can be on every completion vector of the context') },
  'CqExTest.LargeCompVector': { test: extended('can be on every completion vector of the context') },
  'CqExTest.AboveMaxCompVector': {
    test: extended('on a completion vector that the context does not have are refused'),
  },
  'CqExOpTest.BasicPollSendCq': {
    test: polling('tell of requests, and when they were done'),
    note: 'The queue has 256 entries, not max_cqe.',
  },
  'CqExOpTest.BasicPollRecvCq': {
    test: polling('tell of messages, and when they were done'),
    note: 'The queue has 256 entries, not max_cqe.',
  },
  'CqExOpTest.BatchPollSendCq': {
    test: polling('tell of the requests of 20 queue pairs in the order of each, and at times that do not go back'),
  },
  'CqExOpTest.BatchPollRecvCq': {
    test: polling('tell of the messages of 20 queue pairs in the order of each, and at times that do not go back'),
  },
  'CqExOverflowTest.SendCqOverflow': overrun('lose the completions of requests that were carried out all the same'),
  'CqExOverflowTest.RecvCqOverflow': overrun('lose the completions of messages that were received all the same'),
};
