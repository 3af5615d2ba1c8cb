import {
  AtomicCap,
  type Context,
  type DeviceAttr,
  DeviceCapFlags,
  GidType,
  type Mtu,
  type PortAttr,
  linkLayerStr,
  mtuStr,
  physStateStr,
  portStateStr,
  transportTypeStr,
} from '../index.js';
import { gidText } from './gid-text.js';

// The layout is that of the C tool's `ibv_devinfo`, tabs included, so that scripts which read that read this too.

const ATOMIC_CAPS = new Map<number, string>([
  [AtomicCap.NONE, 'ATOMIC_NONE'],
  [AtomicCap.HCA, 'ATOMIC_HCA'],
  [AtomicCap.GLOB, 'ATOMIC_GLOB'],
]);
const WIDTHS = new Map<number, string>([
  [1, '1'],
  [2, '4'],
  [4, '8'],
  [8, '12'],
  [16, '2'],
]);
const SPEEDS = new Map<number, string>([
  [1, '2.5 Gbps'],
  [2, '5.0 Gbps'],
  [4, '10.0 Gbps'],
  [8, '10.0 Gbps'],
  [16, '14.0 Gbps'],
  [32, '25.0 Gbps'],
  [64, '50.0 Gbps'],
  [128, '100.0 Gbps'],
  [256, '200.0 Gbps'],
]);
const VIRTUAL_LANES = new Map<number, string>([
  [1, '1'],
  [2, '2'],
  [3, '4'],
  [4, '8'],
  [5, '15'],
]);
const GID_TYPES = new Map<number, string>([
  [GidType.ROCE_V1, 'RoCE v1'],
  [GidType.ROCE_V2, 'RoCE v2'],
]);

function numbered(name: string, value: number): string {
  return `${name} (${value})`;
}

function named(names: ReadonlyMap<number, string>, value: number, otherwise: string): string {
  return numbered(names.get(value) ?? otherwise, value);
}

function hex(value: number | bigint, digits = 1): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}

function guidText(guid: bigint): string {
  const digits = guid.toString(16).padStart(16, '0');
  return [0, 4, 8, 12].map((at) => digits.slice(at, at + 4)).join(':');
}

/** A label and its value, the value in the column that the C tool's tabs reach. */
function row(indent: number, label: string, valueColumn: number, value: string | number): string {
  const reached = indent * 8 + label.length + 1;
  const tabs = Math.max(1, Math.ceil((valueColumn - reached) / 8));
  return `${'\t'.repeat(indent)}${label}:${'\t'.repeat(tabs)}${value}`;
}

const deviceRow = (label: string, value: string | number): string => row(1, label, 40, value);
const portRow = (label: string, value: string | number): string => row(3, label, 48, value);

function briefDevice(context: Context, attr: DeviceAttr): string[] {
  const { device } = context;
  return [
    `hca_id:\t${device.name}`,
    deviceRow('transport', numbered(transportTypeStr(device.transportType), device.transportType)),
    ...(attr.fwVer === '' ? [] : [deviceRow('fw_ver', attr.fwVer)]),
    deviceRow('node_guid', guidText(attr.nodeGuid)),
    deviceRow('sys_image_guid', guidText(attr.sysImageGuid)),
    deviceRow('vendor_id', hex(attr.vendorId, 4)),
    deviceRow('vendor_part_id', attr.vendorPartId),
    deviceRow('hw_ver', `0x${attr.hwVer.toString(16).toUpperCase()}`),
    deviceRow('phys_port_cnt', attr.physPortCnt),
  ];
}

function capabilityFlags(flags: number): string[] {
  const indent = '\t'.repeat(5);
  let unknown = flags;
  const lines: string[] = [];
  for (const [name, bit] of Object.entries(DeviceCapFlags)) {
    if ((flags & bit) !== 0) lines.push(`${indent}${name}`);
    unknown &= ~bit;
  }
  if (unknown !== 0) lines.push(`${indent}Unknown flags: 0x${(unknown >>> 0).toString(16).toUpperCase()}`);
  return lines;
}

function limits(attr: DeviceAttr): string[] {
  return [
    deviceRow('max_mr_size', hex(attr.maxMrSize)),
    deviceRow('page_size_cap', hex(attr.pageSizeCap)),
    deviceRow('max_qp', attr.maxQp),
    deviceRow('max_qp_wr', attr.maxQpWr),
    deviceRow('device_cap_flags', hex(attr.deviceCapFlags >>> 0, 8)),
    ...capabilityFlags(attr.deviceCapFlags),
    deviceRow('max_sge', attr.maxSge),
    deviceRow('max_sge_rd', attr.maxSgeRd),
    deviceRow('max_cq', attr.maxCq),
    deviceRow('max_cqe', attr.maxCqe),
    deviceRow('max_mr', attr.maxMr),
    deviceRow('max_pd', attr.maxPd),
    deviceRow('max_qp_rd_atom', attr.maxQpRdAtom),
    deviceRow('max_ee_rd_atom', attr.maxEeRdAtom),
    deviceRow('max_res_rd_atom', attr.maxResRdAtom),
    deviceRow('max_qp_init_rd_atom', attr.maxQpInitRdAtom),
    deviceRow('max_ee_init_rd_atom', attr.maxEeInitRdAtom),
    deviceRow('atomic_cap', named(ATOMIC_CAPS, attr.atomicCap, 'invalid atomic capability')),
    deviceRow('max_ee', attr.maxEe),
    deviceRow('max_rdd', attr.maxRdd),
    deviceRow('max_mw', attr.maxMw),
    deviceRow('max_raw_ipv6_qp', attr.maxRawIpv6Qp),
    deviceRow('max_raw_ethy_qp', attr.maxRawEthyQp),
    deviceRow('max_mcast_grp', attr.maxMcastGrp),
    deviceRow('max_mcast_qp_attach', attr.maxMcastQpAttach),
    deviceRow('max_total_mcast_qp_attach', attr.maxTotalMcastQpAttach),
    deviceRow('max_ah', attr.maxAh),
    deviceRow('max_fmr', attr.maxFmr),
    ...(attr.maxFmr === 0 ? [] : [deviceRow('max_map_per_fmr', attr.maxMapPerFmr)]),
    deviceRow('max_srq', attr.maxSrq),
    ...(attr.maxSrq === 0 ? [] : [deviceRow('max_srq_wr', attr.maxSrqWr), deviceRow('max_srq_sge', attr.maxSrqSge)]),
    deviceRow('max_pkeys', attr.maxPkeys),
    deviceRow('local_ca_ack_delay', attr.localCaAckDelay),
  ];
}

