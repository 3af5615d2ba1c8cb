import { casesOf } from './types.js';

// "Broken handle" means that the object's kernel handle is XORed with garbage for the length of the call.
export const rdmaUnitTestQp = casesOf('rdma-unit-test', 'unit/qp_test.cc', {
  'QpTest.Create':
    'create_qp (RC) returns a QP whose pd, send_cq, recv_cq, srq (null) and qp_type are those asked for and whose state is RESET; destroy_qp returns 0.',
  'QpTest.CreateWithInlineMax':
    'create_qp with max_inline_data 36, 96, 216, 580 and 1000: where it succeeds, the granted max_inline_data is at least what was asked.',
  'QpTest.CreateWithInvalidSendCq': 'create_qp with a send CQ whose handle is broken returns null.',
  'QpTest.CreateWithInvalidRecvCq': 'create_qp with a receive CQ whose handle is broken returns null.',
  'QpTest.CreateWithInvalidSrq': 'create_qp with an SRQ whose handle is broken returns null.',
  'QpTest.UnknownType': 'create_qp with qp_type 0xf0 returns null.',
  'QpTest.CreateUd': 'create_qp of type UD succeeds.',
  'QpTest.ZeroSendWr': 'create_qp with max_send_wr 0 succeeds.',
  'QpTest.QueueRefs': 'destroy_cq on a CQ that a QP uses returns EBUSY.',
  'QpTest.MaxQpWr':
    'create_qp with max_send_wr, then max_recv_wr, equal to the device max_qp_wr succeeds; one more is tried but either outcome is only logged.',
  'QpTest.MaxSge':
    'create_qp with max_send_sge, then max_recv_sge, equal to the device max_sge succeeds; with one more it fails or grants no more than max_sge.',
  'QpTest.Modify':
    'modify_qp takes an RC QP RESET to INIT to RTR to RTS with the required masks, each step returning 0.',
  'QpTest.ModifyInvalidResetToRtrTransition': 'modify_qp RESET to RTR returns non-zero.',
  'QpTest.ModifyInvalidInitToRtsTransition': 'modify_qp INIT to RTS returns non-zero.',
  'QpTest.ModifyInvalidRtsToRtrTransition': 'modify_qp RTS to RTR returns non-zero.',
  'QpTest.ModifyBadResetToInitStateTransition':
    'RESET to INIT with STATE plus only one of the required attributes (access flags, pkey index, port), or STATE alone, fails each time; with the full mask it then returns 0.',
  'QpTest.ModifyBadInitToRtrStateTransition':
    'INIT to RTR with STATE plus only one of AV, path MTU, dest QPN, RQ PSN, max_dest_rd_atomic, min_rnr_timer, or STATE alone, fails each time; the full mask then returns 0.',
  'QpTest.ModifyBadRtrToRtsStateTransition':
    'RTR to RTS with STATE plus only one of timeout, retry_cnt, rnr_retry, SQ PSN, max_rd_atomic, or STATE alone, fails each time; the full mask then returns 0.',
  'QpTest.UdModify':
    'modify_qp takes a UD QP RESET to INIT (pkey, port, qkey), to RTR (state only), to RTS (SQ PSN 1225), each step returning 0.',
  'QpTest.DeallocPdWithOutstandingQp': 'dealloc_pd while a QP is on the PD returns EBUSY.',
  'QpTest.ModifyInvalidQp': 'modify_qp to INIT on a QP with a broken handle returns ENOENT or EINVAL.',
  'QpTest.QueryInvalidQp': 'query_qp on a QP (in INIT) with a broken handle returns ENOENT or EINVAL.',
  'QpTest.DestroyInvalidQp': 'destroy_qp on a QP with a broken handle returns ENOENT or EINVAL.',
  'QpStateTest.DestroyFromReset': 'destroy_qp of a QP in RESET returns 0.',
  'QpStateTest.DestroyFromInit': 'destroy_qp of a QP in INIT returns 0.',
  'QpStateTest.ReuseQp':
    'A connected pair does a READ, both QPs go to ERR, then RESET, then RTS again: the next READ completes SUCCESS.',
  'QpStateTest.QpIdRollover':
    'While a thread creates and destroys max_qp + 32 QPs (so that QP numbers wrap), READs on another pair keep completing SUCCESS, and 32 more after.',
  'QpStateTest.QpReadWhileTargetEntersRts':
    'READs run against a target in RTR; after 100 of them the target goes to RTS meanwhile; 100 more follow, every one SUCCESS.',
  'QpStateTest.PostSendReset':
    'post_send of a READ in RESET returns 0; after the QP reaches RTS the WR has either been dropped (no completion within 2 s) or completes SUCCESS/RDMA_READ.',
  'QpStateTest.PostRecvReset':
    'post_recv in RESET returns 0; a SEND from a peer in RTS (timeout about 1 s) completes RETRY_EXC_ERR or REM_OP_ERR and the receive does not complete.',
  'QpStateTest.PostSendInit':
    'post_send of a READ in INIT returns 0; after the QP reaches RTS the WR has either been dropped (no completion within 2 s) or completes SUCCESS/RDMA_READ.',
  'QpStateTest.PostRecvInit':
    'post_recv in INIT returns 0; a SEND from a peer in RTS (timeout about 1 s) completes RETRY_EXC_ERR or REM_OP_ERR and the receive does not complete.',
  'QpStateTest.PostSendRtr':
    'post_send of a READ in RTR returns 0; after the QP reaches RTS the WR has either been dropped (no completion within 2 s) or completes SUCCESS/RDMA_READ.',
  'QpStateTest.PostRecvRtr':
    'post_recv in RTR returns 0; after the QP moves on to RTS, a SEND from the peer consumes that receive: SUCCESS/SEND and SUCCESS/RECV.',
  'QpStateTest.PostSendErr': 'A READ posted to a QP in ERR completes WR_FLUSH_ERR.',
  'QpStateTest.PostSendErrConcurrent':
    'Batches of 32 READs run while another thread modifies the QP to ERR: earlier batches SUCCESS, the one under way SUCCESS or WR_FLUSH_ERR, every later one WR_FLUSH_ERR; two rounds with fresh QPs.',
  'QpStateTest.PostSendErrDelayed':
    'After modify to ERR, batches of 32 READs posted at once, after 3 s and after 6 s all complete WR_FLUSH_ERR.',
  'QpStateTest.PostRecvErr': 'A receive posted to a QP in ERR completes WR_FLUSH_ERR.',
  'QpStateTest.RtsSendToRtr':
    'SEND from a QP in RTS to a peer in RTR with a receive posted: SUCCESS/SEND and SUCCESS/RECV.',
  'QpStateTest.ModRtsToError':
    'modify_qp from RTS to ERR with the STATE mask alone returns 0 and query_qp reports ERR.',
  'QpPostTest.OverflowSendWr':
    'One chain of max_send_wr + 1 empty SENDs: post_send returns ENOMEM and bad_wr points to the last WR (those before are accepted).',
  'ResponderQpStateTest.ResponderNotReadyToReceive':
    'READ and WRITE to a responder in RESET and INIT: requester stays RTS after the post, then completes RETRY_EXC_ERR, REM_OP_ERR or FATAL_ERR (a device that buffers completes SUCCESS once the responder is RTS).',
});
