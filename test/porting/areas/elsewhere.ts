/** What this device does not have, names of constants, and what is between the library and its drivers. */
import { absent, area, call, constants, here, macro, refused, struct } from '../table.js';
import { FORK, PLUMBING } from './reasons.js';

const FLOW = refused('Qp.createFlow');
const WORK_QUEUE = refused('Context.createWq');
const TABLE = refused('Context.createRwqIndTable');
const COUNTERS = absent('Counters of flows; there are no flows: `Qp.createFlow` refuses with EOPNOTSUPP.');
const PRIVATE = absent("Not of verbs.h: for rdma-core's other libraries and drivers.");

export const absentObjects = area(
  'Work queues, flows and their counters',
  constants('ibv_wq_type', WORK_QUEUE, 'IBV_WQT_', 'RQ'),
  constants('ibv_wq_init_attr_mask', WORK_QUEUE, 'IBV_WQ_INIT_ATTR_', 'FLAGS RESERVED'),
  constants(
    'ibv_wq_flags',
    WORK_QUEUE,
    'IBV_WQ_FLAGS_',
    'CVLAN_STRIPPING SCATTER_FCS DELAY_DROP PCI_WRITE_END_PADDING RESERVED',
  ),
  struct('ibv_wq_init_attr', WORK_QUEUE, 'wq_context wq_type max_wr max_sge pd cq comp_mask create_flags'),
  constants('ibv_wq_state', WORK_QUEUE, 'IBV_WQS_', 'RESET RDY ERR UNKNOWN'),
  constants('ibv_wq_attr_mask', WORK_QUEUE, 'IBV_WQ_ATTR_', 'STATE CURR_STATE FLAGS RESERVED'),
  struct('ibv_wq_attr', WORK_QUEUE, 'attr_mask wq_state curr_wq_state flags flags_mask'),
  struct(
    'ibv_wq',
    WORK_QUEUE,
    'context wq_context pd cq wq_num handle state wq_type post_recv mutex cond events_completed comp_mask',
  ),
  call('ibv_create_wq', WORK_QUEUE),
  call('ibv_modify_wq', WORK_QUEUE),
  call('ibv_destroy_wq', WORK_QUEUE),
  call('ibv_post_wq_recv', WORK_QUEUE),
  struct('ibv_rwq_ind_table', TABLE, 'context ind_tbl_handle ind_tbl_num comp_mask'),
  constants('ibv_ind_table_init_attr_mask', TABLE, 'IBV_CREATE_IND_TABLE_', 'RESERVED'),
  struct('ibv_rwq_ind_table_init_attr', TABLE, 'log_ind_tbl_size ind_tbl comp_mask'),
  call('ibv_create_rwq_ind_table', TABLE),
  call('ibv_destroy_rwq_ind_table', TABLE),
  constants('ibv_flow_flags', FLOW, 'IBV_FLOW_ATTR_FLAGS_', 'DONT_TRAP EGRESS'),
  constants('ibv_flow_attr_type', FLOW, 'IBV_FLOW_ATTR_', 'NORMAL ALL_DEFAULT MC_DEFAULT SNIFFER'),
  constants(
    'ibv_flow_spec_type',
    FLOW,
    'IBV_FLOW_SPEC_',
    'ETH IPV4 IPV6 IPV4_EXT ESP TCP UDP VXLAN_TUNNEL GRE MPLS INNER ACTION_TAG ACTION_DROP ACTION_HANDLE ACTION_COUNT',
  ),
  macro('ETHERNET_LL_SIZE', FLOW),
  struct('ibv_flow_eth_filter', FLOW, 'dst_mac src_mac ether_type vlan_tag'),
  struct('ibv_flow_spec_eth', FLOW, 'type size val mask'),
  struct('ibv_flow_ipv4_filter', FLOW, 'src_ip dst_ip'),
  struct('ibv_flow_spec_ipv4', FLOW, 'type size val mask'),
  struct('ibv_flow_ipv4_ext_filter', FLOW, 'src_ip dst_ip proto tos ttl flags'),
  struct('ibv_flow_spec_ipv4_ext', FLOW, 'type size val mask'),
  struct('ibv_flow_ipv6_filter', FLOW, 'src_ip dst_ip flow_label next_hdr traffic_class hop_limit'),
  struct('ibv_flow_spec_ipv6', FLOW, 'type size val mask'),
  struct('ibv_flow_esp_filter', FLOW, 'spi seq'),
  struct('ibv_flow_spec_esp', FLOW, 'type size val mask'),
  struct('ibv_flow_tcp_udp_filter', FLOW, 'dst_port src_port'),
  struct('ibv_flow_spec_tcp_udp', FLOW, 'type size val mask'),
  struct('ibv_flow_gre_filter', FLOW, 'c_ks_res0_ver protocol key'),
  struct('ibv_flow_spec_gre', FLOW, 'type size val mask'),
  struct('ibv_flow_mpls_filter', FLOW, 'label'),
  struct('ibv_flow_spec_mpls', FLOW, 'type size val mask'),
  struct('ibv_flow_tunnel_filter', FLOW, 'tunnel_id'),
  struct('ibv_flow_spec_tunnel', FLOW, 'type size val mask'),
  struct('ibv_flow_spec_action_tag', FLOW, 'type size tag_id'),
  struct('ibv_flow_spec_action_drop', FLOW, 'type size'),
  struct('ibv_flow_spec_action_handle', FLOW, 'type size action'),
  struct('ibv_flow_spec_counter_action', FLOW, 'type size counters'),
  struct(
    'ibv_flow_spec',
    FLOW,
    `hdr hdr.type hdr.size eth ipv4 tcp_udp ipv4_ext ipv6 esp tunnel gre mpls flow_tag drop handle flow_count`,
  ),
  struct('ibv_flow_attr', FLOW, 'comp_mask type size priority num_of_specs port flags'),
  struct('ibv_flow', FLOW, 'comp_mask context handle'),
  struct('ibv_flow_action', FLOW, 'context'),
  constants('ibv_flow_action_esp_mask', FLOW, 'IBV_FLOW_ACTION_ESP_MASK_', 'ESN'),
  struct(
    'ibv_flow_action_esp_attr',
    FLOW,
    `esp_attr keymat_proto keymat_len keymat_ptr replay_proto replay_len replay_ptr esp_encap comp_mask esn`,
  ),
  constants('ibv_flow_action_esp_keymat', FLOW, 'IBV_FLOW_ACTION_ESP_KEYMAT_', 'AES_GCM'),
  constants('ibv_flow_action_esp_keymat_aes_gcm_iv_algo', FLOW, 'IBV_FLOW_ACTION_IV_ALGO_', 'SEQ'),
  constants('ibv_flow_action_esp_replay', FLOW, 'IBV_FLOW_ACTION_ESP_REPLAY_', 'NONE BMP'),
  constants(
    'ibv_flow_action_esp_flags',
    FLOW,
    'IBV_FLOW_ACTION_ESP_FLAGS_',
    'INLINE_CRYPTO FULL_OFFLOAD TUNNEL TRANSPORT DECRYPT ENCRYPT ESN_NEW_WINDOW',
  ),
  macro('ibv_flow_action_esp', FLOW),
  macro('ibv_flow_action_esp_keymat_aes_gcm', FLOW),
  macro('ibv_flow_action_esp_replay_bmp', FLOW),
  macro('ibv_flow_action_esp_encap', FLOW),
  call('ibv_create_flow', FLOW),
  call('ibv_destroy_flow', FLOW),
  call('ibv_create_flow_action_esp', FLOW),
  call('ibv_modify_flow_action_esp', FLOW),
  call('ibv_destroy_flow_action', FLOW),
  struct('ibv_counters_init_attr', COUNTERS, 'comp_mask'),
  struct('ibv_counters', COUNTERS, 'context'),
  constants('ibv_counter_description', COUNTERS, 'IBV_COUNTER_', 'PACKETS BYTES'),
  struct('ibv_counter_attach_attr', COUNTERS, 'counter_desc index comp_mask'),
  constants('ibv_read_counters_flags', COUNTERS, 'IBV_READ_COUNTERS_ATTR_', 'PREFER_CACHED'),
  call('ibv_create_counters', COUNTERS),
  call('ibv_destroy_counters', COUNTERS),
  call('ibv_attach_counters_point_flow', COUNTERS),
  call('ibv_read_counters', COUNTERS),
);

