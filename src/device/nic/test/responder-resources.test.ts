import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ResponderResources } from '../reliable/responder-resources.js';
import { OpcodeBit } from '../../wire/index.js';

it('a repeat finds the newest request that had its PSN, not one from before the PSNs went round', () => {
  const resources = new ResponderResources();
  resources.reset(4);
  resources.take().describe(OpcodeBit.ATOMIC, 0x2000, 1, 0, 1, 0, 0, 8);
  resources.take().describe(OpcodeBit.ATOMIC, 0x2000, 1, 0, 2, 0, 0, 8);
  assert.equal(resources.find(0x2000)?.rkey, 2);
});

it('a smaller depth keeps the newest requests, a larger one all', () => {
  const resources = new ResponderResources();
  resources.reset(3);
  for (const psn of [10, 20, 30]) resources.take().describe(OpcodeBit.READ_REQUEST, psn, 1, 0, psn, 0, 0, 8);
  resources.resize(2);
  assert.deepEqual(
    [10, 20, 30].map((psn) => resources.find(psn)?.rkey),
    [undefined, 20, 30],
  );
  resources.resize(4);
  resources.take().describe(OpcodeBit.READ_REQUEST, 40, 1, 0, 40, 0, 0, 8);
  assert.deepEqual(
    [20, 30, 40].map((psn) => resources.find(psn)?.rkey),
    [20, 30, 40],
  );
});
