/** rdma_verbs.h: shared receive queues of identifiers, and messages without work requests. */
import { absent, area, call, here } from '../table.js';

const WAITS = 'blocks the thread; the other is a promise';

export const cmMessages = area(
  'rdma_cm: messages (rdma_verbs.h)',
  call('rdma_seterrno', absent('Calls throw.')),
  call('rdma_create_srq', 'CmId.createSrq'),
  call('rdma_create_srq_ex', here('CmId.createSrq', 'one of type XRC, too')),
  call('rdma_destroy_srq', 'CmId.destroySrq'),
  call('rdma_reg_msgs', here('CmId.regMsgs', 'a buffer or a view is address and length')),
  call('rdma_reg_read', 'CmId.regRead'),
  call('rdma_reg_write', 'CmId.regWrite'),
  call('rdma_dereg_mr', here('Mr.dereg', '`using` does it, too')),
  call('rdma_post_recvv', 'CmId.postRecvv'),
  call('rdma_post_sendv', 'CmId.postSendv'),
  call('rdma_post_readv', 'CmId.postReadv'),
  call('rdma_post_writev', 'CmId.postWritev'),
  call('rdma_post_recv', here('CmId.postRecv', '`mr.sge(offset, length)` is address, length and region')),
  call('rdma_post_send', here('CmId.postSend', 'inline data may be `{ bytes }`')),
  call('rdma_post_read', 'CmId.postRead'),
  call('rdma_post_write', 'CmId.postWrite'),
  call('rdma_post_ud_send', 'CmId.postUdSend'),
  call('rdma_get_send_comp', here(['CmId.getSendComp', 'CmId.nextSendComp'], WAITS)),
  call('rdma_get_recv_comp', here(['CmId.getRecvComp', 'CmId.nextRecvComp'], WAITS)),
);
