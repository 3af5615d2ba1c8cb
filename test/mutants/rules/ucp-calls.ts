import type { Mutant } from '../mutant.js';

/** Rules of UCP's calls on memory, of its active messages and of its streams. */
const GIVEN_UP = 'docs/protocol.md 9.2';
const UCP = 'src/layers/ucp';

export const ucpCalls: readonly Mutant[] = [
  {
    name: 'ucp-no-fence',
    rule: 'nothing behind a fence begins before all is done that is before it',
    source: 'UCX, ucp_worker_fence',
    file: `${UCP}/rma/fences.ts`,
    from: 'return this.waiting === 0;',
    to: 'return true;',
    games: ['ucp-sim'],
  },
  {
    name: 'ucp-get-copied-after-abort',
    rule: 'a get that was aborted copies nothing into its buffer',
    source: GIVEN_UP,
    file: `${UCP}/rma/get.ts`,
    from: 'if (!this.isSettled) this.buffer.set(bytes, offset);',
    to: 'this.buffer.set(bytes, offset);',
    games: ['ucp'],
  },
  {
    name: 'ucp-get-read-after-abort',
    rule: 'what is read for a get that was aborted goes to other memory',
    source: GIVEN_UP,
    file: `${UCP}/rma/get.ts`,
    from: 'this.lent?.redirect();',
    to: '',
    games: ['ucp'],
  },
  {
    name: 'ucp-get-answered-after-abort',
    rule: 'what answers a get that was aborted is not copied into its buffer',
    source: GIVEN_UP,
    file: `${UCP}/rma/get.ts`,
    from: 'if (!this.isSettled) buffer.set(payload, this.#receivedBytes);',
    to: 'buffer.set(payload, this.#receivedBytes);',
    games: ['ucp'],
  },
  {
    name: 'ucp-am-rest-not-copied',
    rule: 'an active message that was given up in the midst goes on from a copy',
    source: GIVEN_UP,
    file: `${UCP}/am/am-send.ts`,
    from: 'this.#data = this.#data.slice(this.#sentBytes - this.#from);',
    to: 'this.#data = this.#data.subarray(this.#sentBytes - this.#from);',
    games: ['ucp'],
  },
  {
    name: 'ucp-stream-lost-by-cancel',
    rule: 'what has come for a receive of a stream that was given up is for the next',
    source: GIVEN_UP,
    file: `${UCP}/stream/stream-queue.ts`,
    from: 'this.#wanted.splice(at, 1);\n    this.#giveBack(wanted);',
    to: 'this.#wanted.splice(at, 1);',
    games: ['ucp'],
  },
  {
    name: 'ucp-answers-without-limit',
    rule: 'a peer is owed no more answers than were agreed on',
    source: 'docs/protocol.md 9.4',
    file: `${UCP}/rma/responder.ts`,
    from: 'if (this.#owed === MOST_UNANSWERED) {',
    to: 'if (this.#owed < 0) {',
    games: ['ucp'],
  },
];
