import { type Mapping, testsOf } from './types.js';

const send = testsOf('rc-send', 'RC SEND');
const invalidate = testsOf('rc-invalidate', 'RC SEND with invalidate');
const receive = testsOf('rc-receive', 'RC receive requests');
const read = testsOf('rc-read-write', 'RC READ');
const write = testsOf('rc-read-write', 'RC WRITE');
const writeImm = testsOf('rc-read-write', 'RC WRITE with immediate data');
const requests = testsOf('rc-keys', 'RC requests');
const toPeer = testsOf('rc-peer-state', 'RC to a peer');
const atomics = testsOf('atomics-values', 'RC atomics');
const refuse = testsOf('atomics-refusals', 'RC atomics refuse');

const wrongLkey = 'an L_Key that nothing has end in LOC_PROT_ERR and change nothing';
const wrongRkey = 'an R_Key that nothing has end in REM_ACCESS_ERR and change nothing';

const checkedFirst = 'A local key is looked at before the request is sent, so that nothing happens at the peer.';
const checkedWhilePosting =
  'An address that is not a multiple of 8 is refused while posting, with EINVAL, and never reaches the peer.';
const nakked = 'The sender gets REM_ACCESS_ERR: this device answers with a NAK.';

export const mapping: Mapping = {
  'LoopbackRcQpTest.Send': { test: send('arrives whole and completes at both ends') },
  'LoopbackRcQpTest.SendManyWithOneOutstanding': {
    test: send('arrives each time, one after the other on several pairs'),
    note: 'As many as rdma-unit-test does on a slow device.',
  },
  'LoopbackRcQpTest.SendEmptySgl': { test: send('of no pieces takes a receive request of none') },
  'LoopbackRcQpTest.UnsignaledSend': { test: send('without SIGNALED completes at the receiver alone') },
  'LoopbackRcQpTest.SendLargeChunk': { test: send('of 128 pages arrives whole') },
  'LoopbackRcQpTest.SendInlineData': {
    test: send('takes inline data while posting, as much as a QP can be made with'),
    note: 'Memory that is not registered is given as bytes: JavaScript does not name it by an address.',
  },
  'LoopbackRcQpTest.SendExceedMaxInlineData': { test: send('refuses more inline data than the QP takes') },
  'LoopbackRcQpTest.SendInlineDataInvalidOp': {
    test: send('is one of the requests that can be inline, and READ is not'),
  },
  'LoopbackRcQpTest.SendImmData': { test: send('with immediate data delivers the number beside the message') },
  'LoopbackRcQpTest.SendWithInvalidate': {
    test: invalidate('of a page closes a window of type 2 and says so to the receiver'),
  },
  'LoopbackRcQpTest.SendWithInvalidateEmptySgl': {
    test: invalidate('of no bytes closes a window of type 2 and says so to the receiver'),
  },
  'LoopbackRcQpTest.SendWithInvalidateNoBuffer': {
    test: invalidate('without a receive request ends in RNR_RETRY_EXC_ERR'),
  },
  'LoopbackRcQpTest.SendWithInvalidateBadRkey': {
    test: invalidate('of a key that nothing has fails at both ends'),
    note: nakked,
  },
  'LoopbackRcQpTest.SendWithInvalidateType1Rkey': {
    test: invalidate('of a window of type 1 fails at both ends'),
    note: nakked,
  },
  'LoopbackRcQpTest.SendWithInvalidateWrongQp': {
    test: invalidate('of a window of type 2 that is bound to another QP fails at both ends'),
    note: nakked,
  },
  'LoopbackRcQpTest.SendWithTooSmallRecv': { test: receive('shorter than the message fail at both ends') },
  'LoopbackRcQpTest.SendRnr': { test: receive('that are not there end a SEND in RNR_RETRY_EXC_ERR') },
  'LoopbackRcQpTest.SendRnrInfiniteRetries': {
    test: receive('are waited for without end where rnrRetry is 7'),
    note: 'Instead of two seconds, twenty refusals are waited for; the SEND succeeds once there is a receive request.',
  },
  'LoopbackRcQpTest.BadRecvAddr': { test: receive('that name memory before their region fail at both ends') },
  'LoopbackRcQpTest.RecvOnDeregisteredRegion': {
    test: receive('whose region has ended since fail at both ends and change nothing'),
  },
  'LoopbackRcQpTest.RecvPayloadExceedMr': {
    test: receive('longer than their region fail at both ends when the message is as long'),
  },
  'LoopbackRcQpTest.RecvBufferExceedMr': {
    test: receive('longer than their region fail at both ends although the message would fit'),
    note: 'Of the two outcomes that rdma-unit-test takes, this device has the error.',
  },
  'LoopbackRcQpTest.BadRecvLkey': { test: receive('with a key that nothing has fail at both ends') },
  'LoopbackRcQpTest.SendInvalidLkey': { test: requests(`of signaled SEND with ${wrongLkey}`) },
  'LoopbackRcQpTest.UnsignaledSendError': { test: requests(`of unsignaled SEND with ${wrongLkey}`) },
  'LoopbackRcQpTest.BasicRead': { test: read('fetches a page') },
  'LoopbackRcQpTest.BasicReadLargePayload': { test: read('fetches 128 pages') },
  'LoopbackRcQpTest.UnsignaledRead': { test: read('without SIGNALED makes no entry') },
  'LoopbackRcQpTest.QpSigAll': { test: read('makes an entry without SIGNALED where the QP signals all') },
  'LoopbackRcQpTest.Type1MWRead': { test: read('fetches through a window of type 1') },
  'LoopbackRcQpTest.Type2MWRead': { test: read('fetches through a window of type 2') },
  'LoopbackRcQpTest.Type1MWUnbind': {
    test: read('through a window that was bound anew works by the new key alone'),
  },
  'LoopbackRcQpTest.ReadInvalidLkey': { test: requests(`of signaled READ with ${wrongLkey}`) },
  'LoopbackRcQpTest.UnsignaledReadError': { test: requests(`of unsignaled READ with ${wrongLkey}`) },
  'LoopbackRcQpTest.ReadInvalidRkey': { test: requests(`of signaled READ with ${wrongRkey}`) },
  'LoopbackRcQpTest.ReadInvalidRKeyAndInvalidLKey': {
    test: requests('of signaled READ with both keys wrong end in LOC_PROT_ERR and change nothing'),
    note: `LOC_PROT_ERR, not REM_ACCESS_ERR. ${checkedFirst}`,
  },
  'LoopbackRcQpTest.ReadUnregisteredRemoteAddress': {
    test: requests('of signaled READ with an address outside its region end in REM_ACCESS_ERR and change nothing'),
  },
  'LoopbackRcQpTest.BasicWrite': { test: write('puts a page in place') },
  'LoopbackRcQpTest.BasicWriteLargePayload': { test: write('puts 128 pages in place') },
  'LoopbackRcQpTest.UnsignaledWrite': { test: write('without SIGNALED makes no entry') },
  'LoopbackRcQpTest.WriteInlineData': {
    test: write('takes inline data while posting and touches nothing beyond it'),
    note: 'Memory that is not registered is given as bytes: JavaScript does not name it by an address.',
  },
  'LoopbackRcQpTest.WriteZeroByteWithImmData': {
    test: writeImm('of no bytes completes a receive request and changes no memory'),
  },
  'LoopbackRcQpTest.WriteImmData': {
    test: writeImm('puts the bytes where it names and leaves the memory of the receive request alone'),
  },
  'LoopbackRcQpTest.WriteImmDataInvalidRKey': {
    test: [
      writeImm('with a key that nothing has fails at both ends'),
      writeImm('of several packets with a key that nothing has flushes the receive request'),
    ],
    note:
      'The receive request ends in LOC_ACCESS_ERR when the WRITE is one packet. The first of several is refused before ' +
      'a receive request is taken, which is then flushed.',
  },
  'LoopbackRcQpTest.WriteImmDataRnR': { test: writeImm('without a receive request ends in RNR_RETRY_EXC_ERR') },
  'LoopbackRcQpTest.Type1MWWrite': { test: write('reaches through a window of type 1') },
  'LoopbackRcQpTest.Type2MWWrite': { test: write('reaches through a window of type 2') },
  'LoopbackRcQpTest.WriteInvalidLkey': { test: requests(`of signaled WRITE with ${wrongLkey}`) },
  'LoopbackRcQpTest.WriteInvalidRkey': { test: requests(`of signaled WRITE with ${wrongRkey}`) },
  'LoopbackRcQpTest.UnsignaledWriteInvalidRkey': { test: requests(`of unsignaled WRITE with ${wrongRkey}`) },
  'LoopbackRcQpTest.WriteInvalidRKeyAndInvalidLKey': {
    test: requests('of signaled WRITE with both keys wrong end in LOC_PROT_ERR and change nothing'),
  },
  'LoopbackRcQpTest.WriteUnregisteredAddress': {
    test: requests('of signaled WRITE with an address outside its region end in REM_ACCESS_ERR and change nothing'),
  },
  'LoopbackRcQpTest.FetchAddInvalidSize': {
    test: atomics('FETCH_ADD is refused with room for other than 8 bytes'),
    note: 'Refused while posting, with EINVAL.',
  },
  'LoopbackRcQpTest.FetchAddNoOp': {
    test: atomics('FETCH_ADD of 0, which changes nothing, adds at the peer and fetches what was there'),
  },
  'LoopbackRcQpTest.FetchAddSplitSgl': {
    test: atomics('FETCH_ADD divides what it fetches among its pieces and touches nothing around them'),
  },
  'LoopbackRcQpTest.UnsignaledFetchAdd': {
    test: atomics('FETCH_ADD without SIGNALED is carried out and makes no entry'),
  },
  'LoopbackRcQpTest.FetchAddIncrementBy1': {
    test: atomics('FETCH_ADD of 1 adds at the peer and fetches what was there'),
  },
  'LoopbackRcQpTest.FetchAddLargeIncrement': {
    test: atomics('FETCH_ADD of 2 to the 36th adds at the peer and fetches what was there'),
  },
  'LoopbackRcQpTest.FetchAddUnaligned': {
    test: refuse('an address that is not a multiple of 8: signaled FETCH_ADD ends in EINVAL and changes nothing'),
    note: checkedWhilePosting,
  },
  'LoopbackRcQpTest.FetchAddInvalidLKey': {
    test: refuse('another L_Key: signaled FETCH_ADD ends in LOC_PROT_ERR and changes nothing'),
  },
  'LoopbackRcQpTest.UnsignaledFetchAddError': {
    test: refuse('another L_Key: unsignaled FETCH_ADD ends in LOC_PROT_ERR and changes nothing'),
  },
  'LoopbackRcQpTest.FetchAddInvalidRKey': {
    test: refuse('another R_Key: signaled FETCH_ADD ends in REM_ACCESS_ERR and changes nothing'),
  },
  'LoopbackRcQpTest.FetchAddInvalidLKeyAndInvalidRKey': {
    test: refuse('other keys: signaled FETCH_ADD ends in LOC_PROT_ERR and changes nothing'),
    note: `LOC_PROT_ERR, not REM_ACCESS_ERR. ${checkedFirst}`,
  },
  'LoopbackRcQpTest.FetchAddUnalignedInvalidLKey': {
    test: refuse(
      'an address that is not a multiple of 8 and another L_Key: signaled FETCH_ADD ends in EINVAL and changes nothing',
    ),
    note: checkedWhilePosting,
  },
  'LoopbackRcQpTest.FetchAddUnalignedInvalidRKey': {
    test: refuse(
      'an address that is not a multiple of 8 and another R_Key: signaled FETCH_ADD ends in EINVAL and changes nothing',
    ),
    note: checkedWhilePosting,
  },
  'LoopbackRcQpTest.CompareSwapNotEqualNoSwap': {
    test: atomics('CMP_SWAP of another value swaps nothing and fetches what is there'),
  },
  'LoopbackRcQpTest.CompareSwapEqualWithSwap': {
    test: atomics('CMP_SWAP of an equal value swaps and fetches what was there'),
  },
  'LoopbackRcQpTest.UnsignaledCompareSwap': {
    test: atomics('CMP_SWAP without SIGNALED is carried out and makes no entry'),
  },
  'LoopbackRcQpTest.UnsignaledCompareSwapError': {
    test: refuse('another L_Key: unsignaled CMP_SWAP ends in LOC_PROT_ERR and changes nothing'),
    note: `Nothing is swapped. ${checkedFirst}`,
  },
  'LoopbackRcQpTest.CompareSwapInvalidLKey': {
    test: refuse('another L_Key: signaled CMP_SWAP ends in LOC_PROT_ERR and changes nothing'),
    note: `Nothing is swapped. ${checkedFirst}`,
  },
  'LoopbackRcQpTest.CompareSwapInvalidRKey': {
    test: refuse('another R_Key: signaled CMP_SWAP ends in REM_ACCESS_ERR and changes nothing'),
  },
  'LoopbackRcQpTest.CompareSwapInvalidRKeyAndInvalidLKey': {
    test: refuse('other keys: signaled CMP_SWAP ends in LOC_PROT_ERR and changes nothing'),
    note: `LOC_PROT_ERR, not REM_ACCESS_ERR. ${checkedFirst}`,
  },
  'LoopbackRcQpTest.CompareSwapInvalidSize': {
    test: atomics('CMP_SWAP is refused with room for other than 8 bytes'),
    note: 'Refused while posting, with EINVAL, where others complete LOC_LEN_ERR.',
  },
  'LoopbackRcQpTest.CompareSwapUnaligned': {
    test: refuse('an address that is not a multiple of 8: signaled CMP_SWAP ends in EINVAL and changes nothing'),
    note: checkedWhilePosting,
  },
  'LoopbackRcQpTest.CompareSwapUnalignedInvalidRKey': {
    test: refuse(
      'an address that is not a multiple of 8 and another R_Key: signaled CMP_SWAP ends in EINVAL and changes nothing',
    ),
    note: checkedWhilePosting,
  },
  'LoopbackRcQpTest.CompareSwapUnalignedInvalidLKey': {
    test: refuse(
      'an address that is not a multiple of 8 and another L_Key: signaled CMP_SWAP ends in EINVAL and changes nothing',
    ),
    note: checkedWhilePosting,
  },
  'LoopbackRcQpTest.SgePointerChase': {
    test: read('does not need its request and pieces once postSend has returned'),
  },
  'LoopbackRcQpTest.RemoteFatalError': {
    test: requests('that the peer does not allow at all put both ends in ERR, and what follows is flushed'),
    note: 'The invalid request is a READ that the QP does not allow, since an atomic at an odd address cannot be posted.',
  },
  'LoopbackRcQpTest.QueryQpInitialState': { test: toPeer('that has just been connected, both ends are in RTS') },
  'RemoteRcQpStateTest.RemoteRcQpStateTests': {
    test: ['READ', 'WRITE', 'FETCH_ADD', 'CMP_SWAP'].flatMap((request) => [
      ...['RESET', 'INIT', 'ERR'].map((state) => toPeer(`in state ${state}, ${request} ends in RETRY_EXC_ERR`)),
      ...['RTR', 'RTS'].map((state) => toPeer(`in state ${state}, ${request} succeeds`)),
    ]),
  },
  'LoopbackRcQpTest.FullSubmissionQueue': {
    test: read('can be posted in batches until the send queue is full, over and over'),
  },
  'LoopbackRcQpTest.FlushErrorPollTogether': {
    test: requests('behind one with a wrong L_Key are flushed, in order, and the peer does not notice'),
  },
};
