import {
  type AhAttr,
  type CompCntrType,
  EventType,
  type Gid,
  nameOf,
  QpAttachCompCntrOp,
  type QpAttr,
  type QpView,
  type QpCap,
  QpState,
  QpType,
  Syndrome,
} from '../../ibta/index.js';
import { CommandError } from '../command-error.js';
import type { MulticastTable } from '../datagram/multicast-table.js';
import type { AllocMw, MrAttributes, MrKeys, MwKeys, ReregMr } from '../memory/memory-table.js';
import type { NicCore } from '../nic-core.js';
import type { PortChange, PortStatus } from '../port/port.js';
import { QueuePair } from '../queue-pairs/queue-pair.js';
import type { TransportService } from '../queue-pairs/halves.js';
import { CompChannel } from '../queues/comp-channel.js';
import { CompletionCounter } from '../queues/completion-counter.js';
import { CompletionQueue, type CqCore } from '../queues/completion-queue.js';
import type { Doorbells } from '../queues/doorbells.js';
import { EventModeration } from '../queues/event-moderation.js';
import { SharedReceiveQueue } from '../queues/shared-receive-queue.js';
import { WorkQueue } from '../queues/work-queue.js';
import { completionQueueShape, recvQueueShape, sendQueueShape } from '../rings/layout.js';
import { checkModification, checkQpCap } from './modify-checks.js';
import { leave, type NicObjects } from './objects.js';
import { transportService } from './transport-services.js';

export interface CreateQp {
  readonly type: QpType;
  /** Absent for an XRC target QP alone. */
  readonly pd?: number | undefined;
  readonly xrcd?: number | undefined;
  /** Absent where the type has no such queue. */
  readonly sendCq?: number | undefined;
  readonly recvCq?: number | undefined;
  readonly srq?: number | undefined;
  readonly cap: QpCap;
  /** Bits of `QpCreateFlags`. */
  readonly createFlags?: number | undefined;
  readonly sqSigAll: boolean;
  /** Rings of the shapes that the layout prescribes for `cap`; the state is published in both. */
  readonly sq: ArrayBufferLike;
  readonly rq: ArrayBufferLike;
  /** The page that rings for it; default the NIC's own (`NicConfig.doorbells`). */
  readonly doorbells?: Doorbells | undefined;
}

export interface CreateCq {
  readonly entries: number;
  readonly memory: ArrayBufferLike;
  readonly channel?: number | undefined;
  readonly ignoreOverrun?: boolean | undefined;
}

/** What makes a shared receive queue. */
export interface CreateSrq {
  readonly pd: number;
  readonly maxWr: number;
  readonly maxSge: number;
  readonly limit: number;
  /** A ring of the shape `recvQueueShape(maxWr, maxSge)`. */
  readonly memory: ArrayBufferLike;
  /** Both for one of type XRC, neither otherwise. */
  readonly xrcd?: number | undefined;
  readonly cq?: number | undefined;
}

/** A change of a shared receive queue. */
export interface ModifySrq {
  readonly srqn: number;
  readonly limit?: number | undefined;
  readonly resize?: { readonly memory: ArrayBufferLike; readonly maxWr: number } | undefined;
}

/** What the control verbs have of their NIC beside what every queue pair has. */
export interface ControlCore extends NicCore, CqCore {
  readonly objects: NicObjects;
  readonly random: () => number;
  readonly multicast: MulticastTable;
  /** The doorbell page of queue pairs that are made without one. */
  readonly doorbells: Doorbells | undefined;
  /** Opens the way of Ethernet frames. @throws CommandError where there is none */
  requireFrames(): void;
  /** Ends the QPs of CQs that lost an entry. */
  settleOverruns(): void;
  /** Ends everything: the device is lost. */
  fail(): void;
}

/** The control verbs. Each throws CommandError, and has changed nothing then. */
export class ControlVerbs {
  /** Grows whenever a queue pair is made, changed or ended. */
  qpChanges = 0;
  #nextNumber = 1;
  /** Where the completions of halves that have none would go. */
  readonly #noCq: CompletionQueue;

  constructor(private readonly core: ControlCore) {
    const memory = new ArrayBuffer(completionQueueShape(1).bytes);
    this.#noCq = new CompletionQueue({ cqn: 0, memory, entries: 1, channel: undefined, ignoreOverrun: true }, core);
  }