export const names = area(
  'Names of constants',
  call('ibv_wc_status_str', 'wcStatusStr'),
  call('ibv_wr_opcode_str', 'wrOpcodeStr'),
  call('ibv_node_type_str', 'nodeTypeStr'),
  call('ibv_port_state_str', 'portStateStr'),
  call('ibv_event_type_str', 'eventTypeStr'),
);

export const plumbing = area(
  'Fork, and the inside of the library',
  constants('ibv_fork_status', FORK, 'IBV_FORK_', 'DISABLED ENABLED UNNEEDED'),
  call('ibv_fork_init', FORK),
  call('ibv_is_fork_initialized', FORK),
  call('ibv_dofork_range', FORK),
  call('ibv_dontfork_range', FORK),
  macro('errno', here(['VerbsError', 'VerbsError.errno', 'VerbsError.errnoNumber', 'ErrnoName'])),
  macro('bad_wr', here(['PostError', 'PostError.badWr', 'PostError.index'])),
  macro('vext_field_avail', PLUMBING),
  macro('__VERBS_ABI_IS_EXTENDED', PLUMBING),
  struct('_ibv_device_ops', PLUMBING, '_dummy1 _dummy2'),
  struct(
    'ibv_context_ops',
    PLUMBING,
    `_compat_query_device _compat_query_port _compat_alloc_pd _compat_dealloc_pd _compat_reg_mr _compat_rereg_mr
    _compat_dereg_mr alloc_mw bind_mw dealloc_mw _compat_create_cq poll_cq req_notify_cq _compat_cq_event
    _compat_resize_cq _compat_destroy_cq _compat_create_srq _compat_modify_srq _compat_query_srq _compat_destroy_srq
    post_srq_recv _compat_create_qp _compat_query_qp _compat_modify_qp _compat_destroy_qp post_send post_recv
    _compat_create_ah _compat_destroy_ah _compat_attach_mcast _compat_detach_mcast _compat_async_event`,
  ),
  struct(
    'verbs_context',
    PLUMBING,
    `free_buf alloc_buf dm_export_dmabuf_fd reg_mr_ex dealloc_dmah alloc_dmah query_port advise_mr alloc_null_mr
    read_counters attach_counters_point_flow create_counters destroy_counters reg_dm_mr alloc_dm free_dm
    modify_flow_action_esp destroy_flow_action create_flow_action_esp modify_qp_rate_limit alloc_parent_domain dealloc_td
    alloc_td modify_cq post_srq_ops destroy_rwq_ind_table create_rwq_ind_table destroy_wq modify_wq create_wq
    query_rt_values create_cq_ex priv query_device_ex ibv_destroy_flow ABI_placeholder2 ibv_create_flow ABI_placeholder1
    open_qp create_qp_ex get_srq_num create_srq_ex open_xrcd close_xrcd _ABI_placeholder3 sz context`,
  ),
  call('verbs_get_ctx', PLUMBING),
  macro('verbs_get_ctx_op', PLUMBING),
  call('ibv_static_providers', PLUMBING),
  call('ibv_register_driver', PRIVATE),
  call('ibv_copy_ah_attr_from_kern', PRIVATE),
  call('ibv_copy_path_rec_from_kern', PRIVATE),
  call('ibv_copy_path_rec_to_kern', PRIVATE),
  call('ibv_copy_qp_attr_from_kern', PRIVATE),
  call('ibv_get_sysfs_path', PRIVATE),
  call('ibv_read_sysfs_file', PRIVATE),
);
