import { type AhAttr, checkAttributes, type QpAttr, qpAttrFields } from '../spec/index.js';
import type { AhAttrInit } from './address-handle.js';
import { invalid, type Problem } from './errors.js';
import type { QpModifyAttr } from './queue-pair.js';

/** What RoCE addresses get when nobody says otherwise; enough for any datacentre, and what rdma_cm uses. */
const DEFAULT_HOP_LIMIT = 64;
const FIRST_PORT = 1;

/** An address with what {@link AhAttrInit} lets the caller leave out. */
export function completeAhAttr(init: AhAttrInit): AhAttr {
  const { grh } = init;
  const base = {
    dlid: init.dlid ?? 0,
    sl: init.sl ?? 0,
    srcPathBits: init.srcPathBits ?? 0,
    staticRate: init.staticRate ?? 0,
    isGlobal: init.isGlobal ?? grh !== undefined,
    portNum: init.portNum ?? FIRST_PORT,
  };
  if (grh === undefined) return base;
  return {
    ...base,
    grh: {
      dgid: grh.dgid,
      flowLabel: grh.flowLabel ?? 0,
      sgidIndex: grh.sgidIndex ?? 0,
      hopLimit: grh.hopLimit ?? DEFAULT_HOP_LIMIT,
      trafficClass: grh.trafficClass ?? 0,
    },
  };
}

/** The attributes that are present, none of them undefined, the address complete. */
export function completeQpAttr(attr: QpModifyAttr): Partial<QpAttr> {
  const { ahAttr, ...others } = attr;
  // The same entries with the same values, less those that are undefined, which count as absent.
  const present = Object.fromEntries(
    Object.entries<unknown>(others).filter(([, value]) => value !== undefined),
  ) as Partial<Omit<QpAttr, 'ahAttr'>>;
  return ahAttr === undefined ? present : { ...present, ahAttr: completeAhAttr(ahAttr) };
}

/** Why no QP could ever be given these attributes, or undefined. What the transition asks for is checked elsewhere. */
export function modifyProblem(attr: Partial<QpAttr>): Problem | undefined {
  for (const name of Object.keys(attr)) {
    if (!qpAttrFields.some((field) => field === name)) {
      return invalid(`'${name}' is no attribute of a QP`, `The attributes are ${qpAttrFields.join(', ')}`);
    }
  }
  const message = checkAttributes(attr);
  return message === undefined ? undefined : invalid(message);
}
