/** Work requests, posting them, and building them without objects. */
import { absent, area, call, constants, here, refused, struct } from '../table.js';
import { MASK, TAGS } from './reasons.js';

const CHAIN = absent('Requests are posted as an array.');
const COUNT = absent('Arrays know their length.');
const NO_TSO = refused('SendBuilder.wrSendTso');

export const requests = area(
  'Work requests',
  constants(
    'ibv_wr_opcode',
    'WrOpcode',
    'IBV_WR_',
    `RDMA_WRITE RDMA_WRITE_WITH_IMM SEND SEND_WITH_IMM RDMA_READ ATOMIC_CMP_AND_SWP ATOMIC_FETCH_AND_ADD LOCAL_INV BIND_MW
    SEND_WITH_INV TSO DRIVER1 FLUSH ATOMIC_WRITE`,
    {
      TSO: here('WrOpcode.TSO', '`postSend` refuses it with EOPNOTSUPP'),
      DRIVER1: absent('This device has no requests of its own kind.'),
    },
  ),
  constants('ibv_send_flags', 'SendFlags', 'IBV_SEND_', 'FENCE SIGNALED SOLICITED INLINE IP_CSUM'),
  constants('ibv_placement_type', 'PlacementType', 'IBV_', 'FLUSH_GLOBAL FLUSH_PERSISTENT'),
  constants('ibv_selectivity_level', 'SelectivityLevel', 'IBV_', 'FLUSH_RANGE FLUSH_MR'),
  struct(
    'ibv_data_buf',
    here('InlineData', 'in a request; `wrSetInlineDataList` takes the arrays alone'),
    'addr length',
    {
      addr: 'InlineData.bytes',
      length: 'InlineData.bytes',
    },
  ),
  struct('ibv_sge', here('Sge', '`mr.sge(offset, length)` makes one'), 'addr length lkey'),
  struct('ibv_fd_arr', absent('Nothing takes it.'), 'arr count'),
  struct(
    'ibv_send_wr',
    here(
      [
        'SendWr',
        'SendRequest',
        'SendWithImmRequest',
        'SendWithInvRequest',
        'RdmaWriteRequest',
        'RdmaWriteWithImmRequest',
        'RdmaReadRequest',
        'CompareAndSwapRequest',
        'FetchAndAddRequest',
        'LocalInvRequest',
        'BindMwRequest',
        'FlushRequest',
        'AtomicWriteRequest',
      ],
      'one shape for each opcode',
    ),
    `wr_id next sg_list num_sge opcode send_flags imm_data invalidate_rkey wr wr.rdma wr.rdma.remote_addr wr.rdma.rkey
    wr.atomic wr.atomic.remote_addr wr.atomic.compare_add wr.atomic.swap wr.atomic.rkey wr.ud wr.ud.ah wr.ud.remote_qpn
    wr.ud.remote_qkey qp_type qp_type.xrc qp_type.xrc.remote_srqn bind_mw bind_mw.mw bind_mw.rkey bind_mw.bind_info tso
    tso.hdr tso.hdr_sz tso.mss`,
    {
      next: CHAIN,
      num_sge: COUNT,
      sg_list: here(['SendWr.sgList', 'SendSge'], 'inline data may stand in it as bytes'),
      imm_data: here('SendWr.immData', 'a number in host order'),
      wr: absent('Its members stand in the request itself.'),
      'wr.rdma': ['SendWr.rdma', 'RemoteMemory'],
      'wr.rdma.remote_addr': 'SendWr.rdma.remoteAddr',
      'wr.rdma.rkey': 'SendWr.rdma.rkey',
      'wr.atomic': ['SendWr.atomic', 'AtomicCompareAndSwap', 'AtomicFetchAndAdd'],
      'wr.atomic.remote_addr': 'SendWr.atomic.remoteAddr',
      'wr.atomic.compare_add': 'SendWr.atomic.compareAdd',
      'wr.atomic.swap': 'SendWr.atomic.swap',
      'wr.atomic.rkey': 'SendWr.atomic.rkey',
      'wr.ud': ['SendWr.ud', 'DatagramDestination'],
      'wr.ud.ah': 'SendWr.ud.ah',
      'wr.ud.remote_qpn': 'SendWr.ud.remoteQpn',
      'wr.ud.remote_qkey': 'SendWr.ud.remoteQkey',
      qp_type: absent('Its member stands in the request itself.'),
      'qp_type.xrc': ['SendWr.xrc', 'XrcDestination'],
      'qp_type.xrc.remote_srqn': 'SendWr.xrc.remoteSrqn',
      tso: NO_TSO,
      'tso.hdr': NO_TSO,
      'tso.hdr_sz': NO_TSO,
      'tso.mss': NO_TSO,
    },
  ),
  struct('ibv_recv_wr', 'RecvWr', 'wr_id next sg_list num_sge', { next: CHAIN, num_sge: COUNT }),
  call('ibv_post_send', here('Qp.postSend', 'throws PostError, which names the request')),
  call('ibv_post_recv', here('Qp.postRecv', 'throws PostError, which names the request')),
  call('ibv_post_srq_recv', here('Srq.postRecv', 'throws PostError, which names the request')),
  constants('ibv_ops_wr_opcode', TAGS, 'IBV_WR_', 'TAG_ADD TAG_DEL TAG_SYNC'),
  constants('ibv_ops_flags', TAGS, 'IBV_OPS_', 'SIGNALED TM_SYNC'),
  struct(
    'ibv_ops_wr',
    TAGS,
    `wr_id next opcode flags tm tm.unexpected_cnt tm.handle tm.add tm.add.recv_wr_id tm.add.sg_list tm.add.num_sge
    tm.add.tag tm.add.mask`,
  ),
  call('ibv_post_srq_ops', TAGS),
  struct(
    'ibv_qp_ex',
    here(['Qp', 'SendBuilder'], 'every QP is one'),
    `qp_base comp_mask wr_id wr_flags wr_atomic_cmp_swp wr_atomic_fetch_add wr_bind_mw wr_local_inv wr_rdma_read
    wr_rdma_write wr_rdma_write_imm wr_send wr_send_imm wr_send_inv wr_send_tso wr_set_ud_addr wr_set_xrc_srqn
    wr_set_inline_data wr_set_inline_data_list wr_set_sge wr_set_sge_list wr_start wr_complete wr_abort wr_atomic_write
    wr_flush`,
    { qp_base: here('Qp', 'the same object'), comp_mask: MASK, wr_send_tso: NO_TSO },
  ),
  call('ibv_qp_to_qp_ex', absent('Every QP is one.')),
  call('ibv_wr_atomic_cmp_swp', 'SendBuilder.wrAtomicCmpSwp'),
  call('ibv_wr_atomic_fetch_add', 'SendBuilder.wrAtomicFetchAdd'),
  call('ibv_wr_bind_mw', 'SendBuilder.wrBindMw'),
  call('ibv_wr_local_inv', 'SendBuilder.wrLocalInv'),
  call('ibv_wr_rdma_read', 'SendBuilder.wrRdmaRead'),
  call('ibv_wr_rdma_write', 'SendBuilder.wrRdmaWrite'),
  call('ibv_wr_flush', 'SendBuilder.wrFlush'),
  call('ibv_wr_rdma_write_imm', 'SendBuilder.wrRdmaWriteImm'),
  call('ibv_wr_send', 'SendBuilder.wrSend'),
  call('ibv_wr_send_imm', 'SendBuilder.wrSendImm'),
  call('ibv_wr_send_inv', 'SendBuilder.wrSendInv'),
  call('ibv_wr_send_tso', NO_TSO),
  call('ibv_wr_set_ud_addr', 'SendBuilder.wrSetUdAddr'),
  call('ibv_wr_set_xrc_srqn', 'SendBuilder.wrSetXrcSrqn'),
  call('ibv_wr_set_inline_data', 'SendBuilder.wrSetInlineData'),
  call('ibv_wr_set_inline_data_list', 'SendBuilder.wrSetInlineDataList'),
  call('ibv_wr_set_sge', 'SendBuilder.wrSetSge'),
  call('ibv_wr_set_sge_list', 'SendBuilder.wrSetSgeList'),
  call('ibv_wr_start', 'SendBuilder.wrStart'),
  call('ibv_wr_complete', here('SendBuilder.wrComplete', 'throws where the C call returns an errno')),
  call('ibv_wr_abort', 'SendBuilder.wrAbort'),
  call('ibv_wr_atomic_write', 'SendBuilder.wrAtomicWrite'),
);
