import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

const SYSTEM = new URL('../index.js', import.meta.url).href;

/** What a thread reports after it has blocked signals: the mask in `/proc`, and the mask of a program that it starts. */
const PROGRAM = `
  const { readFileSync } = require('node:fs');
  const { parentPort } = require('node:worker_threads');
  const blocked = (of) => /SigBlk:\\s*([0-9a-f]+)/.exec(readFileSync('/proc/' + of + '/status', 'utf8'))[1];
  import(${JSON.stringify(SYSTEM)}).then(({ blockSignals, spawnProgram }) => {
    blockSignals();
    const pid = spawnProgram('sleep', ['sleep', '60'], process.env);
    parentPort.postMessage({ thread: blocked('thread-self'), program: blocked(pid), pid });
  });`;

/** SIGHUP to SIGTERM but for SIGKILL, and SIGCHLD: what a program or its end sends. */
const SENT = 0x17eff & ~0x100;

test(
  'a thread that blocks signals gets none, and a program that it starts gets all',
  { skip: process.platform !== 'linux' },
  async () => {
    const worker = new Worker(PROGRAM, { eval: true });
    const { thread, program, pid } = await new Promise<{ thread: string; program: string; pid: number }>(
      (resolve, reject) => worker.once('message', resolve).once('error', reject),
    );
    process.kill(pid, 'SIGKILL');
    await worker.terminate();
    const mask = Number(BigInt(`0x${thread}`) & 0xffffffffn);
    assert.equal(mask & SENT, SENT);
    assert.match(program, /^0+$/);
    assert.match(readFileSync('/proc/self/status', 'utf8'), /SigBlk:\s*0+\n/);
  },
);
