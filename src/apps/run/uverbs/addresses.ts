import type { AhAttrInit } from '../../../api/verbs/index.js';
import type { AhAttr, GlobalRoute } from '../../../device/ibta/index.js';

const NO_ROUTE: GlobalRoute = {
  dgid: new Uint8Array(16),
  flowLabel: 0,
  sgidIndex: 0,
  hopLimit: 0,
  trafficClass: 0,
};

/** The fields that both structures of an address have (`ib_uverbs_qp_dest`, `ib_uverbs_ah_attr`). */
export interface Destination {
  readonly dgid: Uint8Array;
  readonly flowLabel: number;
  readonly sgidIndex: number;
  readonly hopLimit: number;
  readonly trafficClass: number;
  readonly dlid: number;
  readonly sl: number;
  readonly srcPathBits: number;
  readonly staticRate: number;
  readonly isGlobal: number;
  readonly portNum: number;
}

/** The header has no more; the kernel takes the lower ones of what a program gives, and UCX gives all 32 as 1. */
const FLOW_LABEL_BITS = 0xfffff;

/** An address as a program gives it. */
export function addressOf(destination: Destination): AhAttrInit {
  const { dgid, flowLabel, sgidIndex, hopLimit, trafficClass, isGlobal, ...local } = destination;
  if (isGlobal === 0) return { ...local, isGlobal: false };
  return {
    ...local,
    isGlobal: true,
    grh: { dgid, flowLabel: flowLabel & FLOW_LABEL_BITS, sgidIndex, hopLimit, trafficClass },
  };
}

/** An address as a program gets it. */
export function destinationOf({ grh = NO_ROUTE, isGlobal, ...local }: AhAttr): Destination {
  return { ...local, ...grh, isGlobal: isGlobal ? 1 : 0 };
}
