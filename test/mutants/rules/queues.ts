import type { Mutant } from '../mutant.js';

const CQ = 'src/nic/queues/completion-queue.ts';
const SRQ = 'src/nic/queues/shared-receive-queue.ts';
const BUFFER = 'src/nic/queues/receive-buffer.ts';

/** What becomes of requests that are posted: work, shared receive and completion queues (PROTOCOL.md 2.9, 3.3, 3.4, 3.8). */
export const queues: readonly Mutant[] = [
  {
    name: 'flush-sends',
    rule: 'in ERR all send requests complete as flushed',
    source: 'PROTOCOL.md 2.9; IBTA 10.3.1',
    file: 'src/nic/reliable/completer.ts',
    from: 'while (qp.sq.has(qp.sq.head)) this.#completeOldest(flushStatus(cause), Syndrome.FLUSHED, this.core.detail);',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'flush-receives',
    rule: 'in ERR all receive requests of a queue pair complete as flushed',
    source: 'PROTOCOL.md 2.9; IBTA 10.3.1',
    file: BUFFER,
    from: 'while (this.take()) this.#flushTaken();',
    to: 'if (this.take()) this.#flushTaken();',
    games: ['traffic', 'walk'],
  },
  {
    name: 'flush-shared',
    rule: 'a shared receive queue is not flushed with one of its queue pairs',
    source: 'PROTOCOL.md 3.4',
    file: BUFFER,
    from: `if (this.#srq === undefined) {
      this.taken = false;`,
    to: 'if (true) {',
    games: ['traffic', 'walk'],
  },
  {
    name: 'last-wqe',
    rule: 'a queue pair in ERR says that it takes no more of its shared receive queue',
    source: 'PROTOCOL.md 3.4; IBTA 11.6.3',
    file: 'src/nic/queue-pair.ts',
    from: 'if (this.srq !== undefined) this.raise(EventType.QP_LAST_WQE_REACHED);',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'srq-limit',
    rule: 'a shared receive queue that falls below its limit says so',
    source: 'PROTOCOL.md 3.4',
    file: SRQ,
    from: 'this.events.asyncEvent({ type: EventType.SRQ_LIMIT_REACHED, srqn: this.srqn });',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'srq-limit-early',
    rule: 'a shared receive queue says that it fell below its limit, not that it reached it',
    source: 'PROTOCOL.md 3.4',
    file: SRQ,
    from: 'queue.count < this.limit',
    to: 'queue.count <= this.limit',
    games: ['traffic', 'walk'],
  },
  {
    name: 'srq-order',
    rule: 'a shared receive queue gives its requests in the order in which they were posted, and each once',
    source: 'PROTOCOL.md 3.4',
    file: SRQ,
    from: 'queue.retire((queue.head + 1) | 0);',
    to: 'queue.retire((queue.head + (queue.count > 1 ? 2 : 1)) | 0);',
    games: ['traffic', 'walk'],
  },
  {
    name: 'xrc-domain',
    rule: 'a request names a shared receive queue of the domain of the target queue pair',
    source: 'PROTOCOL.md 3.3',
    file: 'src/nic/nic.ts',
    from: 'return srq?.xrcd === xrcd ? srq : undefined;',
    to: 'return srq;',
    games: ['traffic', 'walk'],
  },
  {
    name: 'xrc-named',
    rule: 'a request goes to the shared receive queue that it names',
    source: 'PROTOCOL.md 3.3',
    file: BUFFER,
    from: 'if (chosen?.srqn === srqn && !chosen.destroyed)',
    to: 'if (chosen?.destroyed === false)',
    games: ['traffic', 'walk'],
  },
  {
    name: 'cq-event',
    rule: 'a completion queue that is armed raises an event',
    source: 'PROTOCOL.md 3.8',
    file: CQ,
    from: `Atomics.store(this.#words, Header.ARM, CqArm.NONE);
    channel.post(this.cqn);`,
    to: 'Atomics.store(this.#words, Header.ARM, CqArm.NONE);',
    games: ['traffic', 'walk'],
  },
  {
    name: 'cq-event-once',
    rule: 'a completion queue raises one event each time it is armed',
    source: 'PROTOCOL.md 3.8',
    file: CQ,
    from: 'Atomics.store(this.#words, Header.ARM, CqArm.NONE);',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'slots-back',
    rule: 'the slot of a request that has completed is given back',
    source: 'PROTOCOL.md 3.8',
    file: 'src/nic/reliable/completer.ts',
    from: `this.#completeOldest(WcStatus.SUCCESS, Syndrome.NONE, undefined);
    sq.publish();`,
    to: 'this.#completeOldest(WcStatus.SUCCESS, Syndrome.NONE, undefined);',
    games: ['traffic', 'walk'],
  },
];
