/** Asynchronous events, completion channels, completion queues and work completions. */
import { absent, area, call, constants, here, struct } from '../table.js';
import { COUNTER_FLAGS, DESCRIPTOR, HANDLE, LOCKS, MASK, TAGS } from './reasons.js';

const REFUSED_FIELD = '`createCq` refuses it with EOPNOTSUPP';

const cqFields = 'context channel cq_context handle cqe mutex cond comp_events_completed async_events_completed';
const cqPlumbing = {
  handle: HANDLE,
  mutex: LOCKS,
  cond: LOCKS,
  comp_events_completed: LOCKS,
  async_events_completed: LOCKS,
};

export const completions = area(
  'Events and completions',
  constants(
    'ibv_event_type',
    'EventType',
    'IBV_EVENT_',
    `CQ_ERR QP_FATAL QP_REQ_ERR QP_ACCESS_ERR COMM_EST SQ_DRAINED PATH_MIG PATH_MIG_ERR DEVICE_FATAL PORT_ACTIVE PORT_ERR
    LID_CHANGE PKEY_CHANGE SM_CHANGE SRQ_ERR SRQ_LIMIT_REACHED QP_LAST_WQE_REACHED CLIENT_REREGISTER GID_CHANGE WQ_FATAL
    DEVICE_SPEED_CHANGE`,
  ),
  struct(
    'ibv_async_event',
    here(['AsyncEvent', 'QpEvent', 'CqEvent', 'SrqEvent', 'PortEvent', 'DeviceEvent'], 'told apart by `eventType`'),
    'element.cq element.qp element.srq element.wq element.port_num event_type',
    {
      'element.cq': 'CqEvent.cq',
      'element.qp': 'QpEvent.qp',
      'element.srq': 'SrqEvent.srq',
      'element.wq': absent('There are no work queues apart from QPs.'),
      'element.port_num': 'PortEvent.portNum',
      event_type: [
        'QpEvent.eventType',
        'CqEvent.eventType',
        'SrqEvent.eventType',
        'PortEvent.eventType',
        'DeviceEvent.eventType',
      ],
    },
  ),
  call('ibv_get_async_event', ['Context.getAsyncEvent', 'Context.asyncEvents']),
  call('ibv_ack_async_event', here('Context.ackAsyncEvent', 'not needed: nothing waits for it')),
  constants(
    'ibv_wc_status',
    'WcStatus',
    'IBV_WC_',
    `SUCCESS LOC_LEN_ERR LOC_QP_OP_ERR LOC_EEC_OP_ERR LOC_PROT_ERR WR_FLUSH_ERR MW_BIND_ERR BAD_RESP_ERR LOC_ACCESS_ERR
    REM_INV_REQ_ERR REM_ACCESS_ERR REM_OP_ERR RETRY_EXC_ERR RNR_RETRY_EXC_ERR LOC_RDD_VIOL_ERR REM_INV_RD_REQ_ERR
    REM_ABORT_ERR INV_EECN_ERR INV_EEC_STATE_ERR FATAL_ERR RESP_TIMEOUT_ERR GENERAL_ERR TM_ERR TM_RNDV_INCOMPLETE`,
  ),
  constants(
    'ibv_wc_opcode',
    'WcOpcode',
    'IBV_WC_',
    `SEND RDMA_WRITE RDMA_READ COMP_SWAP FETCH_ADD BIND_MW LOCAL_INV TSO FLUSH ATOMIC_WRITE RECV RECV_RDMA_WITH_IMM
    TM_ADD TM_DEL TM_SYNC TM_RECV TM_NO_TAG DRIVER1 DRIVER2 DRIVER3`,
    {
      TM_ADD: TAGS,
      TM_DEL: TAGS,
      TM_SYNC: TAGS,
      TM_RECV: TAGS,
      TM_NO_TAG: TAGS,
      DRIVER1: absent('This device has no completions of its own kind.'),
      DRIVER2: absent('This device has no completions of its own kind.'),
      DRIVER3: absent('This device has no completions of its own kind.'),
    },
  ),
  constants('enum of IBV_WC_IP_CSUM_OK_SHIFT', here('WcFlags.IP_CSUM_OK', 'bit 2'), 'IBV_WC_', 'IP_CSUM_OK_SHIFT', {
    IP_CSUM_OK_SHIFT: here('WcFlags.IP_CSUM_OK', 'bit 2'),
  }),
  constants(
    'ibv_create_cq_wc_flags',
    'WcExFlags',
    'IBV_WC_EX_',
    `WITH_BYTE_LEN WITH_IMM WITH_QP_NUM WITH_SRC_QP WITH_SLID WITH_SL WITH_DLID_PATH_BITS WITH_COMPLETION_TIMESTAMP
    WITH_CVLAN WITH_FLOW_TAG WITH_TM_INFO WITH_COMPLETION_TIMESTAMP_WALLCLOCK`,
    {
      WITH_CVLAN: here('WcExFlags.WITH_CVLAN', REFUSED_FIELD),
      WITH_FLOW_TAG: here('WcExFlags.WITH_FLOW_TAG', REFUSED_FIELD),
      WITH_TM_INFO: here('WcExFlags.WITH_TM_INFO', REFUSED_FIELD),
    },
  ),
  constants('enum of IBV_WC_STANDARD_FLAGS', 'WC_STANDARD_FLAGS', 'IBV_', 'WC_STANDARD_FLAGS', {
    WC_STANDARD_FLAGS: 'WC_STANDARD_FLAGS',
  }),
  constants('enum of IBV_CREATE_CQ_SUP_WC_FLAGS', absent('All bits of `WcExFlags`.'), 'IBV_', 'CREATE_CQ_SUP_WC_FLAGS'),
  constants(
    'ibv_wc_flags',
    'WcFlags',
    'IBV_WC_',
    'GRH WITH_IMM IP_CSUM_OK WITH_INV TM_SYNC_REQ TM_MATCH TM_DATA_VALID',
    {
      TM_SYNC_REQ: TAGS,
      TM_MATCH: TAGS,
      TM_DATA_VALID: TAGS,
    },
  ),
  struct(
    'ibv_wc',
    'WorkCompletion',
    `wr_id status opcode vendor_err byte_len imm_data invalidated_rkey qp_num src_qp wc_flags pkey_index slid sl
    dlid_path_bits`,
    {
      imm_data: here('WorkCompletion.immData', 'a number in host order'),
      vendor_err: here(['WorkCompletion.vendorErr', 'Syndrome'], '`explain(wc)` says it in words'),
    },
  ),
  struct('ibv_comp_channel', 'CompChannel', 'context fd refcnt', { fd: DESCRIPTOR, refcnt: LOCKS }),
  struct('ibv_cq', 'Cq', cqFields, cqPlumbing),
  struct('ibv_poll_cq_attr', absent('It has nothing but a mask: `startPoll()` takes no argument.'), 'comp_mask'),
  struct('ibv_wc_tm_info', TAGS, 'tag priv'),
  struct(
    'ibv_cq_ex',
    here('Cq', 'every CQ is one'),
    `${cqFields} comp_mask status wr_id start_poll next_poll end_poll read_opcode read_vendor_err read_byte_len
    read_imm_data read_qp_num read_src_qp read_wc_flags read_slid read_sl read_dlid_path_bits read_completion_ts
    read_cvlan read_flow_tag read_tm_info read_completion_wallclock_ns`,
    {
      ...cqPlumbing,
      comp_mask: MASK,
      wr_id: ['Cq.wrId', 'Cq.wrIdNumber'],
      read_opcode: 'Cq.opcode',
      read_vendor_err: 'Cq.vendorErr',
      read_byte_len: 'Cq.byteLen',
      read_imm_data: 'Cq.immData',
      read_qp_num: 'Cq.qpNum',
      read_src_qp: 'Cq.srcQp',
      read_wc_flags: 'Cq.wcFlags',
      read_slid: 'Cq.slid',
      read_sl: 'Cq.sl',
      read_dlid_path_bits: 'Cq.dlidPathBits',
      read_completion_ts: 'Cq.completionTimestamp',
      read_cvlan: 'Cq.cvlan',
      read_flow_tag: 'Cq.flowTag',
      read_tm_info: TAGS,
      read_completion_wallclock_ns: 'Cq.completionWallclockNs',
    },
  ),
  call('ibv_cq_ex_to_cq', absent('There is one kind of CQ, which has both ways of polling.')),
  constants('ibv_cq_attr_mask', MASK, 'IBV_CQ_ATTR_', 'MODERATE RESERVED'),
  struct('ibv_moderate_cq', 'CqModeration', 'cq_count cq_period'),
  struct('ibv_modify_cq_attr', 'CqModifyAttr', 'attr_mask moderate', { attr_mask: MASK }),
  call('ibv_start_poll', here('Cq.startPoll', 'false instead of ENOENT')),
  call('ibv_next_poll', here('Cq.nextPoll', 'false instead of ENOENT')),
  call('ibv_end_poll', 'Cq.endPoll'),
  call('ibv_wc_read_opcode', 'Cq.opcode'),
  call('ibv_wc_read_vendor_err', 'Cq.vendorErr'),
  call('ibv_wc_read_byte_len', 'Cq.byteLen'),
  call('ibv_wc_read_imm_data', here('Cq.immData', 'a number in host order')),
  call('ibv_wc_read_invalidated_rkey', 'Cq.invalidatedRkey'),
  call('ibv_wc_read_qp_num', 'Cq.qpNum'),
  call('ibv_wc_read_src_qp', 'Cq.srcQp'),
  call('ibv_wc_read_wc_flags', 'Cq.wcFlags'),
  call('ibv_wc_read_slid', 'Cq.slid'),
  call('ibv_wc_read_sl', 'Cq.sl'),
  call('ibv_wc_read_dlid_path_bits', 'Cq.dlidPathBits'),
  call('ibv_wc_read_completion_ts', here(['Cq.completionTimestamp', 'WorkCompletion.completionTimestamp'])),
  call('ibv_wc_read_completion_wallclock_ns', 'Cq.completionWallclockNs'),
  call('ibv_wc_read_cvlan', here('Cq.cvlan', 'always 0')),
  call('ibv_wc_read_flow_tag', here('Cq.flowTag', 'always 0')),
  call('ibv_wc_read_tm_info', TAGS),
  constants('ibv_cq_init_attr_mask', MASK, 'IBV_CQ_INIT_ATTR_MASK_', 'FLAGS PD'),
  constants('ibv_create_cq_attr_flags', 'CreateCqAttrFlags', 'IBV_CREATE_CQ_ATTR_', 'SINGLE_THREADED IGNORE_OVERRUN'),
  struct(
    'ibv_cq_init_attr_ex',
    'CqInitAttr',
    'cqe cq_context channel comp_vector wc_flags comp_mask flags parent_domain',
    {
      comp_mask: MASK,
      parent_domain: absent('It would promise one thread: `CreateCqAttrFlags.SINGLE_THREADED` does.'),
    },
  ),
  call('ibv_create_comp_channel', 'Context.createCompChannel'),
  call('ibv_destroy_comp_channel', 'CompChannel.destroy'),
  call('ibv_create_cq', 'Context.createCq'),
  call('ibv_create_cq_ex', 'Context.createCq'),
  call('ibv_resize_cq', 'Cq.resize'),
  call('ibv_destroy_cq', 'Cq.destroy'),
  call(
    'ibv_get_cq_event',
    here(['CompChannel.getCqEvent', 'CompChannel.tryGetCqEvent'], 'or `for await (const cq of channel)`'),
  ),
  call('ibv_ack_cq_events', 'Cq.ackEvents'),
  call('ibv_poll_cq', 'Cq.poll'),
  call('ibv_req_notify_cq', 'Cq.reqNotify'),
  call('ibv_modify_cq', 'Cq.modify'),
  constants(
    'ibv_qp_attach_comp_cntr_op',
    here('QpAttachCompCntrOp', 'this device counts REMOTE_RDMA_WRITE'),
    'IBV_QP_ATTACH_COMP_CNTR_OP_',
    'SEND RECV RDMA_READ REMOTE_RDMA_READ RDMA_WRITE REMOTE_RDMA_WRITE',
  ),
  struct('ibv_comp_cntr_caps', 'CompCntrCaps', 'max_value max_counters supported_qp_attach_ops'),
  struct('ibv_comp_cntr', 'CompCntr', 'context handle'),
  constants('ibv_comp_cntr_type', 'CompCntrType', 'IBV_COMP_CNTR_TYPE_', 'WRS BYTES'),
  struct('ibv_comp_cntr_init_attr', 'CompCntrInitAttr', 'comp_mask type flags', {
    comp_mask: MASK,
    flags: COUNTER_FLAGS,
  }),
  struct('ibv_qp_attach_comp_cntr_attr', 'QpAttachCompCntrAttr', 'comp_mask op_mask', { comp_mask: MASK }),
  call('_ibv_query_comp_cntr_caps', 'Context.queryCompCntrCaps'),
  call('ibv_query_comp_cntr_caps', 'Context.queryCompCntrCaps'),
  call('ibv_create_comp_cntr', 'Context.createCompCntr'),
  call('ibv_destroy_comp_cntr', 'CompCntr.destroy'),
  call('ibv_set_comp_cntr', 'CompCntr.set'),
  call('ibv_set_err_comp_cntr', 'CompCntr.setErr'),
  call('ibv_inc_comp_cntr', 'CompCntr.inc'),
  call('ibv_inc_err_comp_cntr', 'CompCntr.incErr'),
  call('ibv_read_comp_cntr', 'CompCntr.read'),
  call('ibv_read_err_comp_cntr', 'CompCntr.readErr'),
  call('ibv_qp_attach_comp_cntr', 'QpBase.attachCompCntr'),
);
