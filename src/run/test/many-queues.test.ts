import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nativeHostProblem } from '../../node/system/index.js';
import { Refusal } from '../refusal.js';
import { MOST_QUEUES, RingFile, type RingMemory } from '../rings/ring-file.js';

/** Where the system grants a process more mappings, nobody reaches the bound. */
const MOST_TRIED = 65_530;
const skip =
  nativeHostProblem() ?? (MOST_QUEUES > MOST_TRIED ? `vm.max_map_count leaves room for ${MOST_QUEUES} queues` : false);

describe('the queues of programs', { skip }, () => {
  it('are refused before the launcher has no mapping left, and can be had again once others are given back', () => {
    const files = [new RingFile('one', 4096), new RingFile('other', 4096)];
    const held: (readonly [RingFile, RingMemory])[] = [];
    const take = (): void => {
      const file = files[held.length % 2];
      held.push([file, file.allocate(4096)]);
    };
    while (held.length < MOST_QUEUES) take();
    assert.throws(take, (error) => error instanceof Refusal && error.errno === 'ENOMEM');
    for (const [file, memory] of held.splice(0, 2)) file.release(memory);
    take();
    take();
    assert.throws(take, { errno: 'ENOMEM' });
    for (const [file, memory] of held.splice(0)) file.release(memory);
    for (const file of files) file.close();
  });
});
