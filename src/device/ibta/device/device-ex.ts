import type { DeviceAttr } from './device.js';

/** Bits of `enum ibv_odp_general_caps`: on-demand paging. */
export const OdpGeneralCaps = { SUPPORT: 1, SUPPORT_IMPLICIT: 2 } as const;

/** Bits of `enum ibv_odp_transport_cap_bits`: operations that can work on memory registered ON_DEMAND. */
export const OdpTransportCaps = {
  SUPPORT_SEND: 1 << 0,
  SUPPORT_RECV: 1 << 1,
  SUPPORT_WRITE: 1 << 2,
  SUPPORT_READ: 1 << 3,
  SUPPORT_ATOMIC: 1 << 4,
  SUPPORT_SRQ_RECV: 1 << 5,
  SUPPORT_FLUSH: 1 << 6,
  SUPPORT_ATOMIC_WRITE: 1 << 7,
} as const;

/** Bits of `enum ibv_raw_packet_caps`. */
export const RawPacketCaps = {
  CVLAN_STRIPPING: 1 << 0,
  SCATTER_FCS: 1 << 1,
  IP_CSUM: 1 << 2,
  DELAY_DROP: 1 << 3,
} as const;

/** `struct ibv_odp_caps`. */
export interface OdpCaps {
  /** Bits of {@link OdpGeneralCaps}. */
  readonly generalCaps: number;
  /** By transport: bits of {@link OdpTransportCaps}. */
  readonly perTransportCaps: {
    readonly rcOdpCaps: number;
    readonly ucOdpCaps: number;
    readonly udOdpCaps: number;
  };
}

/** `struct ibv_tso_caps`: segmentation of TCP by the device. */
export interface TsoCaps {
  /** Bytes of the longest payload; 0 where there is none. */
  readonly maxTso: number;
  /** A bit for each QP type: `1 << QpType.RAW_PACKET` and so on. */
  readonly supportedQpts: number;
}

/** `struct ibv_rss_caps`: spreading of frames over several work queues. */
export interface RssCaps {
  /** A bit for each QP type; 0 where there is no spreading. */
  readonly supportedQpts: number;
  readonly maxRwqIndirectionTables: number;
  readonly maxRwqIndirectionTableSize: number;
  readonly rxHashFieldsMask: bigint;
  readonly rxHashFunction: number;
}

/** `struct ibv_packet_pacing_caps`: limits of a QP's sending rate. */
export interface PacketPacingCaps {
  /** kbit/s. */
  readonly qpRateLimitMin: number;
  /** kbit/s. */
  readonly qpRateLimitMax: number;
  /** A bit for each QP type: `1 << QpType.UD` and so on. */
  readonly supportedQpts: number;
}

/** `struct ibv_tm_caps`: tag matching. */
export interface TmCaps {
  readonly maxRndvHdrSize: number;
  /** 0 where there is no tag matching. */
  readonly maxNumTags: number;
  readonly flags: number;
  readonly maxOps: number;
  readonly maxSge: number;
}

/** `struct ibv_cq_moderation_caps`: how far the events of a CQ can be held back. */
export interface CqModerationCaps {
  /** Completions. */
  readonly maxCqCount: number;
  /** Microseconds. */
  readonly maxCqPeriod: number;
}

/** `struct ibv_pci_atomic_caps`: sizes of atomics on the bus, a bit for each power of two of bytes; 0 for none. */
export interface PciAtomicCaps {
  readonly fetchAdd: number;
  readonly swap: number;
  readonly compareSwap: number;
}

/** `struct ibv_device_attr_ex`: what a device can do beyond {@link DeviceAttr}. What it lacks reads 0. */
export interface DeviceAttrEx {
  readonly origAttr: DeviceAttr;
  readonly odpCaps: OdpCaps;
  /** Bits of {@link OdpTransportCaps}. */
  readonly xrcOdpCaps: number;
  /** The bits that a completion timestamp can have set. */
  readonly completionTimestampMask: bigint;
  /** Ticks of the device's clock in a millisecond, that is, its frequency in kHz: 1 000 000 where a tick is 1 ns. */
  readonly hcaCoreClock: number;
  /** `device_cap_flags_ex`: bits above those of `DeviceCapFlags`. */
  readonly deviceCapFlagsEx: bigint;
  readonly tsoCaps: TsoCaps;
  readonly rssCaps: RssCaps;
  readonly maxWqTypeRq: number;
  readonly packetPacingCaps: PacketPacingCaps;
  /** Bits of {@link RawPacketCaps}. */
  readonly rawPacketCaps: number;
  readonly tmCaps: TmCaps;
  readonly cqModCaps: CqModerationCaps;
  /** Bytes of memory in the device; 0 where it has none to lend. */
  readonly maxDmSize: bigint;
  readonly atomicCaps: PciAtomicCaps;
  /** As `physPortCnt`, for devices with more than 255 ports. */
  readonly physPortCntEx: number;
}
