import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { describe, it } from 'node:test';
import { OpenFiles } from '../processes/guest-files.js';
import { descriptorName } from '../processes/processes.js';
import { cannotRun } from './support.js';

describe('the files that processes have open', () => {
  it('are listed once for each process, however many are looked for', () => {
    const listed: number[] = [];
    const files = new OpenFiles((pid) => {
      listed.push(pid);
      return new Set([`of ${pid}`, 'of both']);
    });
    for (let i = 0; i < 100; i += 1) {
      assert.equal(files.has(1, 'of 1'), true);
      assert.equal(files.has(2, 'of 1'), false);
      assert.equal(files.has(2, 'of both'), true);
    }
    assert.deepEqual(listed, [1, 2]);
  });

  it('are those of the kernel, and none of a process that has ended', { skip: cannotRun }, () => {
    const fd = openSync('/dev/null', 'r');
    const name = descriptorName(process.pid, fd) ?? '';
    assert.equal(new OpenFiles().has(process.pid, name), true);
    closeSync(fd);
    assert.equal(new OpenFiles().has(process.pid, `${name} of nobody`), false);
    assert.equal(new OpenFiles().has(2 ** 30, name), false);
  });
});
