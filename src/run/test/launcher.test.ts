import assert from 'node:assert/strict';
import { constants, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loopback } from '../../../test/support/loopback.js';
import { cannotRun, run, startRun } from './support.js';

describe('verbena run', { skip: cannotRun }, () => {
  it('ends with the exit code of the program', async () => {
    assert.equal((await run(['sh', '-c', 'exit 7'])).code, 7);
  });

  it('ends by the signal that the program ended by', async () => {
    assert.equal((await run(['sh', '-c', 'kill -USR1 $$'])).signal, 'SIGUSR1');
  });

  it('says in a sentence that there is no such program, and ends as a shell does then', async () => {
    const { code, errors } = await run(['no-such-program']);
    assert.deepEqual([code, errors], [127, 'verbena run: no-such-program: there is no such program\n']);
  });

  it('hands a signal on to the program, and waits for what that makes of it', async () => {
    const { child, played } = startRun([
      'sh',
      '-c',
      "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done",
    ]);
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    const { code, out } = await played;
    assert.deepEqual([code, out], [5, 'ready\ntold\n']);
  });

  it('gives a program the files that it opens while signals come', async () => {
    const open =
      'i=0; while [ $i -lt 300 ]; do read t < /sys/class/infiniband/rxe0/node_type; echo "$t"; i=$((i+1)); done';
    const { child, played } = startRun(['sh', '-c', `echo ready; ${open}`]);
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    let over = false;
    const flood = (): void => {
      for (let i = 0; i < 20; i += 1) child.kill('SIGWINCH');
      if (!over) setImmediate(flood);
    };
    flood();
    const { out } = await played;
    over = true;
    assert.deepEqual(new Set(out.trim().split('\n')), new Set(['ready', '1: CA']));
  });

  it('leaves the standard streams to the program', async () => {
    const { child, played } = startRun(['sh', '-c', 'cat; echo wrong >&2']);
    child.stdin?.end('what was given\n');
    const { out, errors } = await played;
    assert.deepEqual([out, errors], ['what was given\n', 'wrong\n']);
  });

  it('leaves them as they were: who reads or writes there waits', async () => {
    const script = 'trap "cat /proc/self/fdinfo/[012]; exit" WINCH; while :; do sleep 0.05; done';
    const { child, played } = startRun(['sh', '-c', script]);
    let over = false;
    // At first there is nobody who would hand it on.
    const ask = (): void => {
      child.kill('SIGWINCH');
      if (!over) setImmediate(ask);
    };
    ask();
    const { out } = await played;
    over = true;
    const flags = [...out.matchAll(/^flags:\s*(\d+)/gm)].map(([, octal]) => parseInt(octal, 8) & constants.O_NONBLOCK);
    assert.deepEqual(new Set(flags), new Set([0]));
  });

  it('serves what the program starts, and what that starts', async () => {
    const { out } = await run(['sh', '-c', "(sh -c 'cat /sys/class/infiniband/rxe0/node_type' &  wait)"]);
    assert.equal(out, '1: CA\n');
  });

  it('shows the devices, and nothing else, in folders that programs can list and walk', async () => {
    const { out } = await run([
      'sh',
      '-c',
      'ls /dev/infiniband /sys/class/infiniband; find /sys/class/infiniband_verbs | sort',
    ]);
    assert.equal(
      out,
      [
        '/dev/infiniband:',
        'rdma_cm',
        'uverbs0',
        '',
        '/sys/class/infiniband:',
        'rxe0',
        '/sys/class/infiniband_verbs',
        '/sys/class/infiniband_verbs/abi_version',
        '/sys/class/infiniband_verbs/uverbs0',
        '/sys/class/infiniband_verbs/uverbs0/abi_version',
        '/sys/class/infiniband_verbs/uverbs0/dev',
        '/sys/class/infiniband_verbs/uverbs0/ibdev',
        '',
      ].join('\n'),
    );
  });

  it('shows a device for each address', async () => {
    const { out } = await run(['ls', '/sys/class/infiniband'], ['--addr', loopback(2)]);
    assert.equal(out, 'rxe0\nrxe1\n');
  });

  it('names the network interface of a device where that of an adapter is', async () => {
    const { out } = await run([
      'sh',
      '-c',
      'ls /sys/class/infiniband/rxe0/device/net; ls /sys/class/infiniband/rxe0/device',
    ]);
    assert.equal(out, 'lo\nnet\n');
  });

  it('lets nobody write to sysfs, and says of what is not there that it is not', async () => {
    const { out } = await run([
      'sh',
      '-c',
      'f=/sys/class/infiniband/rxe0; (echo 1 > $f/fw_ver) 2>&1; cat $f/none 2>&1; cat $f/fw_ver/none 2>&1',
    ]);
    assert.match(out, /(Permission denied|cannot create)[^]*No such file[^]*Not a directory/);
  });

  it('leaves no files behind, even when it is killed', async (t) => {
    // Others on this machine may run programs at this moment.
    const folder = mkdtempSync(join(tmpdir(), 'verbena-test-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const { child, played } = startRun(['sh', '-c', 'echo ready; read line'], [], 1, { TMPDIR: folder });
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    child.stdin?.end();
    await played;
    const left = readdirSync(folder).filter((name) => name.startsWith('verbena-run-'));
    assert.deepEqual(left, []);
  });
});
