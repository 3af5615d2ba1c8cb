import type { AhAttrInit } from '../../../../api/verbs/index.js';
import { type Fields, writeFields } from './fields.js';

/** Bytes of a `struct ib_uverbs_ah_attr`. */
export const AH_ATTR_BYTES = 32;

const GRH: Fields<'flowLabel' | 'sgidIndex' | 'hopLimit' | 'trafficClass'> = {
  flowLabel: { at: 16, bytes: 4 },
  sgidIndex: { at: 20, bytes: 1 },
  hopLimit: { at: 21, bytes: 1 },
  trafficClass: { at: 22, bytes: 1 },
};

const ATTR: Fields<'dlid' | 'sl' | 'srcPathBits' | 'staticRate' | 'isGlobal' | 'portNum'> = {
  dlid: { at: 24, bytes: 2 },
  sl: { at: 26, bytes: 1 },
  srcPathBits: { at: 27, bytes: 1 },
  staticRate: { at: 28, bytes: 1 },
  isGlobal: { at: 29, bytes: 1 },
  portNum: { at: 30, bytes: 1 },
};

/** Writes where a peer is as `struct ib_uverbs_ah_attr`. */
export function writeAhAttr(bytes: Buffer, at: number, attr: AhAttrInit): void {
  const { grh } = attr;
  writeFields(ATTR, bytes, at, { isGlobal: grh !== undefined, portNum: 1, ...attr });
  if (grh === undefined) return;
  bytes.set(grh.dgid, at);
  writeFields(GRH, bytes, at, grh);
}
