import { casesOf } from './types.js';

// A loopback RC pair with a completion channel and a CQ for each end. "Ready" is POLLIN on the channel within 20 ms.
export const rdmaUnitTestCompChannel = casesOf('rdma-unit-test', 'unit/comp_channel_test.cc', {
  'CompChannelTest.CreateDestroy':
    'create_comp_channel returns a channel on the right context; destroy_comp_channel returns 0.',
  'CompChannelTest.DestroyChannelWithCqRef':
    'destroy_comp_channel while a CQ uses it returns EBUSY; after destroy_cq it returns 0.',
  'CompChannelTest.RequestNotificationOnCqWithoutCompChannel':
    'req_notify_cq on a CQ that has no channel returns non-zero.',
  'CompChannelTest.RequestNotificationInvalidCq':
    'req_notify_cq on a CQ with a broken handle returns ENOENT, EFAULT or EINVAL.',
  'CompChannelTest.Atomic':
    'Armed CQ, FETCH_ADD of 0 completes SUCCESS: channel becomes ready (not before) and get_cq_event names that CQ.',
  'CompChannelTest.Bind':
    'Armed CQ, type 2 bind completes SUCCESS: channel becomes ready and get_cq_event names that CQ.',
  'CompChannelTest.Write':
    'Armed CQ, WRITE completes SUCCESS: channel becomes ready (not before) and get_cq_event names that CQ.',
  'CompChannelTest.RecvSolicitedNofityAny':
    'Receive CQ armed for any, SEND with SOLICITED: its channel becomes ready and names the CQ; the unarmed send channel does not.',
  'CompChannelTest.RecvSolicitedNofitySolicited':
    'Receive CQ armed for solicited only, SEND with SOLICITED: its channel becomes ready and names the CQ; the send channel does not.',
  'CompChannelTest.RecvUnsolicitedNofityAny':
    'Receive CQ armed for any, SEND without SOLICITED: its channel becomes ready and names the CQ; the send channel does not.',
  'CompChannelTest.RecvUnsolicitedNofitySolicited':
    'Receive CQ armed for solicited only, SEND without SOLICITED: both complete but neither channel becomes ready.',
  'CompChannelTest.DeleteWithUnacked':
    'After get_cq_event without ack, destroy_cq returns non-zero (the QP still uses the CQ as well); the event is then acked.',
  'CompChannelTest.SameQueueMultipleOutstanding':
    'Arm, WRITE, poll, arm, WRITE, poll, with no event taken meanwhile: channel is ready and at least one event names the CQ (the two may collapse).',
  'CompChannelTest.MuxOntoSingleChannel':
    '20 QP pairs whose 40 CQs share one channel, one armed WRITE on each pair: 20 events arrive, each naming one of the requester CQs with its cq_context.',
  'CompChannelTest.ManyOutstanding':
    'Arm, WRITE and poll 1000 times without taking an event: channel is ready and an event names the CQ.',
  'CompChannelTest.DowngradeRequest':
    'Armed for any and then for solicited only: an unsolicited SEND still makes the receive channel ready (the first request stands).',
  'CompChannelTest.UpgradeRequest':
    'Armed for solicited only and then for any: an unsolicited SEND makes the receive channel ready and the event names the CQ.',
  'CompChannelTest.NoSpuriousEvents':
    'Arm, WRITE, event taken and acked; a second WRITE completes unarmed and is polled; arming again then gives no event.',
});
