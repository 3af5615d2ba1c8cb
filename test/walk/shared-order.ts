import { nameOf, WcStatus } from '../../src/entry/index.js';
import { check } from '../sim/failure.js';
import type { CqRecord, HostRecord, QpRecord, RecvRecord, SrqRecord } from './things.js';

/** A request that completed while older ones of its queue were outstanding, more than QPs can be busy with. */
interface Overtaking {
  readonly srq: SrqRecord;
  readonly cq: CqRecord;
  readonly elders: readonly RecvRecord[];
  readonly what: string;
}

/**
 * Holds the order in which requests of shared queues complete against that in which they are taken, which is that in which
 * they were posted (protocol/services.md 3.4). Each QP completes what it takes in that order. Of several, each may be slow with one,
 * or never give it back. And those that complete in other CQs may be read later, since no order holds between queues
 * (protocol/reliable.md 2.9): whether they completed is known when all there is has been read.
 */
export class SharedOrder {
  #overtakings: Overtaking[] = [];
  /** The last request that each QP completed, of each queue: of XRC a target takes from several. */
  readonly #last = new Map<QpRecord, Map<SrqRecord, number>>();

  /** Notes a completion; `qp` is who took the request. */
  take(qp: QpRecord, srq: SrqRecord, cq: CqRecord, recv: RecvRecord, status: WcStatus): void {
    const { wrId } = recv;
    if (status !== WcStatus.SUCCESS) {
      // In ERR a QP gives back the one that it was busy with, if any, and takes no more (protocol/reliable.md 2.9, protocol/services.md 3.4).
      const former = qp.life.failedShared;
      check(
        former === 0,
        () => `receive request ${wrId} of ${qp.name} ended in ${nameOf(WcStatus, status)}, as ${former} had before`,
      );
      qp.life.failedShared = wrId;
    }
    const elders = srq.recvs.slice(0, srq.recvs.indexOf(recv));
    recv.readFrom = cq;
    const last = this.#last.get(qp) ?? new Map<SrqRecord, number>();
    this.#last.set(qp, last);
    const former = last.get(srq) ?? 0;
    check(wrId > former, () => `receive request ${wrId} of ${qp.name} completed after ${former}, which it took later`);
    last.set(srq, wrId);
    if (elders.length <= srq.lives) return;
    this.#overtakings.push({ srq, cq, elders, what: `receive request ${wrId} of ${qp.name}` });
  }

  /** To be called when all completions of a host were read, as often as one likes. */
  check(host: HostRecord): void {
    const here = this.#overtakings.filter(({ srq }) => srq.host === host);
    if (here.length === 0) return;
    // Of what completed in a queue that was overrun nobody hears.
    const deaf = host.cqs.some(({ dead }) => dead);
    if (!deaf && host.context.counters()['completions'] > host.polled.all) return;
    this.#overtakings = this.#overtakings.filter(({ srq }) => srq.host !== host);
    for (const { srq, cq, elders, what } of deaf ? [] : here) {
      const late = elders.filter(({ readFrom }) => readFrom === undefined || readFrom === cq).length;
      check(late <= srq.lives, () => `${what} completed before ${late} older ones`);
    }
  }
}
