import type { AhAttrInit } from '../../api/verbs/index.js';
import { octets, struct, u16, u32, u8, type ValuesOf } from '../../device/wire/index.js';

const GID_BYTES = 16;

const GLOBAL_ROUTE_AND_MORE = {
  dgid: octets(0, GID_BYTES),
  flowLabel: u32(16),
};

/** `struct ib_uverbs_qp_dest`. */
export const QP_DEST = struct(
  {
    ...GLOBAL_ROUTE_AND_MORE,
    dlid: u16(20),
    sgidIndex: u8(24),
    hopLimit: u8(25),
    trafficClass: u8(26),
    sl: u8(27),
    srcPathBits: u8(28),
    staticRate: u8(29),
    isGlobal: u8(30),
    portNum: u8(31),
  },
  32,
);

/** `struct ib_uverbs_ah_attr`: the same things in another order. */
export const AH_ATTR = struct(
  {
    ...GLOBAL_ROUTE_AND_MORE,
    sgidIndex: u8(20),
    hopLimit: u8(21),
    trafficClass: u8(22),
    dlid: u16(24),
    sl: u8(26),
    srcPathBits: u8(27),
    staticRate: u8(28),
    isGlobal: u8(29),
    portNum: u8(30),
  },
  32,
);

export type Destination = ValuesOf<typeof AH_ATTR>;

/** The header has no more; the kernel takes the lower ones of what a program gives, and UCX gives all 32 as 1. */
const FLOW_LABEL_BITS = 0xfffff;

/** RoCE has neither, and the kernel accepts any byte for them. */
const SERVICE_LEVEL_BITS = 0xf;
const PATH_BITS = 0x7f;

export function addressOf(destination: Destination): AhAttrInit {
  const { dgid, flowLabel, sgidIndex, hopLimit, trafficClass, isGlobal, sl, srcPathBits, ...rest } = destination;
  const local = { ...rest, sl: sl & SERVICE_LEVEL_BITS, srcPathBits: srcPathBits & PATH_BITS };
  if (isGlobal === 0) return { ...local, isGlobal: false };
  return {
    ...local,
    isGlobal: true,
    grh: { dgid, flowLabel: flowLabel & FLOW_LABEL_BITS, sgidIndex, hopLimit, trafficClass },
  };
}

export function destinationOf({ grh, ...local }: AhAttrInit): Destination {
  const { dlid = 0, sl = 0, srcPathBits = 0, staticRate = 0, isGlobal = grh !== undefined, portNum = 1 } = local;
  const { dgid = new Uint8Array(GID_BYTES), flowLabel = 0, sgidIndex = 0, hopLimit = 0, trafficClass = 0 } = grh ?? {};
  return {
    ...{ dgid, flowLabel, sgidIndex, hopLimit, trafficClass },
    ...{ dlid, sl, srcPathBits, staticRate, isGlobal: isGlobal ? 1 : 0, portNum },
  };
}
