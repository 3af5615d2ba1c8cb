import type { Mutant } from '../mutant.js';

/** What becomes of requests that are posted: work, shared receive and completion queues (protocol/reliable.md 2.9, protocol/services.md 3.3, 3.4, 3.8). */
export const queues: readonly Mutant[] = [
  {
    name: 'flush-sends',
    rule: 'in ERR all send requests complete as flushed',
    source: 'protocol/reliable.md 2.9; IBTA 10.3.1',
    in: 'Completer.flush',
    from: 'this.#completeOldest(flushStatus(cause), Syndrome.FLUSHED, detail);',
    to: ';',
    games: ['traffic', 'walk'],
  },
  {
    name: 'flush-receives',
    rule: 'in ERR all receive requests of a queue pair complete as flushed',
    source: 'protocol/reliable.md 2.9; IBTA 10.3.1',
    in: 'ReceiveBuffer.flush',
    from: 'for (let left = this.qp.rq.count; left > 0 && this.take(); left -= 1) this.#flushTaken();',
    to: 'if (this.take()) this.#flushTaken();',
    games: ['traffic', 'walk'],
  },
  {
    name: 'failed-then-state',
    rule: 'a queue pair is in ERR when the completion of the request that failed is seen',
    source: 'protocol/reliable.md 2.10',
    in: 'QueuePair.enterError',
    from: `this.#stop(QpState.ERR, cause);
    this.#stopCopies();
    completeFailed?.();`,
    to: `completeFailed?.();
    this.#stop(QpState.ERR, cause);
    this.#stopCopies();`,
    games: ['tests'],
  },
  {
    name: 'failed-then-sqe',
    rule: 'a send queue is in SQE when the completion of the request that failed is seen',
    source: 'protocol/reliable.md 2.10',
    in: 'QueuePair.enterSendQueueError',
    from: `this.#stop(QpState.SQE, cause);
    this.copies?.sending.drop();
    completeFailed();`,
    to: `completeFailed();
    this.#stop(QpState.SQE, cause);
    this.copies?.sending.drop();`,
    games: ['tests'],
  },
  {
    name: 'flush-shared',
    rule: 'a shared receive queue is not flushed with one of its queue pairs',
    source: 'protocol/services.md 3.4',
    in: 'ReceiveBuffer.flush',
    from: `if (this.#srq === undefined) {
      this.taken = false;
      for (let left = this.qp.rq.count; left > 0 && this.take(); left -= 1)`,
    to: `if (true) {
      while (this.take())`,
    games: ['traffic', 'walk'],
  },
  {
    name: 'taken-back',
    rule: 'what a driver has published it cannot take back',
    source: 'docs/internals/host-interface.md',
    in: 'WorkQueue.has',
    from: 'if (((known - index) | 0) <= 0) return false;',
    to: 'if (known === index) return false;',
    games: ['tests'],
  },
  {
    name: 'last-wqe',
    rule: 'a queue pair in ERR says that it takes no more of its shared receive queue',
    source: 'protocol/services.md 3.4; IBTA 11.6.3',
    in: 'QueuePair.enterError',
    from: 'if (this.srq !== undefined) this.raise(EventType.QP_LAST_WQE_REACHED);',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'srq-limit',
    rule: 'a shared receive queue that falls below its limit says so',
    source: 'protocol/services.md 3.4',
    in: 'SharedReceiveQueue.take',
    from: 'this.events.asyncEvent({ type: EventType.SRQ_LIMIT_REACHED, srqn: this.srqn });',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'srq-limit-early',
    rule: 'a shared receive queue says that it fell below its limit, not that it reached it',
    source: 'protocol/services.md 3.4',
    in: 'SharedReceiveQueue.take',
    from: 'queue.count < this.limit',
    to: 'queue.count <= this.limit',
    games: ['traffic', 'walk'],
  },
  {
    name: 'srq-order',
    rule: 'a shared receive queue gives its requests in the order in which they were posted, and each once',
    source: 'protocol/services.md 3.4',
    in: 'SharedReceiveQueue.take',
    from: 'queue.retire((queue.head + 1) | 0);',
    to: 'queue.retire((queue.head + (queue.count > 1 ? 2 : 1)) | 0);',
    games: ['traffic', 'walk'],
  },
  {
    name: 'xrc-domain',
    rule: 'a request names a shared receive queue of the domain of the target queue pair',
    source: 'protocol/services.md 3.3',
    in: 'Nic.xrcSrq',
    from: 'return srq?.xrcd === xrcd ? srq : undefined;',
    to: 'return srq;',
    games: ['traffic', 'walk'],
  },
  {
    name: 'xrc-named',
    rule: 'a request goes to the shared receive queue that it names',
    source: 'protocol/services.md 3.3',
    in: 'ReceiveBuffer.choose',
    from: 'if (chosen?.srqn === srqn && !chosen.destroyed)',
    to: 'if (chosen?.destroyed === false)',
    games: ['traffic', 'walk'],
  },
  {
    name: 'cq-event',
    rule: 'a completion queue that is armed raises an event',
    source: 'protocol/services.md 3.8',
    in: 'CompletionQueue.#announce',
    from: `Atomics.store(this.#words, Header.ARM, CqArm.NONE);
    channel.post(this.cqn);`,
    to: 'Atomics.store(this.#words, Header.ARM, CqArm.NONE);',
    games: ['traffic', 'walk'],
  },
  {
    name: 'cq-event-once',
    rule: 'a completion queue raises one event each time it is armed',
    source: 'protocol/services.md 3.8',
    in: 'CompletionQueue.#announce',
    from: 'Atomics.store(this.#words, Header.ARM, CqArm.NONE);',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'cq-solicited-only',
    rule: 'a completion queue that is armed for solicited completions raises no event for others',
    source: 'protocol/services.md 3.8',
    in: 'CompletionQueue.#announce',
    from: '(arm === CqArm.SOLICITED && !solicited)',
    to: 'false',
    games: ['walk'],
  },
  {
    name: 'cq-solicited-error',
    rule: 'a completion queue that is armed for solicited completions raises an event for failures as well',
    source: 'protocol/reliable.md 2.10',
    in: 'CompletionQueue.push',
    from: 'solicited || status !== WcStatus.SUCCESS',
    to: 'solicited',
    games: ['walk'],
  },
  {
    name: 'slots-back',
    rule: 'the slot of a request that has completed is given back',
    source: 'protocol/services.md 3.8',
    in: 'Completer.#completeAcknowledged',
    from: `this.#completeOldest(WcStatus.SUCCESS, Syndrome.NONE, undefined);
    sq.publish();`,
    to: 'this.#completeOldest(WcStatus.SUCCESS, Syndrome.NONE, undefined);',
    games: ['traffic', 'walk'],
  },
  {
    name: 'counts-every-packet',
    rule: 'a completion counter counts a WRITE when its last packet was placed',
    source: 'man ibv_qp_attach_comp_cntr',
    in: 'Responder.#onWrite',
    from: 'if (ends) this.qp.remoteWrites?.completed(this.#dmaLength);',
    to: 'this.qp.remoteWrites?.completed(this.#dmaLength);',
    games: ['tests'],
  },
  {
    name: 'broken-off-uncounted',
    rule: 'a WRITE that was broken off counts as an error',
    source: 'man ibv_create_comp_cntr',
    in: 'Responder.flush',
    from: 'if (this.#unfinished === Unfinished.WRITE) this.qp.remoteWrites?.failed();',
    to: '',
    games: ['tests'],
  },
];
