import {
  AccessFlags,
  AtomicCap,
  type CompCntrCaps,
  type CqModerationCaps,
  type DeviceAttr,
  type DeviceAttrEx,
  DeviceCapFlags,
  type Gid,
  LinkLayer,
  type Mtu,
  nodeGuid,
  NodeType,
  OdpGeneralCaps,
  OdpTransportCaps,
  PhysState,
  QpAttachCompCntrOp,
  type PortAttr,
  PortState,
  QpType,
  TransportType,
} from '../../../device/ibta/index.js';
import { runtime } from '../../../api/runtime/index.js';
import type { NicLimits, PortStatus } from '../../../device/nic/index.js';

export const DEVICE_NAME = 'verbena0';
export const NODE_TYPE = NodeType.CA;
export const TRANSPORT_TYPE = TransportType.IB;
export const PORT_NUM = 1;

/** Access that regions of this device can be given: all there is. */
export const SUPPORTED_ACCESS = Object.values(AccessFlags).reduce((all, flag) => all | flag, 0);

/** Both are fields of 16 bits in `struct ibv_moderate_cq`, and the device takes what they hold. */
export const CQ_MODERATION: CqModerationCaps = { maxCqCount: 0xffff, maxCqPeriod: 0xffff };

/** 1 lane of 25 Gb/s: near what a core moves over loopback, and no promise. */
const ACTIVE_WIDTH = 1;
const ACTIVE_SPEED = 32;
/** The same in units of 100 Mb/s. */
export const PORT_SPEED = 250;

/** Ticks of the device's clock are nanoseconds. */
const CLOCK_KHZ = 1_000_000;
const ALL_64_BITS = 0xffff_ffff_ffff_ffffn;

/** Rates that a QP can be limited to, kbit/s: a packet in some seconds, and more than the port carries. */
const RATE_MIN_KBPS = 1;
const RATE_MAX_KBPS = 0xffff_ffff;

/** Not of any manufacturer: the number that rxe shows as well. */
const SOFTWARE_VENDOR = 0xffffff;
/** What `queryDevice` tells: nothing that this device does not have. */
export function deviceAttr(gid: Gid, limits: NicLimits): DeviceAttr {
  const guid = nodeGuid(gid);
  return {
    fwVer: runtime().packageVersion,
    nodeGuid: guid,
    sysImageGuid: guid,
    maxMrSize: BigInt(limits.maxMrBytes),
    // Memory is registered byte by byte, so every page size of 4 KiB and more will do.
    pageSizeCap: 0xfffff000,
    vendorId: SOFTWARE_VENDOR,
    vendorPartId: 0,
    hwVer: 0,
    maxQp: limits.maxQp,
    maxQpWr: limits.maxQpWr,
    deviceCapFlags:
      DeviceCapFlags.BAD_PKEY_CNTR |
      DeviceCapFlags.BAD_QKEY_CNTR |
      DeviceCapFlags.CURR_QP_STATE_MOD |
      DeviceCapFlags.PORT_ACTIVE_EVENT |
      DeviceCapFlags.SYS_IMAGE_GUID |
      DeviceCapFlags.RC_RNR_NAK_GEN |
      DeviceCapFlags.SRQ_RESIZE |
      DeviceCapFlags.N_NOTIFY_CQ |
      DeviceCapFlags.MEM_WINDOW |
      DeviceCapFlags.XRC |
      DeviceCapFlags.MEM_MGT_EXTENSIONS |
      DeviceCapFlags.MEM_WINDOW_TYPE_2B,
    maxSge: limits.maxSge,
    maxSgeRd: limits.maxSge,
    maxCq: limits.maxCq,
    maxCqe: limits.maxCqe,
    maxMr: limits.maxMr,
    maxPd: limits.maxPd,
    maxQpRdAtom: limits.maxRdAtomic,
    maxEeRdAtom: 0,
    maxResRdAtom: limits.maxRdAtomic * limits.maxQp,
    maxQpInitRdAtom: limits.maxRdAtomic,
    maxEeInitRdAtom: 0,
    atomicCap: AtomicCap.HCA,
    maxEe: 0,
    maxRdd: 0,
    maxMw: limits.maxMw,
    maxRawIpv6Qp: 0,
    maxRawEthyQp: limits.maxQp,
    maxMcastGrp: limits.maxMcastGrp,
    maxMcastQpAttach: limits.maxMcastQpAttach,
    maxTotalMcastQpAttach: limits.maxMcastGrp * limits.maxMcastQpAttach,
    maxAh: limits.maxAh,
    maxFmr: 0,
    maxMapPerFmr: 0,
    maxSrq: limits.maxSrq,
    maxSrqWr: limits.maxSrqWr,
    maxSrqSge: limits.maxSrqSge,
    maxPkeys: limits.maxPkeys,
    localCaAckDelay: 15,
    physPortCnt: 1,
  };
}

