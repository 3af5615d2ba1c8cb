import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CmCounters } from '../../src/device/cm/counters.js';
import { NicCounters } from '../../src/device/nic/counters.js';
import { ROOT } from '../support/page.js';

test('docs/guide/counters.md has a row for every counter of a NIC and its connection manager', () => {
  const text = readFileSync(join(ROOT, 'docs', 'guide', 'counters.md'), 'utf8');
  const named = [...text.matchAll(/`([a-z_*]+)`/g)].map(([, name]) => name);
  const isNamed = (counter: string): boolean =>
    named.some((name) => (name.endsWith('*') ? counter.startsWith(name.slice(0, -1)) : name === counter));
  const counters = [...Object.keys(new NicCounters().snapshot()), ...Object.keys(new CmCounters().snapshot())];
  assert.ok(counters.length > 50);
  assert.deepEqual(
    counters.filter((counter) => !isNamed(counter)),
    [],
  );
});
