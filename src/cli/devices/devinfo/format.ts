import {
  type Context,
  type DeviceAttr,
  GidType,
  linkLayerStr,
  type Mtu,
  mtuStr,
  physStateStr,
  type PortAttr,
  portStateStr,
  transportTypeStr,
} from '../../../entry/index.js';
import { gidText, guidText } from '../../kit/addresses.js';
import { extended } from './extended.js';
import { limits } from './limits.js';
import { deviceRow, hex, hexCapitals, named, numbered, portRow } from './rows.js';

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
    deviceRow('hw_ver', hexCapitals(attr.hwVer)),
    deviceRow('phys_port_cnt', attr.physPortCnt),
  ];
}

function mtuRow(label: string, mtu: Mtu): string {
  return portRow(label, numbered(mtuStr(mtu), mtu));
}

function verbosePort(port: PortAttr, speed100Mbps: number): string[] {
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
    portRow('effective_speed', `${(speed100Mbps / 10).toFixed(1)} Gbps`),
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
    ...(verbose ? [...verbosePort(port, context.queryPortSpeed(portNum)), ...gidRows(context, portNum, port)] : []),
    '',
  ];
}

/** The text of `ibv_devinfo` for one device: all ports, or the one asked for. */
export function formatDeviceInfo(context: Context, onlyPort: number | undefined, verbose: boolean): string {
  const attrEx = context.queryDeviceEx();
  const attr = attrEx.origAttr;
  const lines = briefDevice(context, attr);
  if (verbose)
    lines.push(...limits(attr), ...extended(attrEx, context.numCompVectors), deviceRow('crc32', context.crc32Source));
  for (let portNum = 1; portNum <= attr.physPortCnt; portNum += 1) {
    if (onlyPort === undefined || onlyPort === portNum) lines.push(...portLines(context, portNum, verbose));
  }
  return `${lines.join('\n')}\n`;
}