  allocPd(): number {
    return this.core.memory.allocPd();
  }

  /** EBUSY while something belongs to it. */
  deallocPd(pd: number): void {
    this.core.memory.deallocPd(pd);
  }

  regMr(attributes: MrAttributes): MrKeys {
    return this.core.memory.register(attributes);
  }

  /** The region is closed at once, also to work that is in flight. */
  deregMr(handle: number): void {
    this.core.memory.deregister(handle);
  }

  /** A region of any address whose bytes are 0, and to which nothing can be written. */
  allocNullMr(pd: number): MrKeys {
    return this.core.memory.allocNullMr(pd);
  }

  reregMr(change: ReregMr): MrKeys {
    return this.core.memory.reregister(change);
  }

  allocMw(attributes: AllocMw): MwKeys {
    return this.core.memory.allocMw(attributes);
  }

  deallocMw(handle: number): void {
    this.core.memory.deallocMw(handle);
  }

  createCompChannel(memory: ArrayBufferLike): number {
    const { channels } = this.core.objects;
    channels.requireRoom();
    const handle = this.#nextNumber++;
    channels.add(handle, new CompChannel(handle, memory));
    return handle;
  }

  destroyCompChannel(handle: number): void {
    const { channels } = this.core.objects;
    const { users } = channels.get(handle);
    if (users > 0) throw new CommandError('EBUSY', `${users} CQs still report to the channel`);
    channels.remove(handle);
  }

  createCq({ entries, memory, channel, ignoreOverrun = false }: CreateCq): number {
    const { objects } = this.core;
    this.#checkEntries(entries);
    objects.cqs.requireRoom();
    const target = channel === undefined ? undefined : objects.channels.get(channel);
    const cqn = this.#nextNumber++;
    objects.cqs.add(cqn, new CompletionQueue({ cqn, memory, entries, channel: target, ignoreOverrun }, this.core));
    if (target !== undefined) target.users += 1;
    return cqn;
  }

  resizeCq(cqn: number, memory: ArrayBufferLike, entries: number): void {
    this.#checkEntries(entries);
    this.core.objects.cqs.get(cqn).resize(memory, entries);
  }

  /** Sets how many completions, or how many µs, raise an event that is armed; 0 or 1 completions: each does. */
  modifyCq(cqn: number, cqCount: number, cqPeriodUs: number): void {
    const { core } = this;
    const cq = core.objects.cqs.get(cqn);
    this.#endModeration(cq);
    if (cqCount > 1) {
      const timer = core.timers.take();
      cq.moderation = new EventModeration(cq, cqCount, cqPeriodUs, timer, core.timers, core);
      core.timers.assign(timer, cq.moderation);
    }
  }

  destroyCq(cqn: number): void {
    const { cqs } = this.core.objects;
    const cq = cqs.get(cqn);
    if (cq.users > 0) throw new CommandError('EBUSY', `${cq.users} queues still complete to the CQ`);
    this.#endModeration(cq);
    cqs.remove(cqn);
    if (cq.channel !== undefined) leave(cq.channel);
  }

  openXrcd(): number {
    const { xrcds } = this.core.objects;
    xrcds.requireRoom();
    const handle = this.#nextNumber++;
    xrcds.add(handle, { users: 0 });
    return handle;
  }

  closeXrcd(handle: number): void {
    const { xrcds } = this.core.objects;
    const { users } = xrcds.get(handle);
    if (users > 0) throw new CommandError('EBUSY', `${users} queues are still in the XRC domain`);
    xrcds.remove(handle);
  }

