import assert from 'node:assert/strict';
import { Mtu, WcStatus } from '../../ibta/index.js';
import type { LinkConditions, SimulatedLinkOptions } from '../../link/simulated/index.js';
import type { HostOptions, TestHost } from './host.js';
import type { TestQp } from './qp.js';
import { World } from './world.js';

/** Bytes in a us of the way that all share. */
export const RATE = 200;
/** Bytes of a message: READs and large WRITEs are long, so that what limits them is the window. */
const MESSAGE = { write: 16 * 1024, writeLarge: 512 * 1024, read: 128 * 1024 };
const OUTSTANDING = 4;
export const KIB = 1024;

export interface Flow {
  /** Where the bytes come from. */
  readonly host: TestHost;
  readonly qp: TestQp;
  readonly post: () => void;
  under: number;
  done: number;
}

/** Senders that never have enough, and one receiver: they write to it, or it reads from them. */
export class Crowd extends World {
  readonly receiver: TestHost;
  readonly flows: Flow[];
  readonly #messageBytes: number;

  /** @param sink what senders send into, around their links' own */
  constructor(
    senders: number,
    link: SimulatedLinkOptions,
    conditions: Partial<LinkConditions> = {},
    operation: keyof typeof MESSAGE = 'write',
    sink?: HostOptions['sink'],
  ) {
    super({ capture: false, conditions });
    this.receiver = this.host('10.0.0.1', { link });
    this.#messageBytes = MESSAGE[operation];
    const target = this.receiver.mr(this.#messageBytes);
    this.flows = Array.from({ length: senders }, (_, i) => {
      const host = this.host(`10.0.1.${i + 1}`, sink && { sink });
      const qp = host.qp();
      const peer = this.receiver.qp();
      qp.toRts(peer.peer, { pathMtu: Mtu.MTU_1024 });
      peer.toRts(qp.peer, { pathMtu: Mtu.MTU_1024 });
      const source = host.mr(this.#messageBytes);
      const moved =
        operation === 'read'
          ? { qp: peer, post: () => peer.read(target, source) }
          : { qp, post: () => qp.write(source, target) };
      return { host, ...moved, under: 0, done: 0 };
    });
  }

  /** Lets the senders send for so long. @returns bytes of each that were acknowledged */
  flow(us: number): number[] {
    const before = this.flows.map(({ done }) => done);
    const end = this.nowUs + us;
    this.#refill();
    this.drive({ untilUs: end, until: () => this.#refill() });
    return this.flows.map(({ done }, i) => (done - before[i]) * this.#messageBytes);
  }

  #refill(): false {
    for (const flow of this.flows) {
      for (const { status } of flow.qp.sent()) {
        assert.equal(status, WcStatus.SUCCESS);
        flow.under -= 1;
        flow.done += 1;
      }
      for (; flow.under < OUTSTANDING; flow.under += 1) flow.post();
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
