/** The values of `enum ibv_mtu`. */
export const Mtu = { MTU_256: 1, MTU_512: 2, MTU_1024: 3, MTU_2048: 4, MTU_4096: 5 } as const;
export type Mtu = (typeof Mtu)[keyof typeof Mtu];

/** The number of payload bytes that a packet may carry: 256 to 4096. */
export function mtuBytes(mtu: Mtu): number {
  return 128 << mtu;
}

/** The largest MTU whose payload fits in `bytes`, or undefined below 256. */
export function mtuFromBytes(bytes: number): Mtu | undefined {
  if (bytes >= 4096) return Mtu.MTU_4096;
  if (bytes >= 2048) return Mtu.MTU_2048;
  if (bytes >= 1024) return Mtu.MTU_1024;
  if (bytes >= 512) return Mtu.MTU_512;
  if (bytes >= 256) return Mtu.MTU_256;
  return undefined;
}

/** The values of `enum ibv_port_state`. */
export const PortState = { NOP: 0, DOWN: 1, INIT: 2, ARMED: 3, ACTIVE: 4, ACTIVE_DEFER: 5 } as const;
export type PortState = (typeof PortState)[keyof typeof PortState];

/** The values of `ibv_port_attr.phys_state` (IBTA 14.2.5.6). */
export const PhysState = {
  SLEEP: 1,
  POLLING: 2,
  DISABLED: 3,
  PORT_CONFIGURATION_TRAINING: 4,
  LINK_UP: 5,
  LINK_ERROR_RECOVERY: 6,
  PHY_TEST: 7,
} as const;
export type PhysState = (typeof PhysState)[keyof typeof PhysState];

/** The values of `IBV_LINK_LAYER_*`. */
export const LinkLayer = { UNSPECIFIED: 0, INFINIBAND: 1, ETHERNET: 2 } as const;
export type LinkLayer = (typeof LinkLayer)[keyof typeof LinkLayer];

/** `struct ibv_port_attr`: what a port is and can do. */
export interface PortAttr {
  readonly state: PortState;
  readonly maxMtu: Mtu;
  readonly activeMtu: Mtu;
  /** Entries of the GID table. */
  readonly gidTblLen: number;
  readonly portCapFlags: number;
  /** Bytes of the longest message. */
  readonly maxMsgSz: number;
  readonly badPkeyCntr: number;
  readonly qkeyViolCntr: number;
  readonly pkeyTblLen: number;
  /** 0 on RoCE. */
  readonly lid: number;
  readonly smLid: number;
  readonly lmc: number;
  readonly maxVlNum: number;
  readonly smSl: number;
  readonly subnetTimeout: number;
  readonly initTypeReply: number;
  /** 1, 2, 4, 8 or 16 for 1X, 4X, 8X, 12X, 2X lanes. */
  readonly activeWidth: number;
  /** 1 (2.5 Gb/s a lane), 2 (5), 4 or 8 (10), 16 (14), 32 (25), 64 (50), 128 (100). */
  readonly activeSpeed: number;
  readonly physState: PhysState;
  readonly linkLayer: LinkLayer;
  readonly flags: number;
  readonly portCapFlags2: number;
  /** As `activeSpeed`, for rates that need more than 8 bits; 0 when `activeSpeed` says it. */
  readonly activeSpeedEx: number;
}

/** Lanes of each `activeWidth`. */
const lanes: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [2, 4],
  [4, 8],
  [8, 12],
  [16, 2],
]);

/** Units of 100 Mbit/s of a lane of each `activeSpeed`: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR. */
const laneSpeeds: ReadonlyMap<number, number> = new Map([
  [1, 25],
  [2, 50],
  [4, 100],
  [8, 100],
  [16, 140],
  [32, 250],
  [64, 500],
  [128, 1000],
  [256, 2000],
]);

/** How fast a port is, in units of 100 Mbit/s (`ibv_query_port_speed`), or 0 when its width or speed mean nothing. */
export function portSpeed(port: Pick<PortAttr, 'activeWidth' | 'activeSpeed' | 'activeSpeedEx'>): number {
  const speed = port.activeSpeedEx === 0 ? port.activeSpeed : port.activeSpeedEx;
  return (lanes.get(port.activeWidth) ?? 0) * (laneSpeeds.get(speed) ?? 0);
}
