import { casesOf } from './types.js';

// Local and remote are two connected RC queue pairs on contexts of their own, each with a one-page buffer (filled
// 'a' at the local side, 'b' at the remote), a region over it and a completion queue. Completions are matched by
// wr_id and qp_num as well. A provider can be marked to answer RETRY_EXC_ERR where a remote error is expected; that
// way out is left out here.
export const rdmaUnitTestRc = casesOf('rdma-unit-test', 'unit/rc_test.cc', {
  'LoopbackRcQpTest.Send':
    'SEND of a page into a posted receive: sender completes SUCCESS/SEND, receiver SUCCESS/RECV with byte_len the page size and wc_flags 0; the remote buffer holds the local data.',
  'LoopbackRcQpTest.SendManyWithOneOutstanding':
    '40 fresh pairs (receive queue 512 deep) each do 50,000 page SENDs, one at a time (2 pairs of 500 on a slow device); every SEND and RECV completes SUCCESS with right opcode, length, wr_id and data.',
  'LoopbackRcQpTest.SendEmptySgl':
    'SEND with num_sge 0 into a receive with num_sge 0: both complete SUCCESS, the RECV with byte_len 0 and wc_flags 0.',
  'LoopbackRcQpTest.UnsignaledSend':
    'SEND without SIGNALED: the receive completes SUCCESS with the data, and one poll of the send CQ finds nothing.',
  'LoopbackRcQpTest.SendLargeChunk':
    'SEND of 128 pages (512 KiB, many packets) completes SUCCESS at both ends with byte_len the whole length and all data in place.',
  'LoopbackRcQpTest.SendInlineData':
    'Largest max_inline_data (of 64 to 16536) that create_qp grants: INLINE SEND of that size with a bogus lkey from unregistered memory, overwritten and freed right after the post, arrives as posted; bytes beyond are untouched.',
  'LoopbackRcQpTest.SendExceedMaxInlineData':
    'INLINE SEND of 10 bytes more than the queried max_inline_data: post_send returns EPERM, ENOMEM or EINVAL and the local CQ stays empty.',
  'LoopbackRcQpTest.SendInlineDataInvalidOp':
    'RDMA READ with the INLINE flag and a bogus lkey: post_send returns EINVAL, or it posts and completes LOC_QP_OP_ERR or LOC_PROT_ERR.',
  'LoopbackRcQpTest.SendImmData':
    'SEND_WITH_IMM 0xBADDCAFE: sender SUCCESS/SEND; receiver SUCCESS/RECV with the WITH_IMM flag, the same imm_data, and the data.',
  'LoopbackRcQpTest.SendWithInvalidate':
    'SEND_WITH_INV of a type 2 window bound at the remote QP: RECV completes SUCCESS with wc_flags exactly WITH_INV and invalidated_rkey the window key; a READ through that key afterwards completes REM_ACCESS_ERR.',
  'LoopbackRcQpTest.SendWithInvalidateEmptySgl':
    'SEND_WITH_INV with no SGE into a receive with no SGE: SUCCESS at both ends, WITH_INV and the invalidated rkey reported; a later READ through the key completes REM_ACCESS_ERR (or RETRY_EXC_ERR).',
  'LoopbackRcQpTest.SendWithInvalidateNoBuffer':
    'SEND_WITH_INV of a bound type 2 window while no receive is posted: the sender completes RNR_RETRY_EXC_ERR (rnr_retry 5).',
  'LoopbackRcQpTest.SendWithInvalidateBadRkey':
    'SEND_WITH_INV of an rkey that names nothing, receive posted: the receive completes with an error of any kind; the requester gets no NAK and no completion within 2 s (or REM_ACCESS_ERR from a device that NAKs).',
  'LoopbackRcQpTest.SendWithInvalidateType1Rkey':
    'SEND_WITH_INV of a bound type 1 window key: the receive completes with an error; the requester gets no completion within 2 s (or REM_ACCESS_ERR from a device that NAKs).',
  'LoopbackRcQpTest.SendWithInvalidateWrongQp':
    'SEND_WITH_INV of a type 2 window bound to the sending QP instead of the receiving one: the receive completes with an error; the requester gets no completion within 2 s (or REM_ACCESS_ERR from a device that NAKs).',
  'LoopbackRcQpTest.SendWithTooSmallRecv':
    'Page SEND into a receive one byte shorter: sender REM_INV_REQ_ERR, receiver LOC_LEN_ERR, both QPs end in ERR.',
  'LoopbackRcQpTest.SendRnr':
    'SEND with no receive posted (rnr_retry 5, min_rnr_timer 26) completes RNR_RETRY_EXC_ERR.',
  'LoopbackRcQpTest.SendRnrInfiniteRetries':
    'SEND with no receive posted and rnr_retry 7: no completion appears within 2 s.',
  'LoopbackRcQpTest.BadRecvAddr':
    'Receive SGE starts one byte before its region: the SEND completes REM_OP_ERR, the receive LOC_PROT_ERR.',
  'LoopbackRcQpTest.RecvOnDeregisteredRegion':
    'Region deregistered after the receive is posted and before the SEND: SEND REM_OP_ERR, receive LOC_PROT_ERR, remote buffer unchanged, both QPs in ERR.',
  'LoopbackRcQpTest.RecvPayloadExceedMr':
    'Receive SGE is a page but its region 32 bytes shorter, payload a full page: SEND REM_OP_ERR, receive LOC_PROT_ERR.',
  'LoopbackRcQpTest.RecvBufferExceedMr':
    'Receive SGE is 32 bytes longer than its region while the payload fits: either both SUCCESS, or SEND REM_OP_ERR and receive LOC_PROT_ERR.',
  'LoopbackRcQpTest.BadRecvLkey':
    'Receive posted with an invalid lkey: the SEND completes REM_OP_ERR, the receive LOC_PROT_ERR.',
  'LoopbackRcQpTest.SendInvalidLkey': 'SEND with an invalid lkey completes LOC_PROT_ERR.',
  'LoopbackRcQpTest.UnsignaledSendError':
    'SEND without SIGNALED and with an invalid lkey still gives a completion, LOC_PROT_ERR.',
  'LoopbackRcQpTest.BasicRead':
    'READ of a page completes SUCCESS with opcode RDMA_READ; the local buffer holds the remote data.',
  'LoopbackRcQpTest.BasicReadLargePayload':
    'READ of 128 pages (512 KiB) completes SUCCESS/RDMA_READ with all remote data in the local buffer.',
  'LoopbackRcQpTest.UnsignaledRead':
    'Unsignaled READ (wr_id 1) then signaled READ (wr_id 2): the first completion polled is wr_id 2, SUCCESS/RDMA_READ.',
  'LoopbackRcQpTest.QpSigAll': 'QPs made with sq_sig_all 1: a READ without SIGNALED still completes SUCCESS/RDMA_READ.',
  'LoopbackRcQpTest.Type1MWRead':
    'READ through the rkey of a type 1 window bound over the remote buffer completes SUCCESS with the remote data.',
  'LoopbackRcQpTest.Type2MWRead':
    'READ through the rkey of a type 2 window bound (key 0xBA) at the remote QP completes SUCCESS with the remote data.',
  'LoopbackRcQpTest.Type1MWUnbind':
    'Binding a type 1 window again changes its rkey: a READ with the new key completes SUCCESS, one with the old key REM_ACCESS_ERR.',
  'LoopbackRcQpTest.ReadInvalidLkey':
    'READ with an invalid lkey completes LOC_PROT_ERR and leaves the local buffer alone.',
  'LoopbackRcQpTest.UnsignaledReadError':
    'READ without SIGNALED and with an invalid lkey still gives a completion, LOC_PROT_ERR.',
  'LoopbackRcQpTest.ReadInvalidRkey': 'READ with an invalid rkey completes REM_ACCESS_ERR; local buffer unchanged.',
  'LoopbackRcQpTest.ReadInvalidRKeyAndInvalidLKey':
    'READ with both keys invalid completes REM_ACCESS_ERR (the remote check comes first); local buffer unchanged.',
  'LoopbackRcQpTest.ReadUnregisteredRemoteAddress':
    'READ with a valid rkey at an address outside its region completes REM_ACCESS_ERR; local buffer unchanged.',
  'LoopbackRcQpTest.BasicWrite':
    'WRITE of a page completes SUCCESS with opcode RDMA_WRITE; the remote buffer holds the local data.',
  'LoopbackRcQpTest.BasicWriteLargePayload':
    'WRITE of 128 pages (512 KiB) completes SUCCESS/RDMA_WRITE with all data in place.',
  'LoopbackRcQpTest.UnsignaledWrite':
    'Unsignaled WRITE (wr_id 1) then signaled WRITE (wr_id 2): the first completion polled is wr_id 2, SUCCESS/RDMA_WRITE.',
  'LoopbackRcQpTest.WriteInlineData':
    'INLINE WRITE of 36 bytes with a bogus lkey from unregistered memory, overwritten and freed right after the post: SUCCESS, the bytes as posted land remotely and nothing beyond is touched.',
  'LoopbackRcQpTest.WriteZeroByteWithImmData':
    'WRITE_WITH_IMM with no SGE: requester SUCCESS/RDMA_WRITE; receiver SUCCESS/RECV_RDMA_WITH_IMM, byte_len 0, WITH_IMM and imm 0xBADDCAFE; neither target nor receive buffer changes.',
  'LoopbackRcQpTest.WriteImmData':
    'WRITE_WITH_IMM of a page: receiver SUCCESS/RECV_RDMA_WITH_IMM with byte_len the page and the imm; data lands at the remote address, the receive WR buffer (100 bytes) stays untouched.',
  'LoopbackRcQpTest.WriteImmDataInvalidRKey':
    'WRITE_WITH_IMM with rkey 0xDEADBEEF and a zero-SGE receive posted: requester REM_ACCESS_ERR, receive LOC_ACCESS_ERR or LOC_PROT_ERR, remote buffer unchanged.',
  'LoopbackRcQpTest.WriteImmDataRnR': 'WRITE_WITH_IMM with no receive posted completes RNR_RETRY_EXC_ERR.',
  'LoopbackRcQpTest.Type1MWWrite':
    'WRITE through the rkey of a type 1 window bound over the remote buffer completes SUCCESS and the data lands.',
  'LoopbackRcQpTest.Type2MWWrite':
    'WRITE through the rkey of a type 2 window bound at the remote QP completes SUCCESS and the data lands.',
  'LoopbackRcQpTest.WriteInvalidLkey': 'WRITE with an invalid lkey completes LOC_PROT_ERR; remote buffer unchanged.',
  'LoopbackRcQpTest.WriteInvalidRkey': 'WRITE with an invalid rkey completes REM_ACCESS_ERR; remote buffer unchanged.',
  'LoopbackRcQpTest.UnsignaledWriteInvalidRkey':
    'WRITE without SIGNALED and with an invalid rkey still gives a completion, REM_ACCESS_ERR; remote buffer unchanged.',
  'LoopbackRcQpTest.WriteInvalidRKeyAndInvalidLKey':
    'WRITE with both keys invalid completes LOC_PROT_ERR (the local key is checked first); remote buffer unchanged.',
  'LoopbackRcQpTest.WriteUnregisteredAddress':
    'WRITE with a valid rkey to an address outside its region completes REM_ACCESS_ERR or RETRY_EXC_ERR; that memory is unchanged.',
  'LoopbackRcQpTest.FetchAddInvalidSize':
    'FETCH_ADD with a 9-byte SGE: either SUCCESS with remote 2 to 3 and local 2, or LOC_LEN_ERR/REM_ACCESS_ERR with both values unchanged.',
  'LoopbackRcQpTest.FetchAddNoOp': 'FETCH_ADD of 0 completes SUCCESS: remote stays 2, local receives 2.',
  'LoopbackRcQpTest.FetchAddSplitSgl':
    'FETCH_ADD of 15 with two 4-byte SGEs: the post may fail or the completion may be an error; if SUCCESS, remote is 2+15 and the old value is split over the two SGEs with no byte around them changed.',
  'LoopbackRcQpTest.UnsignaledFetchAdd':
    'Unsignaled FETCH_ADD 10 then signaled FETCH_ADD 1 on 2: one completion, wr_id 2 SUCCESS; remote 13, local 12.',
  'LoopbackRcQpTest.FetchAddIncrementBy1': 'FETCH_ADD of 1 on 2 completes SUCCESS: remote 3, local 2.',
  'LoopbackRcQpTest.FetchAddLargeIncrement':
    'FETCH_ADD of 2^36 on 2 completes SUCCESS: remote 2^36+2, local 2 (64-bit add).',
  'LoopbackRcQpTest.FetchAddUnaligned':
    'FETCH_ADD at a remote address off by one from 8-byte alignment completes REM_INV_REQ_ERR; both values unchanged.',
  'LoopbackRcQpTest.FetchAddInvalidLKey':
    'FETCH_ADD with an invalid lkey completes LOC_PROT_ERR; local unchanged, remote either untouched (2) or already added to (3).',
  'LoopbackRcQpTest.UnsignaledFetchAddError':
    'FETCH_ADD without SIGNALED and with an invalid lkey still gives a completion, LOC_PROT_ERR.',
  'LoopbackRcQpTest.FetchAddInvalidRKey':
    'FETCH_ADD with an invalid rkey completes REM_ACCESS_ERR; both values unchanged.',
  'LoopbackRcQpTest.FetchAddInvalidLKeyAndInvalidRKey':
    'FETCH_ADD with both keys invalid completes REM_ACCESS_ERR; both values unchanged.',
  'LoopbackRcQpTest.FetchAddUnalignedInvalidLKey':
    'Unaligned FETCH_ADD with an invalid lkey completes REM_INV_REQ_ERR; both values unchanged.',
  'LoopbackRcQpTest.FetchAddUnalignedInvalidRKey':
    'Unaligned FETCH_ADD with an invalid rkey completes REM_INV_REQ_ERR (alignment is checked before the key); both values unchanged.',
  'LoopbackRcQpTest.CompareSwapNotEqualNoSwap':
    'CMP_SWAP comparing 1 with remote 2 completes SUCCESS: remote stays 2, local receives 2.',
  'LoopbackRcQpTest.CompareSwapEqualWithSwap':
    'CMP_SWAP comparing 2 with remote 2, swap 3, completes SUCCESS: remote 3, local 2.',
  'LoopbackRcQpTest.UnsignaledCompareSwap':
    'Unsignaled CMP_SWAP 2 to 3, then signaled 3 to 2: one completion, wr_id 2 SUCCESS; remote 2, local 3.',
  'LoopbackRcQpTest.UnsignaledCompareSwapError':
    'CMP_SWAP without SIGNALED and with an invalid lkey completes LOC_PROT_ERR; remote is swapped to 3 all the same, local unchanged.',
  'LoopbackRcQpTest.CompareSwapInvalidLKey':
    'CMP_SWAP with an invalid lkey completes LOC_PROT_ERR; remote is swapped to 3 all the same (the lkey is only checked on the response), local unchanged.',
  'LoopbackRcQpTest.CompareSwapInvalidRKey':
    'CMP_SWAP with an invalid rkey completes REM_ACCESS_ERR; both values unchanged.',
  'LoopbackRcQpTest.CompareSwapInvalidRKeyAndInvalidLKey':
    'CMP_SWAP with both keys invalid completes REM_ACCESS_ERR; both values unchanged.',
  'LoopbackRcQpTest.CompareSwapInvalidSize': 'CMP_SWAP with a 9-byte SGE completes LOC_LEN_ERR; both values unchanged.',
  'LoopbackRcQpTest.CompareSwapUnaligned':
    'CMP_SWAP at an unaligned remote address completes REM_INV_REQ_ERR; both values unchanged.',
  'LoopbackRcQpTest.CompareSwapUnalignedInvalidRKey':
    'Unaligned CMP_SWAP with an invalid rkey completes REM_INV_REQ_ERR; both values unchanged.',
  'LoopbackRcQpTest.CompareSwapUnalignedInvalidLKey':
    'Unaligned CMP_SWAP with an invalid lkey completes REM_INV_REQ_ERR; both values unchanged.',
  'LoopbackRcQpTest.SgePointerChase':
    'The SGE and WR of a READ go out of scope right after post_send: it still completes SUCCESS with the remote data.',
  'LoopbackRcQpTest.RemoteFatalError':
    'Unaligned CMP_SWAP completes REM_INV_REQ_ERR and puts both QPs in ERR; a WRITE posted then completes WR_FLUSH_ERR without touching remote memory, and both CQs are empty after.',
  'LoopbackRcQpTest.QueryQpInitialState': 'query_qp on both ends of a freshly connected pair reports RTS.',
  'RemoteRcQpStateTest.RemoteRcQpStateTests':
    'READ, WRITE, FETCH_ADD and CMP_SWAP against a remote QP in RESET, INIT, RTR, RTS and ERR: RTR and RTS give SUCCESS; ERR gives RETRY_EXC_ERR or REM_OP_ERR; RESET and INIT those or FATAL_ERR (timeout about 1 s).',
  'LoopbackRcQpTest.FullSubmissionQueue':
    'Chained READ posts of half the send queue each, up to a full queue, for 20 batches: every post succeeds while no more than max_send_wr are outstanding, and all complete.',
  'LoopbackRcQpTest.FlushErrorPollTogether':
    'READ with an invalid lkey, then a valid WRITE: completions LOC_PROT_ERR then WR_FLUSH_ERR in order; local QP ERR, remote QP still RTS, local buffer unchanged.',
});
