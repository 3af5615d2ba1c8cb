import type { Mutant } from '../mutant.js';

/** What protocols above the verbs lean on. */
const source = 'docs/internals/protocols.md';

export const layers: readonly Mutant[] = [
  {
    name: 'engine-reuses-numbers',
    rule: 'the numbers of a queue pair that has ended are of nobody else while its completions may lie in the queue',
    source,
    in: 'Ledger.tidy',
    from: 'if (!isEmpty && this.#taken - taken < this.room.entries) return;',
    to: '',
    games: ['tests'],
  },
  {
    name: 'engine-forgets-unsignaled',
    rule: 'unsignaled requests before one that has completed are done, and their owner is told',
    source: 'IBTA 9.9.1',
    in: 'Ledger.#settleEarlier',
    from: 'handler.onDone(cookie);',
    to: '',
    games: ['tests', 'ucp-sim'],
  },
  {
    name: 'engine-sleeps-unarmed',
    rule: 'whoever sleeps has asked for an event before',
    source,
    in: 'LoopProgress.#advance',
    from: 'moved.cq.reqNotify();',
    to: '',
    games: ['tests'],
  },
  {
    name: 'credits-told-late',
    rule: 'credit is told before the sender has used all that it may',
    source,
    in: 'ReceiveCredits.isDue',
    from: 'return 2 * ((this.#limit - this.#told) & MASK) >= this.#window;',
    to: 'return ((this.#limit - this.#told) & MASK) >= this.#window;',
    games: ['tests'],
  },
  {
    name: 'credits-without-reserve',
    rule: 'data leaves a credit for what tells the other side of credit',
    source,
    in: 'SendCredits.available',
    from: 'Math.max(0, this.#left - this.reserved)',
    to: 'this.#left',
    games: ['tests'],
  },
  {
    name: 'credits-believe-anything',
    rule: 'no peer can grant more than there can be',
    source,
    in: 'SendCredits.grant',
    from: 'more + this.#left > this.most',
    to: 'more > MAX_WINDOW',
    games: ['tests'],
  },
  {
    name: 'registration-stays',
    rule: 'memory that was given up is not touched',
    source,
    in: 'Region.redirect',
    from: 'mr.rereg({ memory: elsewhere, iova: iova - BigInt(skip) });',
    to: '',
    games: ['tests'],
  },
  {
    name: 'pool-forgets-who-waits',
    rule: 'whoever waits for a buffer has it before who comes later',
    source,
    in: 'BufferPool.tryLease',
    from: 'if (fit < 0 || (this.#waiting.length > 0 && this.#isAwaited(fit))) return undefined;',
    to: 'if (fit < 0) return undefined;',
    games: ['tests'],
  },
];
