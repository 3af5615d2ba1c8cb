import type { Mutant } from '../mutant.js';

/** Rules of the gateway for clients of Redis. */
const SOURCE = 'docs/guide/kv.md, Redis clients';

export const kvGateway: readonly Mutant[] = [
  {
    name: 'kv-gateway-keys-for-nothing',
    rule: 'a command with many keys counts for as many commands',
    source: SOURCE,
    in: 'Session.#begin',
    from: 'weight: Math.max(1, keys.length)',
    to: 'weight: 1',
    games: ['kv'],
  },
  {
    name: 'kv-gateway-endless-memory',
    rule: 'what is kept for all clients together has a bound',
    source: SOURCE,
    in: 'ClientMemory.keeps',
    from: 'while (this.#total > this.mostBytes) {',
    to: 'while (this.#total > Infinity) {',
    games: ['kv'],
  },
  {
    name: 'kv-gateway-any-client-goes',
    rule: 'the client for which most is kept has to go',
    source: SOURCE,
    in: 'ClientMemory.#largest',
    from: 'if (bytes > most) {',
    to: 'if (found === undefined) {',
    games: ['kv'],
  },
  {
    name: 'kv-gateway-answers-uncounted',
    rule: 'answers that wait for those before them are counted',
    source: SOURCE,
    in: 'Session.#answer',
    from: 'if (!this.#isClosed) this.#answeredBytes += replyBytes(reply);',
    to: 'if (this.#isClosed) this.#answeredBytes += replyBytes(reply);',
    games: ['kv'],
  },
  {
    name: 'kv-gateway-first-value',
    rule: 'of a key that MSET names twice the last value is set, and no other',
    source: 'Redis, MSET',
    in: 'setAll',
    from: 'last.set(textOf(pairs[at]), at);',
    to: 'last.set(`${textOf(pairs[at])}${at}`, at);',
    games: ['kv'],
  },
];
