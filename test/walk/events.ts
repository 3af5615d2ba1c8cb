import { EventType, VerbsError } from '../../src/entry/index.js';
import { check } from '../sim/failure.js';
import type { CqRecord, HostRecord, SrqRecord } from './things.js';
import type { World } from './world.js';

/** Reads the asynchronous events of a host, and notes those that the model knows of. */
export function readEvents(world: World, host: HostRecord): void {
  for (;;) {
    let event;
    try {
      event = host.context.getAsyncEvent(0);
    } catch (error) {
      if (error instanceof VerbsError && error.errno === 'ETIMEDOUT') return;
      throw error;
    }
    if (event.eventType === EventType.CQ_ERR && 'cq' in event) {
      host.polled.lossy = true;
      const { cq: dead } = event;
      const cq = host.cqs.find(({ api }) => api === dead);
      if (cq !== undefined) overrun(host, cq);
    } else if (event.eventType === EventType.SRQ_LIMIT_REACHED && 'srq' in event) {
      const { srq: low } = event;
      const srq = host.srqs.find(({ api }) => api === low);
      if (srq !== undefined) limitReached(world, srq);
    }
  }
}

/** Once, when few are left, and only when somebody asked (protocol/services.md 3.4). */
function limitReached(world: World, srq: SrqRecord): void {
  world.counts.limits += 1;
  check(srq.limit > 0, () => `SRQ ${srq.id} of ${srq.host.address} says that few are left, which nobody asked for`);
  srq.reached = srq.limit;
  srq.limit = 0;
}

/** How many requests that are outstanding may complete in a CQ. */
export function mostIn(host: HostRecord, cq: CqRecord): number {
  const most = host.qps.reduce((sum, qp) => {
    const sends = qp.sendCq === cq ? qp.sends.length : 0;
    const recvs = qp.recvCq === cq ? qp.recvs.length + (qp.srq?.recvs.length ?? 0) : 0;
    return sum + sends + recvs;
  }, 0);
  return host.srqs.reduce((sum, srq) => sum + (srq.xrcCq === cq ? srq.recvs.length : 0), most);
}

function overrun(host: HostRecord, cq: CqRecord): void {
  const most = mostIn(host, cq);
  check(
    most > cq.capacity,
    () => `a CQ of ${cq.capacity} entries was overrun, but only ${most} requests could complete there`,
  );
  cq.dead = true;
  for (const qp of host.qps) if (qp.sendCq === cq || qp.recvCq === cq || qp.srq?.xrcCq === cq) qp.life.doomed = true;
  for (const srq of host.srqs) if (srq.xrcCq === cq) for (const qp of host.qps) qp.life.doomed = true;
}