  createSrq(create: CreateSrq): { readonly srqn: number } {
    const { core } = this;
    const { objects, limits } = core;
    const { pd, maxWr, maxSge, limit, memory } = create;
    this.#checkSrqWr(maxWr);
    if (!Number.isInteger(maxSge) || maxSge < 0 || maxSge > limits.maxSrqSge)
      throw new CommandError('EINVAL', `max_sge is ${maxSge}; this device takes 0 to ${limits.maxSrqSge}`);
    if (limit > maxWr) throw new CommandError('EINVAL', `the limit is ${limit}, above max_wr ${maxWr}`);
    if ((create.xrcd === undefined) !== (create.cq === undefined))
      throw new CommandError('EINVAL', 'an XRC shared receive queue needs both a domain and a CQ, another neither');
    objects.srqs.requireRoom();
    const domain = create.xrcd === undefined ? undefined : objects.xrcds.get(create.xrcd);
    const cq = create.cq === undefined ? undefined : objects.cqs.get(create.cq);
    const srqn = objects.srqs.freshNumber(core.random);
    const parts = { srqn, pd, maxWr, maxSge, memory, limit, xrcd: create.xrcd, cq };
    const srq = new SharedReceiveQueue(parts, core.events);
    core.memory.holdPd(pd);
    objects.srqs.add(srqn, srq);
    if (domain !== undefined) domain.users += 1;
    if (cq !== undefined) cq.users += 1;
    return { srqn };
  }

  modifySrq({ srqn, limit, resize }: ModifySrq): void {
    const srq = this.core.objects.srqs.get(srqn);
    if (resize !== undefined) {
      this.#checkSrqWr(resize.maxWr);
      const armed = limit ?? srq.limit;
      if (armed > resize.maxWr) throw new CommandError('EINVAL', `the limit is ${armed}, above max_wr ${resize.maxWr}`);
      srq.resize(resize.memory, resize.maxWr);
    }
    if (limit !== undefined) srq.arm(limit);
  }

  querySrq(srqn: number): { readonly limit: number } {
    return { limit: this.core.objects.srqs.get(srqn).limit };
  }

  destroySrq(srqn: number): void {
    const { core } = this;
    const { objects } = core;
    const srq = objects.srqs.get(srqn);
    if (srq.users > 0) throw new CommandError('EBUSY', `${srq.users} QPs still take from the shared receive queue`);
    srq.destroyed = true;
    objects.srqs.remove(srqn);
    if (srq.xrcd !== undefined) leave(objects.xrcds.get(srq.xrcd));
    if (srq.cq !== undefined) leave(srq.cq);
    core.memory.releasePd(srq.pd);
  }

  createQp(create: CreateQp): { readonly qpn: number } {
    const { core } = this;
    const { objects } = core;
    const { type, cap, sqSigAll, createFlags = 0, doorbells = core.doorbells } = create;
    const transport = transportService(type);
    checkQpCap(cap, core.limits);
    objects.qps.requireRoom();
    const target = type === QpType.XRC_RECV;
    if (type === QpType.RAW_PACKET) core.requireFrames();
    const pd = target ? 0 : required(create.pd, 'a protection domain');
    const xrcd = target ? required(create.xrcd, 'an XRC domain') : 0;
    const domain = target ? objects.xrcds.get(xrcd) : undefined;
    const srq = this.#srqOf(create, transport);
    const sendCq = transport.sendQueue ? objects.cqs.get(required(create.sendCq, 'a send CQ')) : this.#noCq;
    const recvCq = transport.recvQueue ? objects.cqs.get(required(create.recvCq, 'a receive CQ')) : this.#noCq;
    const sqShape = sendQueueShape(cap.maxSendWr, cap.maxSendSge, cap.maxInlineData);
    const rqShape = recvQueueShape(cap.maxRecvWr, cap.maxRecvSge);
    const sq = new WorkQueue(create.sq, sqShape, cap.maxSendSge);
    const rq = new WorkQueue(create.rq, rqShape, cap.maxRecvSge);
    if (!target) core.memory.holdPd(pd);
    const qpn = objects.qps.freshNumber(core.random);
    const timer = core.timers.take();
    const parts = { qpn, type, pd, xrcd, sendCq, recvCq, srq, cap, createFlags, sqSigAll, sq, rq, doorbells };
    const qp = new QueuePair(parts, transport, core, timer);
    core.timers.assign(timer, qp.sending);
    objects.qps.add(qpn, qp);
    this.qpChanges += 1;
    if (type === QpType.RAW_PACKET) objects.rawQps.add(qp);
    sendCq.users += 1;
    recvCq.users += 1;
    if (srq !== undefined) srq.users += 1;
    if (domain !== undefined) domain.users += 1;
    return { qpn };
  }

