import { absent, area, call, constants, here, macro, struct } from '../table.js';
import { DESCRIPTOR, IMPORT, LOCKS, PLUMBING } from './reasons.js';

const CAP_EX = absent('A bit of `deviceCapFlagsEx` that this device never sets.');
const PORT_CAPS = absent('A bit of `portCapFlags`, which this device never sets.');
const PORT_CAPS_2 = absent('A bit of `portCapFlags2`, which this device never sets.');
const ALL_VALUES = absent('Nothing is chosen: all that there is comes back.');
const PCI = absent('A bit of `PciAtomicCaps`, all of which are 0: there is no bus.');

export const device = area(
  'Devices and ports',
  struct('ibv_gid', 'Gid', 'raw global.subnet_prefix global.interface_id', {
    raw: here('Gid', 'the 16 bytes themselves'),
    'global.subnet_prefix': here('Gid', 'bytes 0 to 7'),
    'global.interface_id': here('Gid', 'bytes 8 to 15'),
  }),
  constants('ibv_gid_type', 'GidType', 'IBV_GID_TYPE_', 'IB ROCE_V1 ROCE_V2'),
  struct('ibv_gid_entry', 'GidEntry', 'gid gid_index port_num gid_type ndev_ifindex', {
    ndev_ifindex: absent('The NIC is on an address, not on an interface: `Context.address`.'),
  }),
  constants('ibv_node_type', 'NodeType', 'IBV_NODE_', 'UNKNOWN CA SWITCH ROUTER RNIC USNIC USNIC_UDP UNSPECIFIED'),
  constants('ibv_transport_type', 'TransportType', 'IBV_TRANSPORT_', 'UNKNOWN IB IWARP USNIC USNIC_UDP UNSPECIFIED'),
  constants(
    'ibv_device_cap_flags',
    'DeviceCapFlags',
    'IBV_DEVICE_',
    `RESIZE_MAX_WR BAD_PKEY_CNTR BAD_QKEY_CNTR RAW_MULTI AUTO_PATH_MIG CHANGE_PHY_PORT UD_AV_PORT_ENFORCE
    CURR_QP_STATE_MOD SHUTDOWN_PORT INIT_TYPE PORT_ACTIVE_EVENT SYS_IMAGE_GUID RC_RNR_NAK_GEN SRQ_RESIZE N_NOTIFY_CQ
    MEM_WINDOW UD_IP_CSUM XRC MEM_MGT_EXTENSIONS MEM_WINDOW_TYPE_2A MEM_WINDOW_TYPE_2B RC_IP_CSUM RAW_IP_CSUM
    MANAGED_FLOW_STEERING`,
  ),
  macro('IBV_DEVICE_RAW_SCATTER_FCS', CAP_EX),
  macro('IBV_DEVICE_PCI_WRITE_END_PADDING', CAP_EX),
  macro('IBV_DEVICE_CC_DMA_BOUNCE', CAP_EX),
  constants('ibv_atomic_cap', 'AtomicCap', 'IBV_ATOMIC_', 'NONE HCA GLOB'),
  struct(
    'ibv_device_attr',
    'DeviceAttr',
    `fw_ver node_guid sys_image_guid max_mr_size page_size_cap vendor_id vendor_part_id hw_ver max_qp max_qp_wr
    device_cap_flags max_sge max_sge_rd max_cq max_cqe max_mr max_pd max_qp_rd_atom max_ee_rd_atom max_res_rd_atom
    max_qp_init_rd_atom max_ee_init_rd_atom atomic_cap max_ee max_rdd max_mw max_raw_ipv6_qp max_raw_ethy_qp
    max_mcast_grp max_mcast_qp_attach max_total_mcast_qp_attach max_ah max_fmr max_map_per_fmr max_srq max_srq_wr
    max_srq_sge max_pkeys local_ca_ack_delay phys_port_cnt`,
  ),
  struct('ibv_query_device_ex_input', ALL_VALUES, 'comp_mask'),
  constants('ibv_odp_general_caps', 'OdpGeneralCaps', 'IBV_ODP_', 'SUPPORT SUPPORT_IMPLICIT'),
  constants(
    'ibv_odp_transport_cap_bits',
    'OdpTransportCaps',
    'IBV_ODP_',
    `SUPPORT_SEND SUPPORT_RECV SUPPORT_WRITE SUPPORT_READ SUPPORT_ATOMIC SUPPORT_SRQ_RECV SUPPORT_FLUSH
    SUPPORT_ATOMIC_WRITE`,
  ),
  struct(
    'ibv_odp_caps',
    'OdpCaps',
    `general_caps per_transport_caps per_transport_caps.rc_odp_caps per_transport_caps.uc_odp_caps
    per_transport_caps.ud_odp_caps`,
  ),
  struct('ibv_tso_caps', 'TsoCaps', 'max_tso supported_qpts'),
  struct(
    'ibv_rss_caps',
    'RssCaps',
    `supported_qpts max_rwq_indirection_tables max_rwq_indirection_table_size rx_hash_fields_mask
    rx_hash_function`,
  ),
  struct('ibv_packet_pacing_caps', 'PacketPacingCaps', 'qp_rate_limit_min qp_rate_limit_max supported_qpts'),
  constants(
    'ibv_raw_packet_caps',
    'RawPacketCaps',
    'IBV_RAW_PACKET_CAP_',
    'CVLAN_STRIPPING SCATTER_FCS IP_CSUM DELAY_DROP',
  ),
  constants('ibv_tm_cap_flags', absent('A bit of `TmCaps.flags`, which is 0.'), 'IBV_TM_CAP_', 'RC'),
  struct('ibv_tm_caps', 'TmCaps', 'max_rndv_hdr_size max_num_tags flags max_ops max_sge'),
  struct('ibv_cq_moderation_caps', 'CqModerationCaps', 'max_cq_count max_cq_period'),
  constants(
    'ibv_pci_atomic_op_size',
    PCI,
    'IBV_PCI_ATOMIC_OPERATION_',
    '4_BYTE_SIZE_SUP 8_BYTE_SIZE_SUP 16_BYTE_SIZE_SUP',
  ),
  struct('ibv_pci_atomic_caps', 'PciAtomicCaps', 'fetch_add swap compare_swap'),
  struct(
    'ibv_device_attr_ex',
    'DeviceAttrEx',
    `orig_attr comp_mask odp_caps completion_timestamp_mask hca_core_clock device_cap_flags_ex tso_caps rss_caps
    max_wq_type_rq packet_pacing_caps raw_packet_caps tm_caps cq_mod_caps max_dm_size pci_atomic_caps xrc_odp_caps
    phys_port_cnt_ex`,
    { comp_mask: ALL_VALUES, pci_atomic_caps: 'DeviceAttrEx.atomicCaps' },
  ),
  constants(
    'ibv_mtu',
    here('Mtu', '`mtuBytes` and `mtuFromBytes` convert'),
    'IBV_',
    'MTU_256 MTU_512 MTU_1024 MTU_2048 MTU_4096',
  ),
  constants('ibv_port_state', 'PortState', 'IBV_PORT_', 'NOP DOWN INIT ARMED ACTIVE ACTIVE_DEFER'),
  constants('enum of IBV_LINK_LAYER_*', 'LinkLayer', 'IBV_LINK_LAYER_', 'UNSPECIFIED INFINIBAND ETHERNET'),
  constants(
    'ibv_port_cap_flags',
    PORT_CAPS,
    'IBV_PORT_',
    `SM NOTICE_SUP TRAP_SUP OPT_IPD_SUP AUTO_MIGR_SUP SL_MAP_SUP MKEY_NVRAM PKEY_NVRAM LED_INFO_SUP SYS_IMAGE_GUID_SUP
    PKEY_SW_EXT_PORT_TRAP_SUP EXTENDED_SPEEDS_SUP CAP_MASK2_SUP CM_SUP SNMP_TUNNEL_SUP REINIT_SUP DEVICE_MGMT_SUP
    VENDOR_CLASS_SUP DR_NOTICE_SUP CAP_MASK_NOTICE_SUP BOOT_MGMT_SUP LINK_LATENCY_SUP CLIENT_REG_SUP IP_BASED_GIDS`,
  ),
  constants(
    'ibv_port_cap_flags2',
    PORT_CAPS_2,
    'IBV_PORT_',
    `SET_NODE_DESC_SUP INFO_EXT_SUP VIRT_SUP SWITCH_PORT_STATE_TABLE_SUP LINK_WIDTH_2X_SUP LINK_SPEED_HDR_SUP
    LINK_SPEED_NDR_SUP LINK_SPEED_XDR_SUP`,
  ),
  struct(
    'ibv_port_attr',
    'PortAttr',
    `state max_mtu active_mtu gid_tbl_len port_cap_flags max_msg_sz bad_pkey_cntr qkey_viol_cntr pkey_tbl_len lid sm_lid
    lmc max_vl_num sm_sl subnet_timeout init_type_reply active_width active_speed phys_state link_layer flags
    port_cap_flags2 active_speed_ex`,
    { phys_state: here(['PortAttr.physState', 'PhysState'], 'C has no names for its values') },
  ),
  macro(
    'IBV_QPF_GRH_REQUIRED',
    absent('A bit of `PortAttr.flags`, which this device never sets; RoCE needs a GRH always.'),
  ),
  struct('ibv_device', 'Device', '_ops node_type transport_type name dev_name dev_path ibdev_path', {
    _ops: PLUMBING,
    dev_name: absent('There is no file in /dev.'),
    dev_path: absent('There is no directory in sysfs.'),
    ibdev_path: absent('There is no directory in sysfs.'),
  }),
  constants('enum of IBV_SYSFS_*', PLUMBING, 'IBV_SYSFS_', 'NAME_MAX PATH_MAX'),
  struct('ibv_context', 'Context', 'device ops cmd_fd async_fd num_comp_vectors mutex abi_compat', {
    ops: PLUMBING,
    cmd_fd: absent('The device is not a file: there is no driver in the kernel.'),
    async_fd: DESCRIPTOR,
    mutex: LOCKS,
    abi_compat: PLUMBING,
  }),
  constants('ibv_values_mask', ALL_VALUES, 'IBV_VALUES_MASK_', 'RAW_CLOCK RESERVED'),
  struct('ibv_values_ex', 'RtValues', 'comp_mask raw_clock', { comp_mask: ALL_VALUES }),
  call('ibv_get_device_list', 'getDeviceList'),
  call('ibv_free_device_list', absent('The list is an array, which nobody has to free.')),
  call('ibv_get_device_name', 'Device.name'),
  call('ibv_get_device_index', absent("The kernel's number of a device; this one is not the kernel's.")),
  call('ibv_get_device_guid', here('Device.guid', 'a bigint in host order')),
  call('ibv_open_device', here(['Device.open', 'openDevice'], '`openDevice` opens the first device of the list')),
  call('ibv_close_device', 'Context.close'),
  call('ibv_import_device', IMPORT),
  call('ibv_query_device', 'Context.queryDevice'),
  call('ibv_query_device_ex', 'Context.queryDeviceEx'),
  call('ibv_query_rt_values_ex', 'Context.queryRtValues'),
  call('ibv_query_port', 'Context.queryPort'),
  call('ibv_query_port_speed', 'Context.queryPortSpeed'),
  call('ibv_query_gid', here('Context.queryGid', 'an empty entry is ENODATA there, not a GID of zeros')),
  call('ibv_query_gid_ex', 'Context.queryGidEntry'),
  call('_ibv_query_gid_ex', absent('What `ibv_query_gid_ex` calls, with the size of the struct.')),
  call('ibv_query_gid_table', 'Context.queryGidTable'),
  call('_ibv_query_gid_table', absent('What `ibv_query_gid_table` calls, with the size of the struct.')),
  call('ibv_query_pkey', 'Context.queryPkey'),
  call('ibv_get_pkey_index', here('Context.getPkeyIndex', 'the P_Key is a number in host order')),
  call('ibv_is_qpt_supported', absent('`(supportedQpts & (1 << qpType)) !== 0` is all that it does.')),
);
