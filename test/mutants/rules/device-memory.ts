import type { Mutant } from '../mutant.js';

const LANE = 'src/machine/gpu/copies/copy-lane.ts';
const MACHINE = 'src/machine/gpu/copies/copy-machine.ts';
const ENGINE = 'src/device/nic/memory/copying/copy-engine.ts';
const SOURCE = 'docs/gpu.md, What is copied, and when';
const ERRORS = 'docs/gpu.md, Errors';

/** Memory of a device, which copies it. */
export const deviceMemory: readonly Mutant[] = [
  {
    name: 'device-given-up',
    rule: 'a copy that is given up has ended before anybody else has its memory',
    source: SOURCE,
    file: LANE,
    from: `      batch?.wait();
      // Of what stands behind a command that has failed nobody knows.
      if (batch?.state() !== BatchState.DONE) this.#settle();
`,
    to: '',
    games: ['device-memory'],
  },
  {
    name: 'device-begun',
    rule: 'a copy may have begun before it was submitted',
    source: SOURCE,
    file: LANE,
    from: 'if (this.#added.some(({ job }) => job.copy === copy)) this.#begin();',
    to: '',
    games: ['device-memory'],
  },
  {
    name: 'device-waiting',
    rule: 'a copy that waits for staging memory can be given up',
    source: SOURCE,
    file: MACHINE,
    from: 'if (left.length < this.#waiting.length) this.#waiting = left;\n    else for',
    to: 'for',
    games: ['device-memory'],
  },
  {
    name: 'device-admitted',
    rule: 'who waits for staging memory has it as soon as there is some',
    source: SOURCE,
    file: MACHINE,
    from: '    for (const lane of this.#lanes.values()) lane.poll();\n    this.#admit();',
    to: '    for (const lane of this.#lanes.values()) lane.poll();',
    games: ['device-memory'],
  },
  {
    name: 'device-staging',
    rule: 'staging memory is used again only when its copy has ended',
    source: SOURCE,
    file: LANE,
    from: '    this.#added.push({ job, slot });',
    to: '    this.#added.push({ job, slot });\n    if (this.#added.length > 1) this.pool.give(slot);',
    games: ['device-memory'],
  },
  {
    name: 'device-innocent',
    rule: 'who was submitted with a copy that fails does not fail for that',
    source: ERRORS,
    file: LANE,
    from: 'if (!isDone && isKnown && placed.length > 1) this.#redo(placed);\n    else this',
    to: 'this',
    games: ['device-memory'],
  },
  {
    name: 'device-once',
    rule: 'an atomic is never carried out twice',
    source: ERRORS,
    file: MACHINE,
    from: 'isOnce: true,',
    to: 'isOnce: false,',
    games: ['device-memory'],
  },
  {
    name: 'device-failed',
    rule: 'a copy that has failed is not taken for one that is done',
    source: ERRORS,
    file: LANE,
    from: 'copy?.finish(isDone ? job.lengthBytes : 0);',
    to: 'copy?.finish(job.lengthBytes);',
    games: ['device-memory'],
  },
  {
    name: 'device-lost',
    rule: 'staging memory of which nobody knows what the device still does with it is never used again',
    source: ERRORS,
    file: LANE,
    from: 'else this.pool.lose();',
    to: 'else this.pool.give(slot);',
    games: ['device-memory'],
  },
  {
    name: 'device-submitted',
    rule: 'what was asked for in a turn begins at its end',
    source: SOURCE,
    file: ENGINE,
    from: '      progress.submit();\n',
    to: '',
    games: ['device-memory'],
  },
  {
    name: 'device-polled',
    rule: 'a device that does not tell when copies have ended is asked in each turn',
    source: SOURCE,
    file: ENGINE,
    from: '    this.#poll();\n',
    to: '',
    games: ['device-memory'],
  },
  {
    name: 'device-unsubmitted',
    rule: 'a device that tells when copies have ended tells nothing of what it was not submitted',
    source: SOURCE,
    file: LANE,
    from: ' || this.#bursts[0].batch === undefined;',
    to: ';',
    games: ['device-memory'],
  },
  {
    name: 'device-closed',
    rule: 'a region that ends lets go of its buffer',
    source: SOURCE,
    file: 'src/device/nic/memory/memory-region.ts',
    from: '    this.#endCopies();\n    this.foreign?.close?.();',
    to: '    this.#endCopies();',
    games: ['device-memory'],
  },
  {
    name: 'device-named',
    rule: 'a device that fails is not taken for memory that is not there',
    source: ERRORS,
    file: 'src/device/nic/memory/copying/data-mover.ts',
    from: 'isOfDevice ? Syndrome.LOCAL_MEMORY_DEVICE : Syndrome.LOCAL_MEMORY_FAULT',
    to: 'Syndrome.LOCAL_MEMORY_FAULT',
    games: ['device-memory'],
  },
  {
    name: 'device-refused',
    rule: 'that a device fails is no fault of the key by which its memory was named',
    source: ERRORS,
    file: 'src/device/nic/reliable/memory-refusals.ts',
    from: 'refusal === Syndrome.RESPONDER_MEMORY_DEVICE ? NakCode.REMOTE_OPERATIONAL_ERROR : NakCode.REMOTE_ACCESS_ERROR',
    to: 'NakCode.REMOTE_ACCESS_ERROR',
    games: ['device-memory'],
  },
];