  /** `cause` is what flushed requests tell of a move to ERR. */
  modifyQp(qpn: number, attr: Partial<QpAttr>, cause: Syndrome = Syndrome.NONE): void {
    const { core } = this;
    const qp = core.objects.qps.get(qpn);
    const { path, mtuBytes } = checkModification(qp, attr, core.port, core.limits);
    qp.modify(attr, path, mtuBytes, cause);
    this.qpChanges += 1;
    core.settleOverruns();
  }

  /** Notes how often the peer of a queue pair repeats a request after RNR NAKs. */
  limitRnrRetries(qpn: number, rnrRetry: number): void {
    this.core.objects.qps.get(qpn).peerRnrRetry = rnrRetry;
  }

  queryQp(qpn: number): QpAttr {
    return this.core.objects.qps.get(qpn).query();
  }

  /**
   * What the NIC knows of a queue pair that helps to explain what its peer met; undefined where there is none of that number. Anybody on
   * the device may ask: it is the peer's program that needs it.
   */
  viewQp(qpn: number): QpView | undefined {
    return this.core.objects.qps.find(qpn)?.view();
  }

  qpCounters(qpn: number): Record<string, number> {
    return this.core.objects.qps.get(qpn).counters();
  }

  destroyQp(qpn: number): void {
    const { core } = this;
    const { objects } = core;
    const qp = objects.qps.get(qpn);
    if (core.multicast.isAttached(qp))
      throw new CommandError('EBUSY', 'the queue pair is still attached to a multicast group');
    objects.qps.remove(qpn);
    this.qpChanges += 1;
    objects.rawQps.delete(qp);
    qp.retire();
    core.memory.unbindAll(qpn);
    core.timers.release(qp.timerId);
    leave(qp.sendCq);
    leave(qp.recvCq);
    if (qp.srq !== undefined) leave(qp.srq);
    if (qp.remoteWrites !== undefined) leave(qp.remoteWrites);
    if (qp.xrcd !== 0) leave(objects.xrcds.get(qp.xrcd));
    if (qp.pd !== 0) core.memory.releasePd(qp.pd);
  }

  createCompCntr(type: CompCntrType, memory: ArrayBufferLike): number {
    const { compCntrs } = this.core.objects;
    compCntrs.requireRoom();
    const handle = this.#nextNumber++;
    compCntrs.add(handle, new CompletionCounter(handle, type, memory));
    return handle;
  }

  destroyCompCntr(handle: number): void {
    const { compCntrs } = this.core.objects;
    const { users } = compCntrs.get(handle);
    if (users > 0) throw new CommandError('EBUSY', `${users} QPs still count there`);
    compCntrs.remove(handle);
  }

  /** Has a counter count what a QP does, until that ends (`man ibv_qp_attach_comp_cntr`). */
  attachCompCntr(qpn: number, handle: number, opMask: number): void {
    const { objects } = this.core;
    const qp = objects.qps.get(qpn);
    const counter = objects.compCntrs.get(handle);
    if (opMask !== QpAttachCompCntrOp.REMOTE_RDMA_WRITE)
      throw new CommandError(
        'EOPNOTSUPP',
        'this device counts WRITEs of the peer (REMOTE_RDMA_WRITE), and nothing else',
      );
    if (!qp.responds || !qp.connected)
      throw new CommandError('EOPNOTSUPP', 'peers write to QPs of the types RC, UC and XRC_RECV alone');
    if (qp.state !== QpState.RESET && qp.state !== QpState.INIT)
      throw new CommandError('EINVAL', `a QP takes a counter in RESET and INIT; it is in ${nameOf(QpState, qp.state)}`);
    if (qp.remoteWrites !== undefined) throw new CommandError('EBUSY', 'the QP has a counter for that already');
    qp.remoteWrites = counter;
    counter.users += 1;
  }

  /** Paces what a QP sends; a rate of 0 lifts the limit (`man ibv_modify_qp_rate_limit`). */
  modifyRateLimit(qpn: number, rateLimitKbps: number, maxBurstBytes: number, typicalPacketBytes: number): void {
    const qp = this.core.objects.qps.get(qpn);
    if (qp.sending.limitRate === undefined)
      throw new CommandError('EOPNOTSUPP', 'the rate of UC, UD and raw packet QPs can be limited, not that of others');
    if (qp.state !== QpState.RTS)
      throw new CommandError(
        'EINVAL',
        `the rate can be limited in RTS; this queue pair is in ${nameOf(QpState, qp.state)}`,
      );
    qp.sending.limitRate(rateLimitKbps, maxBurstBytes, typicalPacketBytes);
    qp.attr = { ...qp.attr, rateLimit: rateLimitKbps };
  }

