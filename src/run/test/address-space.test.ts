import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { GuestContext } from '../uverbs/guest-context.js';
import { openDevice } from '../../entry/index.js';
import { AddressSpace } from '../../node/system/index.js';
import { loopback } from '../../../test/support/loopback.js';
import { cannotRun } from './support.js';

describe('the memory of a program', { skip: cannotRun }, () => {
  it('is told from that of the program that its process runs then, and closed when it is nobody’s', async () => {
    const child = spawn('sh', ['-c', 'echo ready; read line; exec sleep 60'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const { pid = 0 } = child;
    await once(child.stdout, 'data');
    const space = new AddressSpace(pid);
    space.pin();
    assert.deepEqual([space.isOfProcess, space.closeIfEnded()], [true, false]);
    child.stdin.write('go\n');
    while (readFileSync(`/proc/${pid}/comm`, 'latin1') !== 'sleep\n') await setImmediate();
    assert.deepEqual([space.isOfProcess, space.closeIfEnded()], [false, true]);
    child.kill();
  });

  it('is the same after it could not run another, however often it tries', (t) => {
    const address = loopback(1);
    const context = openDevice({ host: 'inline', address });
    const openClient = () => openDevice({ device: context.share() });
    const guest = new GuestContext(
      { name: 'rxe0', address, interfaceName: 'lo', context, openClient },
      process.pid,
      undefined,
    );
    t.after(() => {
      guest.close();
      context.close();
    });
    const { memory } = guest;
    for (let i = 0; i < 3; i += 1) {
      guest.executing();
      assert.equal(guest.memory, memory);
    }
  });
});
