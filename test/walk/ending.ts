import { nameOf, QpState, QpType } from '../../src/entry/index.js';
import { checkLaws, completionLaws, packetLaws } from '../sim/counter-laws.js';
import { check } from '../sim/failure.js';
import { holdingsOf } from '../support/holdings.js';
import { destroyQp } from './connections.js';
import { isReliable, LOCALS, TAKES, targetOf } from './judge.js';
import { describeRequest } from './statuses.js';
import type { HostRecord, QpRecord, SendRecord } from './things.js';
import type { World } from './world.js';

/** More than all retries of all requests take, with nothing in their way. */
const LIMIT_US = 8 * 2 ** 14 * 4.096 * 20;
const ROUND_US = 20_000;

/** Once the network is well again, everything comes to an end. */
export function settle(world: World): void {
  for (const host of world.hosts) if (host.up && host.paused) world.pause(host, false);
  world.calm();
  world.cluster.network.heal();
  world.clearTroubles();
  world.consider();
  const untilUs = world.nowUs + LIMIT_US;
  while (world.nowUs < untilUs) {
    world.pass(ROUND_US);
    for (const host of world.hosts) if (host.up) world.drain(host);
    world.consider();
    if (waiting(world).length === 0) return;
  }
  for (const request of waiting(world))
    check(false, () => `${describeRequest(request)} never completed, ${LIMIT_US / 1e6} s after the network was well`);
}

/** What must still complete by itself. */
function waiting(world: World): SendRecord[] {
  return [...world.live].filter((request) => {
    const { qp, open } = request;
    if (!open || !qp.host.up || qp.sendCq?.dead === true) return false;
    const { state } = qp.api;
    if (state !== QpState.RTS && state !== QpState.ERR && state !== QpState.SQE) return false;
    return request.signalled && !waitsForReceiver(world, request);
  });
}

/** Whether a request, or one before it, may wait for a receive request for ever. */
function waitsForReceiver(world: World, request: SendRecord): boolean {
  const { qp } = request;
  if (!isReliable(qp.type) || qp.life.rnrRetry < 7) return false;
  const before = qp.sends.slice(0, qp.sends.indexOf(request) + 1);
  return before.some((earlier) => {
    if (!TAKES.has(earlier.opcode) || LOCALS.has(earlier.opcode)) return false;
    const target = targetOf(world, earlier);
    if (target === undefined) return false;
    // Of requests that a QP took and never gave back, and of those that completed to a queue that is lost, nobody hears.
    const { recvs, srq, qp: peer } = target;
    return recvs.length <= (srq?.lives ?? 0) || peer.recvCq?.dead === true || srq?.xrcCq?.dead === true;
  });
}

/** Whatever is outstanding then is flushed, and all can be taken apart, in the right order only. */
export function takeApart(world: World): void {
  for (const host of world.hosts) if (host.up) flushAll(world, host);
  world.pass(1);
  for (const host of world.hosts) if (host.up) world.drain(host);
  for (const host of world.hosts) if (host.up) checkFlushed(host);
  for (const host of world.hosts) if (host.up) checkDelivered(host);
  for (const host of world.hosts) checkCounters(world, host);
  for (const host of world.hosts) if (host.up) destroyAll(world, host);
  world.look();
}

function flushAll(world: World, host: HostRecord): void {
  for (const qp of host.qps) {
    if (qp.api.state === QpState.RESET) continue;
    qp.life.doomed = true;
    world.attempt(`${qp.name} to ERR, at the end`, ['ok'], () => qp.api.modify({ qpState: QpState.ERR }));
  }
}

function checkFlushed({ qps }: HostRecord): void {
  for (const qp of qps) {
    if (qp.api.state !== QpState.ERR) continue;
    if (qp.sendCq?.dead !== true)
      for (const request of qp.sends)
        check(
          !request.signalled,
          () => `${describeRequest(request)} never completed, not even as flushed, in ${nameOf(QpState, QpState.ERR)}`,
        );
    if (qp.recvCq?.dead !== true)
      for (const { wrId } of qp.recvs) check(false, () => `receive request ${wrId} of ${qp.name} was never flushed`);
  }
}

/** Of a message that was acknowledged, the receiver was told. */
function checkDelivered({ qps }: HostRecord): void {
  for (const qp of qps) {
    const { mate } = qp.life;
    if (mate === undefined || qp.type !== QpType.RC || lossyQueue(qp)) continue;
    for (const message of mate.messages) {
      // From there on the connection is none, and says nothing about what came.
      if (message.wild) break;
      if (!message.acknowledged) continue;
      check(
        message.messageIndex < qp.life.delivered,
        () => `${describeRequest(message)} succeeded, but ${qp.name} was never told of it`,
      );
    }
  }
}

/** What its NIC has counted is what the network and its program have seen. Of hosts that crashed counters can still be read. */
function checkCounters(world: World, host: HostRecord): void {
  const { address: name, context, packets, polled, up } = host;
  if (up) world.events(host);
  const account = { name, counters: context.counters(), packets, polled };
  checkLaws(packetLaws, account);
  if (up) checkLaws(completionLaws, account);
}

function lossyQueue({ recvCq, srq }: QpRecord): boolean {
  return recvCq?.dead === true || srq?.xrcCq?.dead === true;
}

function destroyAll(world: World, host: HostRecord): void {
  const { context } = host;
  const refuse = (what: string, call: () => void): void => {
    world.attempt(what, ['EBUSY'], call);
  };
  for (const pd of host.pds) {
    const used = [...host.regions, ...host.windows, ...host.qps, ...host.srqs, ...host.ahs].some(
      (thing) => thing.alive && thing.pd === pd,
    );
    if (used) refuse(`${host.address} ends a PD that is in use`, () => pd.api.dealloc());
  }
  for (const srq of host.srqs) {
    if (host.qps.some((qp) => qp.srq === srq)) refuse('an SRQ in use is destroyed', () => srq.api.destroy());
  }
  for (const window of host.windows)
    if (window.alive && window.type === 1) end(world, 'a window', () => window.api.dealloc());
  while (host.qps.length > 0) destroyQp(world, host.qps[0]);
  for (const window of host.windows)
    if (window.alive && window.type === 2) end(world, 'a window', () => window.api.dealloc());
  for (const region of host.regions) if (region.alive) end(world, 'a region', () => region.api.dereg());
  for (const srq of host.srqs) end(world, 'an SRQ', () => srq.api.destroy());
  for (const ah of host.ahs) if (ah.alive) end(world, 'an address handle', () => ah.api.destroy());
  for (const cq of host.cqs) end(world, 'a CQ', () => cq.api.destroy());
  for (const pd of host.pds) end(world, 'a PD', () => pd.api.dealloc());
  end(world, 'the XRC domain', () => host.xrcd.close());
  end(world, 'the channel', () => host.channel.destroy());
  checkEmpty(host);
  end(world, 'the device', () => context.close());
  host.up = false;
}

/** Of what was ended its device keeps nothing. */
function checkEmpty({ address, context, fresh }: HostRecord): void {
  const left = Object.entries(holdingsOf(context)).filter(([kind, count]) => count !== fresh[kind]);
  check(left.length === 0, () => `all is ended, but the device at ${address} still has ${JSON.stringify(left)}`);
}

function end(world: World, what: string, call: () => void): void {
  world.attempt(`${what} is ended`, ['ok'], call);
}
