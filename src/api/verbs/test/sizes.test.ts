import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { capProblem, completeQpCap, defaultQpCap } from '../index.js';
import type { QpCap } from '../../../device/ibta/index.js';

describe('queue sizes', () => {
  const device = { maxQpWr: 100, maxSge: 4 };
  const largest: QpCap = { maxSendWr: 100, maxRecvWr: 100, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 };

  it('have defaults for what is absent', () => {
    assert.deepEqual(completeQpCap({ maxSendWr: 5 }), { ...defaultQpCap, maxSendWr: 5 });
  });

  it('have no receive queue where a shared one or none takes its place', () => {
    const { maxRecvWr, maxRecvSge } = completeQpCap({ maxRecvWr: 7, maxRecvSge: 2 }, false);
    assert.deepEqual([maxRecvWr, maxRecvSge], [0, 0]);
  });

  it('can be the device’s largest', () => assert.equal(capProblem(largest, device, 64), undefined));

  for (const field of ['maxSendWr', 'maxRecvWr', 'maxSendSge', 'maxRecvSge', 'maxInlineData'] as const) {
    it(`cannot exceed it in ${field}`, () => {
      const cap = { ...largest, [field]: largest[field] + 1 };
      assert.match(capProblem(cap, device, 64)?.message ?? '', new RegExp(`^cap\\.${field} is `));
    });
  }

  it('cannot be negative or fractions', () => {
    assert.match(capProblem({ ...largest, maxSendWr: -1 }, device, 64)?.message ?? '', /maxSendWr/);
    assert.match(capProblem({ ...largest, maxRecvSge: 0.5 }, device, 64)?.message ?? '', /maxRecvSge/);
  });
});
