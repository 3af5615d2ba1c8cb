/** Queue pairs, shared receive queues and domains of extended reliable connections. */
import { absent, area, call, constants, here, refused, struct } from '../table.js';
import { ECE, HANDLE, LOCKS, MASK, TAGS } from './reasons.js';

const NO_STATE = absent('C has it for its own use; `qp.state` is one of the others.');
const IN_ORDER = absent('Data is there when its completion is; nothing else is promised.');
const HASHING = refused('Context.createRwqIndTable');

export const queuePairs = area(
  'Queue pairs, shared receive queues and XRC domains',
  constants('ibv_xrcd_init_attr_mask', MASK, 'IBV_XRCD_INIT_ATTR_', 'FD OFLAGS RESERVED'),
  struct('ibv_xrcd_init_attr', 'XrcdInitAttr', 'comp_mask fd oflags', {
    comp_mask: MASK,
    oflags: here(['XrcdInitAttr.oFlags', 'XrcdOpenFlags'], 'numbers of `open`'),
  }),
  struct('ibv_xrcd', 'Xrcd', 'context'),
  call('ibv_open_xrcd', 'Context.openXrcd'),
  call('ibv_close_xrcd', 'Xrcd.close'),
  constants(
    'ibv_srq_attr_mask',
    here('SrqAttrMask', 'not needed: the fields that are there count'),
    'IBV_SRQ_',
    'MAX_WR LIMIT',
  ),
  struct('ibv_srq_attr', here(['SrqAttr', 'SrqModifyAttr']), 'max_wr max_sge srq_limit', {
    max_wr: ['SrqAttr.maxWr', 'SrqModifyAttr.maxWr'],
    srq_limit: ['SrqAttr.srqLimit', 'SrqModifyAttr.srqLimit'],
  }),
  struct('ibv_srq_init_attr', 'SrqInitAttr', 'srq_context attr', {
    attr: ['SrqInitAttr.maxWr', 'SrqInitAttr.maxSge', 'SrqInitAttr.srqLimit'],
  }),
  constants('ibv_srq_type', 'SrqType', 'IBV_SRQT_', 'BASIC XRC TM', {
    TM: here('SrqType.TM', '`createSrq` refuses it with EOPNOTSUPP'),
  }),
  constants('ibv_srq_init_attr_mask', MASK, 'IBV_SRQ_INIT_ATTR_', 'TYPE PD XRCD CQ TM RESERVED'),
  struct('ibv_tm_cap', TAGS, 'max_num_tags max_ops'),
  struct('ibv_srq_init_attr_ex', 'SrqInitAttr', 'srq_context attr comp_mask srq_type pd xrcd cq tm_cap', {
    attr: ['SrqInitAttr.maxWr', 'SrqInitAttr.maxSge', 'SrqInitAttr.srqLimit'],
    comp_mask: MASK,
    pd: here('Pd.createSrq', 'the object that it is called on'),
    tm_cap: TAGS,
  }),
  struct('ibv_srq', 'Srq', 'context srq_context pd handle mutex cond events_completed', {
    handle: HANDLE,
    mutex: LOCKS,
    cond: LOCKS,
    events_completed: LOCKS,
  }),
  call('ibv_create_srq', 'Pd.createSrq'),
  call('ibv_create_srq_ex', 'Pd.createSrq'),
  call('ibv_modify_srq', 'Srq.modify'),
  call('ibv_query_srq', 'Srq.query'),
  call('ibv_get_srq_num', 'Srq.srqNum'),
  call('ibv_destroy_srq', 'Srq.destroy'),
  constants('ibv_qp_type', 'QpType', 'IBV_QPT_', 'RC UC UD RAW_PACKET XRC_SEND XRC_RECV DRIVER', {
    DRIVER: absent('This device has no type of its own.'),
  }),
  struct('ibv_qp_cap', 'QpCap', 'max_send_wr max_recv_wr max_send_sge max_recv_sge max_inline_data'),
  struct('ibv_qp_init_attr', 'QpInitAttr', 'qp_context send_cq recv_cq srq cap qp_type sq_sig_all'),
  constants(
    'ibv_qp_init_attr_mask',
    MASK,
    'IBV_QP_INIT_ATTR_',
    'PD XRCD CREATE_FLAGS MAX_TSO_HEADER IND_TABLE RX_HASH SEND_OPS_FLAGS',
  ),
  constants(
    'ibv_qp_create_flags',
    here('QpCreateFlags', 'all but BLOCK_SELF_MCAST_LB: `createQp` refuses with EOPNOTSUPP'),
    'IBV_QP_CREATE_',
    'BLOCK_SELF_MCAST_LB SCATTER_FCS CVLAN_STRIPPING SOURCE_QPN PCI_WRITE_END_PADDING',
  ),
  constants(
    'ibv_qp_create_send_ops_flags',
    'QpCreateSendOpsFlags',
    'IBV_QP_EX_',
    `WITH_RDMA_WRITE WITH_RDMA_WRITE_WITH_IMM WITH_SEND WITH_SEND_WITH_IMM WITH_RDMA_READ WITH_ATOMIC_CMP_AND_SWP
    WITH_ATOMIC_FETCH_AND_ADD WITH_LOCAL_INV WITH_BIND_MW WITH_SEND_WITH_INV WITH_TSO WITH_FLUSH WITH_ATOMIC_WRITE`,
    { WITH_TSO: here('QpCreateSendOpsFlags.WITH_TSO', '`createQp` refuses it with EOPNOTSUPP') },
  ),
  constants('ibv_rx_hash_function_flags', HASHING, 'IBV_RX_HASH_FUNC_', 'TOEPLITZ'),
  constants(
    'ibv_rx_hash_fields',
    HASHING,
    'IBV_RX_HASH_',
    `SRC_IPV4 DST_IPV4 SRC_IPV6 DST_IPV6 SRC_PORT_TCP DST_PORT_TCP SRC_PORT_UDP DST_PORT_UDP IPSEC_SPI INNER`,
  ),
  struct('ibv_rx_hash_conf', HASHING, 'rx_hash_function rx_hash_key_len rx_hash_key rx_hash_fields_mask'),
  struct(
    'ibv_qp_init_attr_ex',
    'QpInitAttr',
    `qp_context send_cq recv_cq srq cap qp_type sq_sig_all comp_mask pd xrcd create_flags max_tso_header rwq_ind_tbl
    rx_hash_conf source_qpn send_ops_flags`,
    {
      comp_mask: MASK,
      pd: here('Pd.createQp', 'the object that it is called on'),
      xrcd: here(['Xrcd.createQp', 'XrcTargetQpInitAttr'], 'the object that it is called on'),
      max_tso_header: absent('There is no TSO: `queryDeviceEx().tsoCaps`.'),
      rwq_ind_tbl: HASHING,
      rx_hash_conf: HASHING,
      source_qpn: here('QpInitAttr.sourceQpn', '`createQp` refuses it with EOPNOTSUPP'),
    },
  ),
  constants('ibv_qp_open_attr_mask', MASK, 'IBV_QP_OPEN_ATTR_', 'NUM XRCD CONTEXT TYPE RESERVED'),
  struct('ibv_qp_open_attr', 'XrcTargetQpOpenAttr', 'comp_mask qp_num xrcd qp_context qp_type', {
    comp_mask: MASK,
    xrcd: here('Xrcd.openQp', 'the object that it is called on'),
    qp_context: 'XrcTargetQpInitAttr.qpContext',
    qp_type: absent('Only QPs of type XRC_RECV can be opened.'),
  }),
  constants(
    'ibv_qp_attr_mask',
    here('QpAttrMask', 'not needed: the fields that are there count'),
    'IBV_QP_',
    `STATE CUR_STATE EN_SQD_ASYNC_NOTIFY ACCESS_FLAGS PKEY_INDEX PORT QKEY AV PATH_MTU TIMEOUT RETRY_CNT RNR_RETRY RQ_PSN
    MAX_QP_RD_ATOMIC ALT_PATH MIN_RNR_TIMER SQ_PSN MAX_DEST_RD_ATOMIC PATH_MIG_STATE CAP DEST_QPN RATE_LIMIT`,
  ),
  constants('ibv_query_qp_data_in_order_flags', IN_ORDER, 'IBV_QUERY_QP_DATA_IN_ORDER_', 'RETURN_CAPS DEVICE_ONLY'),
  constants('ibv_query_qp_data_in_order_caps', IN_ORDER, 'IBV_QUERY_QP_DATA_IN_ORDER_', 'WHOLE_MSG ALIGNED_128_BYTES'),
  constants('ibv_qp_state', 'QpState', 'IBV_QPS_', 'RESET INIT RTR RTS SQD SQE ERR UNKNOWN', { UNKNOWN: NO_STATE }),
  constants('ibv_mig_state', 'MigState', 'IBV_MIG_', 'MIGRATED REARM ARMED'),
  struct(
    'ibv_qp_attr',
    here(['QpAttr', 'QpModifyAttr'], '`modify` takes some of it, `query` gives all'),
    `qp_state cur_qp_state path_mtu path_mig_state qkey rq_psn sq_psn dest_qp_num qp_access_flags cap ah_attr alt_ah_attr
    pkey_index alt_pkey_index en_sqd_async_notify sq_draining max_rd_atomic max_dest_rd_atomic min_rnr_timer port_num
    timeout retry_cnt rnr_retry alt_port_num alt_timeout rate_limit`,
    { ah_attr: ['QpAttr.ahAttr', 'QpModifyAttr.ahAttr'] },
  ),
  struct('ibv_qp_rate_limit_attr', 'QpRateLimit', 'rate_limit max_burst_sz typical_pkt_sz comp_mask', {
    max_burst_sz: 'QpRateLimit.maxBurstSize',
    typical_pkt_sz: 'QpRateLimit.typicalPktSize',
    comp_mask: MASK,
  }),
  struct(
    'ibv_qp',
    here(['Qp', 'QpBase', 'XrcTargetQp'], '`XrcTargetQp` is one of type XRC_RECV'),
    `context qp_context pd send_cq recv_cq srq handle qp_num state qp_type mutex cond events_completed`,
    { handle: HANDLE, mutex: LOCKS, cond: LOCKS, events_completed: LOCKS },
  ),
  call('ibv_create_qp', 'Pd.createQp'),
  call('ibv_create_qp_ex', here(['Pd.createQp', 'Xrcd.createQp'], 'XRC_RECV is made by the XRC domain')),
  call('ibv_open_qp', 'Xrcd.openQp'),
  call('ibv_modify_qp', 'Qp.modify'),
  call('ibv_modify_qp_rate_limit', 'Qp.modifyRateLimit'),
  call('ibv_query_qp_data_in_order', IN_ORDER),
  call('ibv_query_qp', here(['Qp.query', 'QpQuery.attr', 'QpQuery.initAttr'], 'always all of it')),
  call('ibv_destroy_qp', 'Qp.destroy'),
  struct('ibv_ece', ECE, 'vendor_id options comp_mask'),
  call('ibv_set_ece', ECE),
  call('ibv_query_ece', ECE),
);
