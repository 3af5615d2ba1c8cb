import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopback } from '../../../../test/support/loopback.js';
import { run } from '../tool.js';
import { Serving } from './serving.js';

const done = { code: 0, signal: null, stdout: '', stderr: '' };
const absent = { ...done, code: 1 };

describe('kv set and get', () => {
  it('give back what was set, byte for byte, over each transport', async () => {
    await using serving = await Serving.start(1);
    for (const transport of ['rc', 'uc', 'ud']) {
      const how = ['--transport', transport];
      assert.deepEqual(await serving.kv('set', 'key', `by ${transport}`, ...how), done);
      assert.deepEqual(await serving.kv('get', 'key', ...how), { ...done, stdout: `by ${transport}` });
    }
  });

  it('tell an entry that is not there from one that could not be printed', async () => {
    await using serving = await Serving.start(1);
    await serving.kv('set', 'key', 'value');
    const full = ['sh', '-c', 'exec "$@" > /dev/full', 'sh'];
    for (const call of [['get', 'key'], ['scan']]) {
      const { code, stderr } = await run(['kv', ...call, ...serving.reach], {}, full);
      assert.deepEqual({ code, stderr }, { code: 2, stderr: 'standard output: cannot be written: the disk is full\n' });
    }
  });

  it('take a value from standard input', async () => {
    await using serving = await Serving.start(1);
    assert.deepEqual(await serving.kvFed('one\ntwo\n', 'set', 'lines'), done);
    assert.equal((await serving.kv('get', 'lines')).stdout, 'one\ntwo\n');
  });

  it('tell an entry that is not there from a server that is not there', async () => {
    await using serving = await Serving.start(1);
    assert.deepEqual(await serving.kv('get', 'nothing'), absent);
    const { code, stderr } = await run(['kv', 'get', 'nothing', '--server', `${loopback(1)}:1`]);
    assert.equal(code, 2);
    assert.match(stderr, /^no store at 127\.[\d.]+:1; `verbena kv serve` serves one: .*\(ECONNREFUSED\)/);
  });

  it('give up soon where there is nobody to refuse them, and say how to have a server', async () => {
    const { code, stderr } = await run(['kv', 'get', 'nothing', '--server', loopback(2)]);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^no store at 127\.[\d.]+:7175; `verbena kv serve` serves one: .*no device is at 127\.[\d.]+.*\(ECONNREFUSED\)/,
    );
  });

  it('say of a store that is there, and is not read by clients, what would have it read', async () => {
    await using serving = await Serving.start(1);
    const { code, stderr } = await serving.kv('get', 'key', '--one-sided');
    assert.equal(code, 2);
    assert.match(stderr, /^cannot use the store at 127\.[\d.]+:\d+: .*\(EOPNOTSUPP\)\. .*--one-sided/);
  });

  it('say what is wrong under the name that was called', async () => {
    await using serving = await Serving.start(1);
    const stderr = 'the key has 300 bytes (EINVAL). It has 1 to 250\n';
    for (const call of ['get', 'del', 'ttl']) {
      const failed = { code: 2, signal: null, stdout: '', stderr: `${call}: ${stderr}` };
      assert.deepEqual(await serving.kv(call, 'k'.repeat(300)), failed);
    }
  });

  it('set with --add what is not there, and with --cas what has that version', async () => {
    await using serving = await Serving.start(1);
    assert.deepEqual(await serving.kv('set', 'key', 'one', '--add'), done);
    assert.deepEqual(await serving.kv('set', 'key', 'two', '--add'), absent);
    const { version } = JSON.parse((await serving.kv('get', 'key', '--json')).stdout) as { version: string };
    assert.deepEqual(await serving.kv('set', 'key', 'three', '--cas', version), done);
    assert.deepEqual(await serving.kv('set', 'key', 'four', '--cas', version), absent);
    assert.equal((await serving.kv('get', 'key')).stdout, 'three');
  });

  it('have JSON for bytes that are no text', async () => {
    await using serving = await Serving.start(1);
    const bytes = ['sh', '-c', 'printf "\\377\\000" | "$@"', 'sh'];
    assert.deepEqual(await run(['kv', 'set', 'bytes', ...serving.reach], {}, bytes), done);
    const answer = JSON.parse((await serving.kv('get', 'bytes', '--json')).stdout) as Record<string, string>;
    assert.equal(answer['valueBase64'], Buffer.from([0xff, 0]).toString('base64'));
    assert.ok(!('value' in answer));
  });
});

describe('kv incr, touch and del', () => {
  it('count, from nothing on, up and down', async () => {
    await using serving = await Serving.start(1);
    assert.equal((await serving.kv('incr', 'n')).stdout, '1\n');
    assert.equal((await serving.kv('incr', 'n', '41')).stdout, '42\n');
    assert.equal((await serving.kv('incr', 'n', '-50')).stdout, '-8\n');
    await serving.kv('set', 'word', 'hello');
    const { code, stderr } = await serving.kv('incr', 'word');
    assert.deepEqual({ code, stderr }, { code: 2, stderr: 'incr: the value is not an integer of 64 bits (EINVAL)\n' });
  });

  it('say whether there was an entry', async () => {
    await using serving = await Serving.start(1);
    await serving.kv('set', 'key', 'value');
    assert.deepEqual(await serving.kv('touch', 'key', '5m'), done);
    assert.deepEqual(await serving.kv('touch', 'nothing', 'never'), absent);
    assert.deepEqual(await serving.kv('del', 'key', 'nothing', '--json'), {
      ...absent,
      stdout: '{"keys":["key","nothing"],"deleted":["key"]}\n',
    });
    assert.deepEqual(await serving.kv('get', 'key'), absent);
  });

  it('refuse what makes no sense, before anybody is called', async () => {
    const wrong = [
      [['touch', 'key', 'soon'], /Give seconds, or a time such as 500ms/],
      [['set', 'key', 'value', '--ttl', '5 minutes'], /Give seconds, or a time such as 500ms/],
      [['set', 'key', 'value', '--cas', 'x'], /Give a version/],
      [['incr', 'key', 'much'], /'much' is no whole number of 64 bits/],
      [['get', 'key', '--server', '[127.0.0.1]:5'], /no IPv6 address/],
      [['get', 'key', '--transport', 'tcp'], /Allowed choices are rc, uc, ud/],
      [['get'], /missing required argument 'key'/],
      [['fetch', 'key'], /unknown command 'fetch'/],
      [['serve', '--memory', '1K'], /Give bytes, such as 256M/],
    ] as const;
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await run(['kv', ...args]);
      assert.deepEqual({ args, code, stdout }, { args, code: 2, stdout: '' });
      assert.match(stderr, message);
    }
  });
});
