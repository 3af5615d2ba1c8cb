import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { openDevice } from '../../entry/index.js';
import { loopback } from '../../../test/support/loopback.js';
import { cannotRun, startRun } from './support.js';

describe('a launcher that has ended', { skip: cannotRun }, () => {
  it('has let go of its address, which another NIC can have at once', async () => {
    const { child, played } = startRun(['sh', '-c', 'echo ready; read line']);
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    child.stdin?.end('\n');
    await played;
    openDevice({ host: 'inline', address: loopback(1) }).close();
  });
});
