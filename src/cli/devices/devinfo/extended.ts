import { type DeviceAttrEx, OdpGeneralCaps, OdpTransportCaps, QpType, RawPacketCaps } from '../../../entry/index.js';
import { deviceRow, flagRows, hex, hexCapitals, supportRows } from './rows.js';

// The C tool's own names of bits.

const GENERAL_ODP = { ODP_SUPPORT: OdpGeneralCaps.SUPPORT, ODP_SUPPORT_IMPLICIT: OdpGeneralCaps.SUPPORT_IMPLICIT };
const TRANSPORT_ODP = {
  SUPPORT_SEND: OdpTransportCaps.SUPPORT_SEND,
  SUPPORT_RECV: OdpTransportCaps.SUPPORT_RECV,
  SUPPORT_WRITE: OdpTransportCaps.SUPPORT_WRITE,
  SUPPORT_READ: OdpTransportCaps.SUPPORT_READ,
  SUPPORT_ATOMIC: OdpTransportCaps.SUPPORT_ATOMIC,
  SUPPORT_SRQ: OdpTransportCaps.SUPPORT_SRQ_RECV,
  SUPPORT_FLUSH: OdpTransportCaps.SUPPORT_FLUSH,
  SUPPORT_ATOMIC_WRITE: OdpTransportCaps.SUPPORT_ATOMIC_WRITE,
};
const RAW_PACKET = {
  'C-VLAN stripping offload': RawPacketCaps.CVLAN_STRIPPING,
  'Scatter FCS offload': RawPacketCaps.SCATTER_FCS,
  'IP csum offload': RawPacketCaps.IP_CSUM,
  'Delay drop': RawPacketCaps.DELAY_DROP,
};
const CAP_FLAGS_EX = { RAW_SCATTER_FCS: 1n << 34n, PCI_WRITE_END_PADDING: 1n << 36n };
const TM_FLAGS = { IBV_TM_CAP_RC: 1 };
const OFFLOADED_QPS = { SUPPORT_RAW_PACKET: 1 << QpType.RAW_PACKET, SUPPORT_UD: 1 << QpType.UD };
const PACED_QPS = { ...OFFLOADED_QPS, SUPPORT_RC: 1 << QpType.RC };

function supportedQps(types: number, names: Readonly<Record<string, number>>): string[] {
  return ['\t\tsupported_qp:', ...flagRows(types >>> 0, names)];
}

function odp({ odpCaps, xrcOdpCaps }: DeviceAttrEx): string[] {
  const { rcOdpCaps, ucOdpCaps, udOdpCaps } = odpCaps.perTransportCaps;
  const services = { rc: rcOdpCaps, uc: ucOdpCaps, ud: udOdpCaps, xrc: xrcOdpCaps };
  return [
    '\tgeneral_odp_caps:',
    ...flagRows(odpCaps.generalCaps, GENERAL_ODP),
    ...Object.entries(services).flatMap(([name, caps]) => [`\t${name}_odp_caps:`, ...supportRows(caps, TRANSPORT_ODP)]),
  ];
}

function clocks({ completionTimestampMask, hcaCoreClock }: DeviceAttrEx): string[] {
  return [
    completionTimestampMask === 0n
      ? '\tcompletion_timestamp_mask not supported'
      : `\tcompletion timestamp_mask:\t\t\t${hex(completionTimestampMask, 16)}`,
    hcaCoreClock === 0 ? '\tcore clock not supported' : `\thca_core_clock:\t\t\t${hcaCoreClock}kHZ`,
  ];
}

function capFlags({ origAttr, deviceCapFlagsEx }: DeviceAttrEx): string[] {
  const all = BigInt(origAttr.deviceCapFlags >>> 0) | deviceCapFlagsEx;
  return [deviceRow('device_cap_flags_ex', hexCapitals(all)), ...flagRows((all >> 32n) << 32n, CAP_FLAGS_EX)];
}

function rss({ rssCaps }: DeviceAttrEx): string[] {
  return [
    '\trss_caps:',
    `\t\tmax_rwq_indirection_tables:\t\t\t${rssCaps.maxRwqIndirectionTables}`,
    `\t\tmax_rwq_indirection_table_size:\t\t\t${rssCaps.maxRwqIndirectionTableSize}`,
    `\t\trx_hash_function:\t\t\t\t${hex(rssCaps.rxHashFunction)}`,
    `\t\trx_hash_fields_mask:\t\t\t\t${hexCapitals(rssCaps.rxHashFieldsMask)}`,
    ...(rssCaps.supportedQpts === 0 ? [] : supportedQps(rssCaps.supportedQpts, OFFLOADED_QPS)),
  ];
}

function pacing({ packetPacingCaps }: DeviceAttrEx): string[] {
  const { qpRateLimitMin, qpRateLimitMax, supportedQpts } = packetPacingCaps;
  return [
    '\tpacket_pacing_caps:',
    `\t\tqp_rate_limit_min:\t${qpRateLimitMin}kbps`,
    `\t\tqp_rate_limit_max:\t${qpRateLimitMax}kbps`,
    ...(qpRateLimitMax === 0 ? [] : supportedQps(supportedQpts, PACED_QPS)),
  ];
}

function tagMatching({ tmCaps }: DeviceAttrEx): string[] {
  if (tmCaps.maxNumTags === 0) return ['\ttag matching not supported'];
  return [
    deviceRow('max_rndv_hdr_size', tmCaps.maxRndvHdrSize),
    deviceRow('max_num_tags', tmCaps.maxNumTags),
    deviceRow('max_ops', tmCaps.maxOps),
    deviceRow('max_sge', tmCaps.maxSge),
    '\tflags:',
    ...flagRows(tmCaps.flags, TM_FLAGS),
  ];
}

function moderation({ cqModCaps: { maxCqCount, maxCqPeriod } }: DeviceAttrEx): string[] {
  if (maxCqCount === 0 || maxCqPeriod === 0) return [];
  return ['', '\tcq moderation caps:', `\t\tmax_cq_count:\t${maxCqCount}`, `\t\tmax_cq_period:\t${maxCqPeriod} us`, ''];
}

/** What `queryDeviceEx` tells. */
export function extended(attr: DeviceAttrEx, numCompVectors: number): string[] {
  const { rawPacketCaps, tsoCaps, maxDmSize } = attr;
  return [
    ...odp(attr),
    ...clocks(attr),
    ...(rawPacketCaps === 0 ? [] : ['\traw packet caps:', ...flagRows(rawPacketCaps, RAW_PACKET)]),
    ...capFlags(attr),
    '\ttso_caps:',
    `\t\tmax_tso:\t\t\t${tsoCaps.maxTso}`,
    ...(tsoCaps.maxTso === 0 ? [] : supportedQps(tsoCaps.supportedQpts, OFFLOADED_QPS)),
    ...rss(attr),
    deviceRow('max_wq_type_rq', attr.maxWqTypeRq),
    ...pacing(attr),
    ...tagMatching(attr),
    ...moderation(attr),
    ...(maxDmSize === 0n ? [] : [`\tmaximum available device memory:\t${maxDmSize}Bytes`, '']),
    deviceRow('num_comp_vectors', numCompVectors),
  ];
}
