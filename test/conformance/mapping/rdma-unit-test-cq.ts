import { type Mapping, type MappingEntry, testsOf } from './types.js';

const plain = testsOf('cq-creation', 'completion queues');
const shared = testsOf('cq-shared', 'a completion queue that two queue pairs share');
const ignoring = testsOf('cq-overrun', 'completion queues that ignore overruns');

const NO_HANDLES = 'There is no handle to break: an object that has ended stands for it, and the errno is EINVAL.';
const ONE_THREAD = 'A context belongs to one thread, so the queue pairs take turns in it.';
const OVERWRITING =
  'A queue made with IGNORE_OVERRUN keeps what came first, as the case has it; any other fails with CQ_ERR (protocol/services.md 3.8), which cq-overrun tests as well.';

const overrun = (test: string): MappingEntry => ({ test: ignoring(test), note: OVERWRITING });
const inTurns = (test: string): MappingEntry => ({ test: ignoring(test), note: `${ONE_THREAD} ${OVERWRITING}` });

export const mapping: Mapping = {
  'CqTest.Basic': {
    test: [
      plain('belong to their context, have no channel unless they are given one, and hold what was asked for'),
      plain('that were ended can be neither ended again nor used'),
    ],
  },
  'CqTest.DestroyInvalidCq': { test: plain('that were ended can be neither ended again nor used'), note: NO_HANDLES },
  'CqTest.NegativeCqe': { test: plain('of -1 entries are refused') },
  'CqTest.ZeroCqe': { test: plain('of 0 entries are refused') },
  'CqTest.MaxCqe': {
    test: [plain('are of any size up to the device’s largest'), plain('larger than the device’s largest are refused')],
  },
  'CqTest.WithChannel': { test: plain('of any size can have a channel') },
  'CqTest.ShareChannel': { test: plain('can share a channel, which outlives each of them') },
  'CqTest.NegativeCompVector': {
    test: plain('on a completion vector that the context does not have are refused'),
  },
  'CqTest.ZeroCompVector': { test: plain('can be on every completion vector of the context') },
  'CqTest.LargeCompVector': { test: plain('can be on every completion vector of the context') },
  'CqTest.AboveMaxCompVector': {
    test: plain('on a completion vector that the context does not have are refused'),
  },
  'CqBatchOpTest.SendSharedCq': { test: shared('tells of the WRITEs of each in their order'), note: ONE_THREAD },
  'CqBatchOpTest.RecvSharedCq': { test: shared('tells of the messages to each in their order'), note: ONE_THREAD },
  'CqOverflowTest.SendCqOverflow': overrun('lose the completions of requests that were carried out all the same'),
  'CqOverflowTest.SendSharedCqOverflow': inTurns(
    'lose completions of requests of all queue pairs that share them, and keep the order of each',
  ),
  'CqOverflowTest.RecvCqOverflow': overrun('lose the completions of messages that were received all the same'),
  'CqOverflowTest.RecvSharedCqOverflow': inTurns(
    'lose completions of messages of all queue pairs that share them, and keep the order of each',
  ),
};