const RECEIVING = OdpTransportCaps.SUPPORT_RECV | OdpTransportCaps.SUPPORT_SRQ_RECV;
const DATAGRAM_ODP = OdpTransportCaps.SUPPORT_SEND | RECEIVING;
const UNRELIABLE_ODP = DATAGRAM_ODP | OdpTransportCaps.SUPPORT_WRITE;
const RELIABLE_ODP = Object.values(OdpTransportCaps).reduce((all, cap) => all | cap, 0);

/** What `queryDeviceEx` tells. */
export function deviceAttrEx(origAttr: DeviceAttr): DeviceAttrEx {
  return {
    origAttr,
    // Memory is never anywhere else, so whatever can be done can be done on demand.
    odpCaps: {
      generalCaps: OdpGeneralCaps.SUPPORT,
      perTransportCaps: { rcOdpCaps: RELIABLE_ODP, ucOdpCaps: UNRELIABLE_ODP, udOdpCaps: DATAGRAM_ODP },
    },
    xrcOdpCaps: RELIABLE_ODP,
    completionTimestampMask: ALL_64_BITS,
    hcaCoreClock: CLOCK_KHZ,
    deviceCapFlagsEx: 0n,
    tsoCaps: { maxTso: 0, supportedQpts: 0 },
    rssCaps: {
      supportedQpts: 0,
      maxRwqIndirectionTables: 0,
      maxRwqIndirectionTableSize: 0,
      rxHashFieldsMask: 0n,
      rxHashFunction: 0,
    },
    maxWqTypeRq: 0,
    packetPacingCaps: {
      qpRateLimitMin: RATE_MIN_KBPS,
      qpRateLimitMax: RATE_MAX_KBPS,
      supportedQpts: (1 << QpType.UC) | (1 << QpType.UD) | (1 << QpType.RAW_PACKET),
    },
    rawPacketCaps: 0,
    tmCaps: { maxRndvHdrSize: 0, maxNumTags: 0, flags: 0, maxOps: 0, maxSge: 0 },
    cqModCaps: CQ_MODERATION,
    maxDmSize: 0n,
    atomicCaps: { fetchAdd: 0, swap: 0, compareSwap: 0 },
    physPortCntEx: origAttr.physPortCnt,
  };
}

/** What `queryPort` tells. */
export function portAttr(mtu: Mtu, limits: NicLimits, status: PortStatus): PortAttr {
  const { state, gids, pkeys, badPkeyCntr, qkeyViolCntr } = status;
  return {
    state,
    maxMtu: mtu,
    activeMtu: mtu,
    gidTblLen: gids.length,
    portCapFlags: 0,
    maxMsgSz: limits.maxMessageBytes,
    // IBTA has them stay at the end of their 16 bits.
    badPkeyCntr: Math.min(badPkeyCntr, 0xffff),
    qkeyViolCntr: Math.min(qkeyViolCntr, 0xffff),
    pkeyTblLen: pkeys.length,
    lid: 0,
    smLid: 0,
    lmc: 0,
    maxVlNum: 1,
    smSl: 0,
    subnetTimeout: 0,
    initTypeReply: 0,
    activeWidth: ACTIVE_WIDTH,
    activeSpeed: ACTIVE_SPEED,
    physState: state === PortState.ACTIVE ? PhysState.LINK_UP : PhysState.DISABLED,
    linkLayer: LinkLayer.ETHERNET,
    flags: 0,
    portCapFlags2: 0,
    activeSpeedEx: 0,
  };
}

export function compCntrCaps({ maxCompCntr }: NicLimits): CompCntrCaps {
  return {
    maxValue: 2n ** 64n - 1n,
    maxCounters: maxCompCntr,
    supportedQpAttachOps: QpAttachCompCntrOp.REMOTE_RDMA_WRITE,
  };
}
