import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cannotRun } from './support.js';

const UNANSWERED = fileURLToPath(new URL('./programs/unanswered.js', import.meta.url));
const PATIENCE_MS = 30_000;
/** What the kernel is at while a call waits for an answer. */
const WAITING = 'seccomp_do_user_notification';

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

async function until(holds: () => boolean): Promise<boolean> {
  const begunMs = performance.now();
  while (!holds() && performance.now() - begunMs < PATIENCE_MS) await setImmediate();
  return holds();
}

describe('a launcher that is killed while it starts a program', { skip: cannotRun }, () => {
  it('leaves no process behind that waits for its answer', async () => {
    const launcher = spawn(process.execPath, [UNANSWERED], { stdio: 'inherit' });
    const { pid } = launcher;
    const child = (): string => read(`/proc/${pid}/task/${pid}/children`).trim();
    assert.ok(await until(() => read(`/proc/${child()}/wchan`).startsWith(WAITING)));
    const started = child();
    launcher.kill('SIGKILL');
    await once(launcher, 'exit');
    const ended = await until(() => !/^State:\s*[^ZX]/m.test(read(`/proc/${started}/status`)));
    if (!ended) process.kill(Number(started), 'SIGKILL');
    assert.ok(ended, 'it waits still');
  });
});
