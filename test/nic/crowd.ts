import assert from 'node:assert/strict';
import type { LinkConditions, SimulatedLinkOptions } from '../../src/link/simulated.js';
import { Mtu, WcStatus } from '../../src/spec/index.js';
import type { TestHost, TestMr } from './host.js';
import type { TestQp } from './qp.js';
import { World } from './world.js';

/** Bytes in a us of the way that all share. */
export const RATE = 200;
const MESSAGE = 16 * 1024;
const OUTSTANDING = 4;
export const KIB = 1024;

export interface Flow {
  readonly host: TestHost;
  readonly qp: TestQp;
  readonly source: TestMr;
  under: number;
  done: number;
}

/** Senders that never have enough, and one receiver. */
export class Crowd extends World {
  readonly receiver: TestHost;
  readonly flows: Flow[];
  readonly #target: TestMr;

  constructor(senders: number, link: SimulatedLinkOptions, conditions: Partial<LinkConditions> = {}) {
    super({ capture: false, conditions });
    this.receiver = this.host('10.0.0.1', { link });
    this.#target = this.receiver.mr(MESSAGE);
    this.flows = Array.from({ length: senders }, (_, i) => {
      const host = this.host(`10.0.1.${i + 1}`);
      const qp = host.qp();
      const peer = this.receiver.qp();
      qp.toRts(peer.peer, { pathMtu: Mtu.MTU_1024 });
      peer.toRts(qp.peer, { pathMtu: Mtu.MTU_1024 });
      return { host, qp, source: host.mr(MESSAGE), under: 0, done: 0 };
    });
  }

  /** Lets the senders send for so long. @returns bytes of each that were acknowledged */
  flow(us: number): number[] {
    const before = this.flows.map(({ done }) => done);
    const end = this.nowUs + us;
    this.#refill();
    this.drive({ untilUs: end, until: () => this.#refill() });
    return this.flows.map(({ done }, i) => (done - before[i]) * MESSAGE);
  }

  #refill(): false {
    for (const flow of this.flows) {
      for (const { status } of flow.qp.sent()) {
        assert.equal(status, WcStatus.SUCCESS);
        flow.under -= 1;
        flow.done += 1;
      }
      for (; flow.under < OUTSTANDING; flow.under += 1) flow.qp.write(flow.source, this.#target);
    }
    return false;
  }

  get dropped(): number {
    const { queueDropped, inboxDropped } = this.network.counts;
    return queueDropped + inboxDropped;
  }
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** A last hop with a queue like that of a socket. */
export const port = { bandwidthBytesPerUs: RATE, queueLimitBytes: 400 * KIB, markAboveBytes: 60 * KIB };
