import { type Mapping, testsOf } from './types.js';

const creation = testsOf('srq-creation', 'shared receive queues');
const sizes = testsOf('srq-creation', 'sizes of shared receive queues that change');
const posting = testsOf('srq-posting', 'requests of a shared receive queue');
const traffic = testsOf('srq-traffic', 'messages into a shared receive queue');
const crowds = testsOf('srq-crowds', 'messages of many into shared receive queues');
const limits = testsOf('srq-limit', 'limits of a shared receive queue');

const ENDED = 'There is no handle to break: an object that has ended stands for it, and the errno is EINVAL.';
const ONE_THREAD = 'A context belongs to one thread, so what theirs do at the same time takes turns here.';

export const mapping: Mapping = {
  'SrqTest.Create': {
    test: [
      creation('belong to their domain, have at least the sizes that were asked for, and tell of them'),
      creation('that were ended can be neither ended again nor used'),
    ],
  },
  'SrqTest.DestroyInvalidSrq': { test: creation('that were ended can be neither ended again nor used'), note: ENDED },
  'SrqTest.CreateWithInvalidPd': { test: creation('cannot be made in a domain that has ended'), note: ENDED },
  'SrqTest.CreateQpWithSrq': {
    test: creation('are named by the queue pairs that use them, and cannot end before those'),
  },
  'SrqTest.PostWrongApi': { test: creation('take requests that their queue pairs then refuse') },
  'SrqTest.MaxWr': { test: posting('fill it to its size, at one go') },
  'SrqTest.ExceedMaxWr': { test: posting('beyond its size are refused, and those before stay') },
  'SrqTest.MaxSge': {
    test: [
      posting('have as many pieces as the one it was made for'),
      posting('have as many pieces as the 4 it was made for'),
    ],
  },
  'SrqTest.ExceedMaxSge': {
    test: [
      posting('with more pieces than the one it was made for are refused'),
      posting('with more pieces than the 4 it was made for are refused'),
    ],
  },
  'SrqTest.DeviceCap': { test: creation('can be as large as the device allows') },
  'SrqTest.ExceedDeviceMaxWr': { test: creation('with more requests than the device allows, or none, are refused') },
  'SrqTest.ExceedDeviceMaxSge': { test: creation('with more pieces than the device allows are refused') },
  'SrqTest.ModifyMaxWr': { test: sizes('make room in a queue that was full') },
  'SrqTest.ExceedMaxWrInfinitChain': {
    test: posting(
      'in a list that is far longer than it, all of it the same request, are refused at the first too many',
    ),
    note: 'A list of requests has an end; one that names the same request over and over comes nearest.',
  },
  'SrqTest.Send': { test: traffic('arrive whole in the request that was posted') },
  'SrqTest.SendManyWithOneOutstanding': {
    test: traffic('arrive one after the other, each where its request says, in setups that come and go'),
    note: 'Four setups of 500 messages each.',
  },
  'SrqTest.QpFlush': {
    test: traffic('arrive after another queue pair of the queue went to ERR, which takes nothing of it along'),
  },
  'SrqTest.SrqLimit': {
    test: limits('of 50 with 100 requests are reached by the message after 50, once'),
    note: 'Instead of waiting for an event that must not come, the NIC is asked whether it is done.',
  },
  'SrqTest.SendRnr': { test: traffic('wait for a request, and end in RNR_RETRY_EXC_ERR when none comes') },
  'SrqRcMultiplexTest.Send': { test: crowds('come from 10 senders at once, each to its own queue pair') },
  'SrqRcMultiplexTest.WriteWithImmediate': {
    test: crowds('that are WRITEs with immediate data take requests without memory, from 10 senders'),
  },
  'SrqMultiThreadTest.MultiThreadedSrqLoopback': {
    test: crowds('use up each of 1000 requests once, and the one too many finds none'),
    note: ONE_THREAD,
  },
  'SrqMultiThreadTest.MultiThreadedMultiQpSingleSrq': {
    test: crowds('find a request whenever as many are posted again as were taken'),
    note: `${ONE_THREAD} Eight pairs.`,
  },
  'SrqMultiThreadTest.MultiThreadedMultiSrq': {
    test: crowds('keep to their queue and to the order of their senders where there are several queues'),
    note: `${ONE_THREAD} Four queues of 16 pairs each.`,
  },
};