/** What the C tool prints of features that only query_device_ex tells, for a device that has none of them. */
function absentFeatures(attr: DeviceAttr): string[] {
  const services = ['rc', 'uc', 'ud', 'xrc'];
  return [
    '\tgeneral_odp_caps:',
    ...services.flatMap((service) => [`\t${service}_odp_caps:`, '\t\t\t\t\tNO SUPPORT']),
    '\tcompletion_timestamp_mask not supported',
    '\tcore clock not supported',
    deviceRow('device_cap_flags_ex', `0x${(attr.deviceCapFlags >>> 0).toString(16).toUpperCase()}`),
    '\ttso_caps:',
    '\t\tmax_tso:\t\t\t0',
    '\trss_caps:',
    '\t\tmax_rwq_indirection_tables:\t\t\t0',
    '\t\tmax_rwq_indirection_table_size:\t\t\t0',
    '\t\trx_hash_function:\t\t\t\t0x0',
    '\t\trx_hash_fields_mask:\t\t\t\t0x0',
    deviceRow('max_wq_type_rq', 0),
    '\tpacket_pacing_caps:',
    '\t\tqp_rate_limit_min:\t0kbps',
    '\t\tqp_rate_limit_max:\t0kbps',
    '\ttag matching not supported',
    deviceRow('num_comp_vectors', 1),
  ];
}

function mtuRow(label: string, mtu: Mtu): string {
  return portRow(label, numbered(mtuStr(mtu), mtu));
}

function verbosePort(port: PortAttr): string[] {
  const speed = port.activeSpeedEx === 0 ? port.activeSpeed : port.activeSpeedEx;
  return [
    portRow('max_msg_sz', hex(port.maxMsgSz)),
    portRow('port_cap_flags', hex(port.portCapFlags >>> 0, 8)),
    portRow('port_cap_flags2', hex(port.portCapFlags2, 4)),
    portRow('max_vl_num', named(VIRTUAL_LANES, port.maxVlNum, 'invalid value')),
    portRow('bad_pkey_cntr', hex(port.badPkeyCntr)),
    portRow('qkey_viol_cntr', hex(port.qkeyViolCntr)),
    portRow('sm_sl', port.smSl),
    portRow('pkey_tbl_len', port.pkeyTblLen),
    portRow('gid_tbl_len', port.gidTblLen),
    portRow('subnet_timeout', port.subnetTimeout),
    portRow('init_type_reply', port.initTypeReply),
    portRow('active_width', `${WIDTHS.get(port.activeWidth) ?? 'invalid width'}X (${port.activeWidth})`),
    portRow('active_speed', named(SPEEDS, speed, 'invalid speed')),
    portRow('phys_state', numbered(physStateStr(port.physState), port.physState)),
  ];
}

function gidRows(context: Context, portNum: number, port: PortAttr): string[] {
  const rows: string[] = [];
  for (let index = 0; index < port.gidTblLen; index += 1) {
    const entry = context.queryGidEntry(portNum, index);
    if (entry.gid.every((byte) => byte === 0)) continue;
    const type = GID_TYPES.get(entry.gidType) ?? 'Invalid gid type';
    rows.push(`\t\t\tGID[${String(index).padStart(3)}]:\t\t${gidText(entry.gid)}, ${type}`);
  }
  return rows;
}

function portLines(context: Context, portNum: number, verbose: boolean): string[] {
  const port = context.queryPort(portNum);
  return [
    `\t\tport:\t${portNum}`,
    portRow('state', numbered(portStateStr(port.state), port.state)),
    mtuRow('max_mtu', port.maxMtu),
    mtuRow('active_mtu', port.activeMtu),
    portRow('sm_lid', port.smLid),
    portRow('port_lid', port.lid),
    portRow('port_lmc', hex(port.lmc, 2)),
    portRow('link_layer', linkLayerStr(port.linkLayer)),
    ...(verbose ? [...verbosePort(port), ...gidRows(context, portNum, port)] : []),
    '',
  ];
}

/** The text of `ibv_devinfo` for one device: all ports, or the one asked for. */
export function formatDeviceInfo(context: Context, onlyPort: number | undefined, verbose: boolean): string {
  const attr = context.queryDevice();
  const lines = briefDevice(context, attr);
  if (verbose) lines.push(...limits(attr), ...absentFeatures(attr));
  for (let portNum = 1; portNum <= attr.physPortCnt; portNum += 1) {
    if (onlyPort === undefined || onlyPort === portNum) lines.push(...portLines(context, portNum, verbose));
  }
  return `${lines.join('\n')}\n`;
}
