import { inspect, isDeepStrictEqual } from 'node:util';
import { QpType } from '../../src/entry/index.js';
import { check } from '../sim/failure.js';
import { upHosts } from './choices.js';
import { checkLimits } from './limits.js';
import type { HostRecord, QpRecord } from './things.js';
import type { World } from './world.js';

/** Asks for what the model knows as well. */
export function query(world: World): void {
  for (const host of upHosts(world)) {
    queryDevice(host);
    for (const qp of host.qps) queryQp(world, qp);
    checkLimits(world, host);
    for (const { api, maxWr } of host.srqs) {
      const told = api.query();
      check(told.maxWr === maxWr, () => `an SRQ with room for ${maxWr} says that it has it for ${told.maxWr}`);
    }
    for (const { api, capacity } of host.cqs)
      check(api.cqe === capacity, () => `a CQ of ${capacity} entries says that it has ${api.cqe}`);
  }
}

function queryDevice({ context, address, limits }: HostRecord): void {
  const now = context.queryDevice();
  check(isDeepStrictEqual(now, limits), () => `${address} says other things of itself than in the beginning`);
}

/** Each attribute is what it was set to last. */
function queryQp(world: World, { api, life, name, type, poster, sqSigAll }: QpRecord): void {
  world.counts.queries += 1;
  const { state: before } = api;
  const { attr } = api.query();
  // The NIC goes on as it is asked.
  const { state: after } = api;
  const { qpState, curQpState } = attr;
  check(
    (qpState === before || qpState === after) && curQpState === qpState,
    () => `${name} is in ${before}, then in ${after}, but says ${qpState}`,
  );
  for (const [field, value] of Object.entries(life.attrs)) {
    if (field === 'qpState') continue;
    const told: unknown = attr[field as keyof typeof attr]; // what modify takes is among what query tells
    // Of an address as much was given as makes it one.
    const same =
      field === 'ahAttr' ? isDeepStrictEqual(attr.ahAttr.grh?.dgid, life.dgid) : isDeepStrictEqual(told, value);
    check(same, () => `${name} says that ${field} is ${inspect(told)}, but it was set to ${inspect(value)}`);
  }
  if (poster === undefined || type === QpType.XRC_RECV) return;
  const { initAttr } = poster.query();
  check(
    initAttr.qpType === type &&
      (initAttr.sqSigAll ?? false) === sqSigAll &&
      isDeepStrictEqual(initAttr.cap, poster.cap),
    () => `${name} says that it was made otherwise than it was`,
  );
}
