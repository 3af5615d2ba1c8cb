import { type Mapping, testsOf } from './types.js';

const channels = testsOf('channel-lifetime', 'completion channels');
const events = testsOf('channel-events', 'events of completion queues');

export const mapping: Mapping = {
  'CompChannelTest.CreateDestroy': { test: channels('belong to their context, and end once') },
  'CompChannelTest.DestroyChannelWithCqRef': { test: channels('cannot end while a completion queue uses them') },
  'CompChannelTest.RequestNotificationOnCqWithoutCompChannel': { test: channels('are needed to ask for events') },
  'CompChannelTest.RequestNotificationInvalidCq': {
    test: channels('hear nothing of queues that have ended, which cannot be asked'),
    note: 'There is no handle to break: a queue that has ended stands for it.',
  },
  'CompChannelTest.Atomic': { test: events('tell that an atomic has completed') },
  'CompChannelTest.Bind': { test: events('tell that a bind has completed') },
  'CompChannelTest.Write': { test: events('tell that a WRITE has completed') },
  'CompChannelTest.RecvSolicitedNofityAny': {
    test: events('asked of any completion tell of a solicited message, and only at the end that asked'),
  },
  'CompChannelTest.RecvSolicitedNofitySolicited': {
    test: events('asked of solicited ones tell of a solicited message, and only at the end that asked'),
  },
  'CompChannelTest.RecvUnsolicitedNofityAny': {
    test: events('asked of any completion tell of an unsolicited message, and only at the end that asked'),
  },
  'CompChannelTest.RecvUnsolicitedNofitySolicited': {
    test: events('asked of solicited ones do not tell of an unsolicited message, and only at the end that asked'),
  },
  'CompChannelTest.DeleteWithUnacked': {
    test: channels('keep a queue alive until its events are acknowledged, and count them'),
    note: 'Ours goes on: with the queue pair gone the queue is still busy, until the event is acknowledged.',
  },
  'CompChannelTest.SameQueueMultipleOutstanding': {
    test: events('that nobody takes while 2 requests are asked for and complete are there afterwards'),
  },
  'CompChannelTest.MuxOntoSingleChannel': {
    test: events('name each of 20 queues that share a channel, and none of the others'),
  },
  'CompChannelTest.ManyOutstanding': {
    test: events('that nobody takes while 1000 requests are asked for and complete are there afterwards'),
  },
  'CompChannelTest.DowngradeRequest': {
    test: events('asked of any completion stay so when solicited ones are asked for as well'),
  },
  'CompChannelTest.UpgradeRequest': { test: events('asked of solicited completions become those of any') },
  'CompChannelTest.NoSpuriousEvents': {
    test: events('are one for each time they are asked for, and none for what completed before'),
  },
};
