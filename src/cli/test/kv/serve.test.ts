import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { loopback } from '../../../../test/support/loopback.js';
import { run, Tool } from '../tool.js';
import { freePort } from '../../../../test/support/ports.js';
import { Serving } from './serving.js';

describe('kv serve', () => {
  it('says at Ctrl-C what it has served', async () => {
    await using serving = await Serving.start(1);
    await serving.kv('set', 'key', 'value');
    await serving.kv('get', 'key');
    await serving.kv('get', 'nothing');
    const { code, stderr, lines } = await serving.interrupt();
    assert.deepEqual({ code, stderr }, { code: 130, stderr: '' });
    const [listening, end] = lines;
    assert.deepEqual(listening.address, { host: serving.host, port: 7175 });
    assert.equal(end.event, 'end');
    const { hits, misses, sets, keys } = end.store ?? {};
    assert.deepEqual({ hits, misses, sets, keys }, { hits: 1, misses: 1, sets: 1, keys: 1 });
    assert.equal(end.server?.['requests'], 3);
  });

  it('says so to people in sentences', async () => {
    const host = loopback(1);
    const tool = new Tool(['kv', 'serve', '--addr', host, '-p', '0', '--mode', 'store', '--memory', '1.5M']);
    await tool.printed('until Ctrl-C\n');
    tool.child.kill('SIGTERM');
    const { code, stdout } = await tool.ended;
    assert.equal(code, 143);
    const [listening, end] = stdout.split('\n');
    assert.match(listening, /^serving a store of 1\.5 MiB at 127\.[\d.]+:\d+, until Ctrl-C$/);
    assert.match(end, /^served 0 requests in [\d.]+ m?s: nothing asked for, 0 entries in 0 bytes$/);
  });

  it('keeps a store in a folder, and has what it had answered when it was killed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-kv-'));
    {
      await using serving = await Serving.start(1, '--data', folder);
      await serving.kv('set', 'key', 'value');
    }
    {
      await using serving = await Serving.start(1, '--data', folder, '--sync', '500');
      const { stdout } = await serving.kv('get', 'key');
      assert.equal(stdout, 'value');
      const { lines } = await serving.interrupt();
      assert.equal(lines[0].log?.['recoveredKeys'], 1);
    }
    rmSync(folder, { recursive: true });
  });

  for (const [flag, ...words] of [['--sync', '500'], ['--repair']])
    it(`refuses ${flag} without a folder, rather than keep nothing without a word`, async () => {
      const { code, stderr } = await run(['kv', 'serve', '--addr', loopback(1), flag, ...words]);
      assert.deepEqual(
        { code, stderr },
        { code: 2, stderr: `${flag} is of stores that are kept on disk; give --data as well\n` },
      );
    });

  it('refuses what is new when a store is full, and keeps what it has', async () => {
    await using serving = await Serving.start(1, '--mode', 'store', '--memory', '4K');
    await serving.kv('set', 'first', 'x'.repeat(1500));
    await serving.kv('set', 'second', 'x'.repeat(1500));
    const { code, stderr } = await serving.kv('set', 'third', 'x'.repeat(1500));
    assert.deepEqual(
      { code, stderr },
      {
        code: 2,
        stderr:
          'set: the store is full (ENOSPC). End some entries, or serve a store with more memoryBytes (--memory)\n',
      },
    );
    assert.equal((await serving.kv('get', 'first')).stdout.length, 1500);
  });

  it('serves clients of Redis what it serves its own', async () => {
    const port = await freePort();
    await using serving = await Serving.start(1, '--redis', String(port));
    await serving.kv('set', 'key', 'value');
    const redis = new Redis({ port });
    assert.equal(await redis.get('key'), 'value');
    assert.equal(await redis.incr('visits'), 1);
    assert.equal((await serving.kv('get', 'visits')).stdout, '1');
    await redis.quit();
    const { code, stderr, lines } = await serving.interrupt();
    assert.deepEqual({ code, stderr, redisPort: lines[0].redisPort }, { code: 130, stderr: '', redisPort: port });
  });

  it('says who is where it wants to be', async () => {
    await using serving = await Serving.start(1);
    const { code, stderr } = await run(['kv', 'serve', '--addr', serving.host]);
    assert.equal(code, 2);
    assert.match(stderr, /\(EADDRINUSE\)/);
  });
});
