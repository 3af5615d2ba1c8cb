import { type AhAttr, checkAhAttr, type GlobalRoute } from '../../../device/ibta/index.js';
import type { AhAttrInit } from '../objects/queue-pair.js';
import { invalid, type Problem } from '../errors.js';
import { type FieldsOf, fieldsProblem } from './fields.js';
import { isObject, show } from './values.js';

/** What RoCE addresses get when nobody says otherwise; enough for any datacentre, and what rdma_cm uses. */
const DEFAULT_HOP_LIMIT = 64;
const FIRST_PORT = 1;

const FIELDS: FieldsOf<AhAttrInit> = {
  grh: true,
  dlid: true,
  sl: true,
  srcPathBits: true,
  staticRate: true,
  isGlobal: true,
  portNum: true,
};
const ROUTE_FIELDS: FieldsOf<GlobalRoute> = {
  dgid: true,
  flowLabel: true,
  sgidIndex: true,
  hopLimit: true,
  trafficClass: true,
};

/** Why no address can be made of this, or undefined when one can, whatever its fields are; `what` names it. */
export function ahInitProblem(what: string, init: unknown): Problem | undefined {
  const problem = fieldsProblem(what, init, FIELDS);
  if (problem !== undefined || !isObject(init)) return problem;
  const { grh, isGlobal }: { readonly grh?: unknown; readonly isGlobal?: unknown } = init;
  if (isGlobal !== undefined && typeof isGlobal !== 'boolean') {
    return invalid(`${what}.isGlobal is ${show(isGlobal)}`, 'It is true or false');
  }
  return grh === undefined ? undefined : fieldsProblem(`${what}.grh`, grh, ROUTE_FIELDS);
}

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

/**
 * Why an address handle cannot be made from this, or undefined when it can (protocol/services.md 3.9).
 *
 * @param ports how many the device has
 * @param hasGid whether the port's GID table has an entry there
 */
export function ahProblem(attr: AhAttr, ports: number, hasGid: (index: number) => boolean): Problem | undefined {
  const message = checkAhAttr(attr, 'attr');
  if (message !== undefined) return invalid(message);
  if (attr.portNum > ports) return invalid(`attr.portNum is ${attr.portNum}`, `This device has ports 1 to ${ports}`);
  if (attr.grh === undefined || hasGid(attr.grh.sgidIndex)) return undefined;
  const index = attr.grh.sgidIndex;
  return invalid(`attr.grh.sgidIndex is ${index}, where the GID table is empty`, 'queryGidTable tells what it has');
}
