import { nameOf, WcStatus, type WorkCompletion } from '../../src/entry/index.js';
import { check } from '../sim/failure.js';
import { Completions, type Solicited } from './completions.js';
import type { CqRecord, HostRecord } from './things.js';
import type { World } from './world.js';

interface Reading {
  readonly called: Solicited | undefined;
  readonly mixed: boolean;
}

/** Of a queue that was overrun nothing more is read, and what is in it stays unread. */
const MAX_PASSES = 4;

/** Asks for an event, as the program of a CQ is used to. What is in the CQ by now raises none. */
export function arm(cq: CqRecord, onlySolicited = cq.onlySolicited): void {
  cq.api.reqNotify(onlySolicited);
  // Armed both ways, any completion raises it.
  if (cq.armed !== 'any') cq.armed = onlySolicited ? 'solicited' : 'any';
  cq.called = 'no';
}

/** Reads completion queues, and holds the events that announce completions against what was asked for (protocol/services.md 3.8). */
export class Notices {
  readonly #completions: Completions;

  constructor(private readonly world: World) {
    this.#completions = new Completions(world);
  }

  /** Reads the queues that have raised an event: one for each time that they were armed. @returns whether there was anything */
  wake(host: HostRecord): boolean {
    let any = false;
    for (let found = host.channel.tryGetCqEvent(); found !== undefined; found = host.channel.tryGetCqEvent()) {
      const api = found;
      const cq = host.cqs.find((record) => record.api === api);
      api.ackEvents(1);
      if (cq === undefined) continue;
      const { armed, called } = cq;
      check(armed !== 'no', () => `CQ ${cq.id} of ${host.address} raised an event that nobody had asked for`);
      cq.armed = 'no';
      arm(cq);
      const now = this.#read(host, cq, armed, called !== 'no');
      any ||= now.called !== undefined;
      cq.fresh = !now.mixed;
      // Of what came while it was read some may be newer than that.
      if (now.mixed) cq.called = 'maybe';
      check(
        called !== 'no' || (now.called !== undefined && now.called !== 'no'),
        () => `CQ ${cq.id} of ${host.address}, armed for ${armed} completions, raised an event for none of those`,
      );
    }
    this.#completions.order.check(host);
    return any;
  }

  /** Reads all queues until nothing is left in them. Time may pass. */
  drain(host: HostRecord): void {
    this.wake(host);
    if (!host.cqs.some(({ onlySolicited, dead }) => onlySolicited && !dead)) return;
    for (let passes = 0; passes < MAX_PASSES && this.#unread(host) > 0; passes += 1) {
      this.world.events(host);
      for (const cq of [...host.cqs])
        if (cq.onlySolicited && !cq.dead && this.#unread(host) > 0) this.#glance(host, cq);
    }
    this.#completions.order.check(host);
  }

  /** Completions that the NIC has written and nobody has read: an empty queue that is asked lets time pass. */
  #unread(host: HostRecord): number {
    return host.context.counters()['completions'] - host.polled.all;
  }

  /** Reads a queue that has raised no event. */
  #glance(host: HostRecord, cq: CqRecord): void {
    const { armed, fresh } = cq;
    const { called } = this.#read(host, cq, armed, true);
    if (called !== undefined && called !== 'no') cq.called = fresh ? called : 'maybe';
    this.wake(host);
    check(
      cq.called !== 'yes' || cq.dead,
      () => `CQ ${cq.id} of ${host.address} was armed for ${armed} completions, got one and raised no event`,
    );
  }

  /**
   * @param mayBeEmpty only a queue that has nothing lets time pass when it is asked
   * @returns whether one of the completions there deserves an event that was armed so, undefined when there is none; and
   *   whether some may have come while they were read
   */
  #read(host: HostRecord, cq: CqRecord, armed: CqRecord['armed'], mayBeEmpty: boolean): Reading {
    const { world } = this;
    const { api } = cq;
    if (!api.startPoll()) {
      world.observe();
      return { called: undefined, mixed: mayBeEmpty };
    }
    const completions: WorkCompletion[] = [api.workCompletion()];
    while (api.nextPoll()) completions.push(api.workCompletion());
    api.endPoll();
    // Where a failed request went is asked of the NIC, which goes on meanwhile.
    const mixed = mayBeEmpty || completions.some(({ status }) => status !== WcStatus.SUCCESS);
    if (mixed) world.observe();
    let called: Solicited = 'no';
    for (const wc of completions) {
      world.trace?.(
        `  ${world.nowUs.toFixed(1)} us: ${host.address} polls ${String(wc.wrId)}, ${nameOf(WcStatus, wc.status)}, QP ${wc.qpNum}`,
      );
      host.polled.add(wc);
      const solicited = this.#completions.take(host, cq, wc);
      const deserves = armed === 'any' ? 'yes' : solicited;
      if (deserves !== 'no' && called !== 'yes') called = deserves;
    }
    return { called, mixed };
  }
}
