import type { Mutant } from '../mutant.js';

const WRITE_BEHIND = 'src/device/nic/memory/copying/write-behind.ts';
const READ_AHEAD = 'src/device/nic/memory/copying/read-ahead.ts';
const REGION = 'src/device/nic/memory/memory-region.ts';
const QUEUE_PAIR = 'src/device/nic/queue-pairs/queue-pair.ts';
const SOURCE = 'ARCHITECTURE.md, What a region lies in is an interface';

/** Memory that is reached by copies. */
export const foreignMemory: readonly Mutant[] = [
  {
    name: 'foreign-settled',
    rule: 'nobody is told of a message before all of it is in memory',
    source: SOURCE,
    file: WRITE_BEHIND,
    from: `    this.#write();
    if (this.#copy !== undefined) {`,
    to: `    this.#write();
    if (this.#copy !== undefined && this.#run > 99) {`,
    games: ['tests', 'traffic'],
  },
  {
    name: 'foreign-stored-once',
    rule: 'what a packet that comes again has brought is not gathered again',
    source: SOURCE,
    file: WRITE_BEHIND,
    from: 'if (this.#stored) return;',
    to: '',
    games: ['tests', 'traffic'],
  },
  {
    name: 'foreign-behind',
    rule: 'what comes behind a packet that waits for memory waits as well',
    source: SOURCE,
    file: QUEUE_PAIR,
    from: 'if (this.copies?.requests.waiting !== true) {',
    to: '{',
    games: ['tests', 'traffic'],
  },
  {
    name: 'foreign-behind-answer',
    rule: 'what comes behind an answer that waits for memory waits as well',
    source: SOURCE,
    file: QUEUE_PAIR,
    from: 'if (this.copies?.responses.waiting !== true) this.sending',
    to: 'this.sending',
    games: ['traffic', 'tests'],
  },
  {
    name: 'foreign-write-fault',
    rule: 'a message of which a byte could not be written has failed',
    source: SOURCE,
    file: WRITE_BEHIND,
    from: 'if (copiedBytes === lengthBytes) {',
    to: 'if (copiedBytes <= lengthBytes) {',
    games: ['tests', 'traffic'],
  },
  {
    name: 'foreign-write-order',
    rule: 'behind a byte that is not there nothing of the message is written',
    source: SOURCE,
    file: WRITE_BEHIND,
    from: 'if (!this.#account(copied)) return;',
    to: 'if (!this.#account(copied)) this.#run += 1;',
    games: ['tests', 'traffic'],
  },
  {
    name: 'foreign-read-fault',
    rule: 'a packet of which a byte could not be read is not sent',
    source: SOURCE,
    file: READ_AHEAD,
    from: `    this.#read = this.#from + this.#filled;
    if (copiedBytes === lengthBytes)`,
    to: `    this.#read = this.#from + this.#filled + lengthBytes - copiedBytes;
    if (copiedBytes <= lengthBytes)`,
    games: ['tests', 'traffic'],
  },
  {
    name: 'foreign-read-turn',
    rule: 'what was read ahead is of no use in the next turn',
    source: SOURCE,
    file: READ_AHEAD,
    from: 'if (this.#copy === undefined) this.drop();',
    to: '',
    games: ['tests'],
  },
  {
    name: 'foreign-read-message',
    rule: 'what was read for one message is not sent in another',
    source: SOURCE,
    file: READ_AHEAD,
    from: 'message !== this.#message ||',
    to: '',
    games: ['tests', 'traffic'],
  },
  {
    name: 'foreign-closed-key',
    rule: 'a key that is closed ends the copies that are made by it',
    source: SOURCE,
    file: REGION,
    from: 'if (copy.permission === grant) copy.fail();',
    to: 'if (copy.permission === undefined) copy.fail();',
    games: ['tests'],
  },
  {
    name: 'foreign-closed-region',
    rule: 'a region that ends or changes ends its copies',
    source: SOURCE,
    file: REGION,
    from: 'for (const copy of [...this.copies]) copy.fail();\n  }\n\n  #forgetViews',
    to: '}\n\n  #forgetViews',
    games: ['tests'],
  },
  {
    name: 'foreign-ended-pair',
    rule: 'the copies of a queue pair end with it',
    source: SOURCE,
    file: QUEUE_PAIR,
    from: 'if (copies !== undefined) this.core.counters.rxWrongState += copies.stop();',
    to: '',
    games: ['tests', 'traffic'],
  },
  {
    name: 'foreign-parked-bound',
    rule: 'no more packets wait for memory than there is room for',
    source: SOURCE,
    file: 'src/device/nic/memory/copying/parked-packets.ts',
    from: 'if (full && length > 0) return false;',
    to: '',
    games: ['tests'],
  },
  {
    name: 'foreign-copy-ended',
    rule: 'the end of a copy is told to who gives the NIC its turns',
    source: SOURCE,
    file: 'src/device/nic/memory/copying/copy-engine.ts',
    from: 'if (!this.#polls) this.onFinished?.();',
    to: '',
    games: ['tests'],
  },
];