  createAh(pd: number, attr: AhAttr): number {
    const { memory, addresses, port } = this.core;
    memory.holdPd(pd);
    try {
      return addresses.create(pd, attr, port);
    } catch (error) {
      memory.releasePd(pd);
      throw error;
    }
  }

  destroyAh(handle: number): void {
    const { memory, addresses } = this.core;
    memory.releasePd(addresses.destroy(handle));
  }

  attachMcast(qpn: number, gid: Gid): void {
    this.core.multicast.attach(this.core.objects.qps.get(qpn), gid);
  }

  detachMcast(qpn: number, gid: Gid): void {
    this.core.multicast.detach(this.core.objects.qps.get(qpn), gid);
  }

  detachAllMcast(qpn: number): void {
    this.core.multicast.detachAll(this.core.objects.qps.get(qpn));
  }

  queryPort(): PortStatus {
    const { port, counters } = this.core;
    const { state, gids, pkeys } = port;
    return { state, gids, pkeys, badPkeyCntr: counters.rxBadPkey, qkeyViolCntr: counters.rxBadQkey };
  }

  /** Does to the port what an administrator does, and raises the events that tell of it (protocol/services.md 3.11). */
  administer(change: PortChange): void {
    const { core } = this;
    const { port, events } = core;
    const { linkUp, gids, pkeys, fatal } = change;
    port.check(change);
    if (gids !== undefined && !sameGids(port.gids, gids)) {
      port.gids = gids;
      events.asyncEvent({ type: EventType.GID_CHANGE });
    }
    if (pkeys !== undefined && pkeys.join() !== port.pkeys.join()) {
      port.pkeys = pkeys;
      for (const qp of core.objects.qps.values()) qp.refreshPkey();
      events.asyncEvent({ type: EventType.PKEY_CHANGE });
    }
    if (linkUp !== undefined && linkUp !== port.up) {
      port.up = linkUp;
      if (!linkUp) core.counters.linkDowned += 1;
      events.asyncEvent({ type: linkUp ? EventType.PORT_ACTIVE : EventType.PORT_ERR });
    }
    if (fatal === true) core.fail();
  }

  #srqOf(create: CreateQp, transport: TransportService): SharedReceiveQueue | undefined {
    if (create.srq === undefined) return undefined;
    if (!transport.sharedRecvQueue) throw new CommandError('EINVAL', 'QPs of this type take from no shared queue');
    const srq = this.core.objects.srqs.get(create.srq);
    if (srq.xrcd !== undefined)
      throw new CommandError('EINVAL', 'requests alone choose an XRC shared receive queue; no QP is made with one');
    return srq;
  }

  #endModeration(cq: CompletionQueue): void {
    const { moderation } = cq;
    if (moderation === undefined) return;
    this.core.timers.release(moderation.timerId);
    cq.moderation = undefined;
    moderation.release();
  }

  #checkEntries(entries: number): void {
    const { maxCqe } = this.core.limits;
    if (!Number.isInteger(entries) || entries <= 0 || entries > maxCqe)
      throw new CommandError('EINVAL', `a CQ has 1 to ${maxCqe} entries, not ${entries}`);
  }

  #checkSrqWr(maxWr: number): void {
    const { maxSrqWr } = this.core.limits;
    if (!Number.isInteger(maxWr) || maxWr < 1 || maxWr > maxSrqWr)
      throw new CommandError('EINVAL', `max_wr is ${maxWr}; this device takes 1 to ${maxSrqWr}`);
  }
}

function required(number: number | undefined, what: string): number {
  if (number === undefined) throw new CommandError('EINVAL', `the queue pair needs ${what}`);
  return number;
}

function sameGids(a: readonly (Gid | undefined)[], b: readonly (Gid | undefined)[]): boolean {
  return a.length === b.length && a.every((gid, i) => gid?.toString() === b[i]?.toString());
}
