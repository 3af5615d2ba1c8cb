import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explanationText } from '../../kv/calls/questions.js';
import { lineText } from '../../kv/common/bytes.js';
import { milliseconds, timeText } from '../../kv/common/units.js';
import { run } from '../tool.js';
import { Serving } from './serving.js';

describe('kv explain', () => {
  it('says whether a key is there, or what has become of it', async () => {
    await using serving = await Serving.start(1);
    await serving.kv('set', 'there', 'value');
    await serving.kv('set', 'gone', 'value');
    await serving.kv('del', 'gone');
    const there = await serving.kv('explain', 'there');
    assert.equal(there.code, 0);
    assert.match(there.stdout, /^there: is there \(version \d+\), and does not end\n$/);
    const gone = await serving.kv('explain', 'gone');
    assert.equal(gone.code, 1);
    assert.match(gone.stdout, /^gone: was deleted .+ ago\n$/);
    assert.deepEqual(await serving.kv('explain', 'nothing', '--json'), {
      code: 1,
      signal: null,
      stdout: '{"key":"nothing","is":"never","isCertain":true}\n',
      stderr: '',
    });
  });

  it('has a sentence for all that may be', () => {
    const told = [
      explanationText({ is: 'present', version: 3n, ttlMs: 90_000 }),
      explanationText({ is: 'never', isCertain: false }),
      explanationText({ is: 'expired', agoMs: 250 }),
      explanationText({ is: 'evicted', agoMs: 12_500, why: 'memory' }),
      explanationText({ is: 'evicted', agoMs: 2 * 3_600_000, why: 'bucket' }),
    ];
    assert.deepEqual(told, [
      'is there (version 3), and ends in 1 min 30 s',
      'was never set, or has gone so long ago that the server remembers others in its place',
      'expired 250 ms ago',
      'was evicted 12.5 s ago: it was among the oldest, and its memory was needed',
      'was evicted 2 h 0 min ago: it was the oldest in its bucket of the index, which was full',
    ]);
  });
});

describe('kv ttl', () => {
  it('prints seconds, or that there is no end', async () => {
    await using serving = await Serving.start(1);
    await serving.kv('set', 'short', 'value', '--ttl', '1h');
    await serving.kv('set', 'long', 'value');
    const seconds = Number((await serving.kv('ttl', 'short')).stdout);
    assert.ok(seconds > 3000 && seconds <= 3600, `${seconds}`);
    assert.equal((await serving.kv('ttl', 'long')).stdout, 'never\n');
    assert.equal((await serving.kv('ttl', 'nothing')).code, 1);
  });
});

describe('kv scan', () => {
  it('lists the keys with a prefix, for other programs', async () => {
    await using serving = await Serving.start(1);
    for (const key of ['user:1', 'user:2', 'page:1', 'two\nlines']) await serving.kv('set', key, 'value');
    const linesOf = (stdout: string): string[] => stdout.trim().split('\n').sort();
    assert.deepEqual(linesOf((await serving.kv('scan')).stdout), ['page:1', 'two\\x0alines', 'user:1', 'user:2']);
    assert.deepEqual(linesOf((await serving.kv('scan', '--prefix', 'user:')).stdout), ['user:1', 'user:2']);
    assert.equal(linesOf((await serving.kv('scan', '--limit', '3')).stdout).length, 3);
    assert.deepEqual(linesOf((await serving.kv('scan', '--prefix', 'page', '--json')).stdout), ['{"key":"page:1"}']);
    const piped = ['sh', '-c', '"$@" | xargs -0 -n 1 printf "[%s]"', 'sh'];
    const { stdout } = await run(['kv', 'scan', '-0', '--prefix', 'two', ...serving.reach], {}, piped);
    assert.equal(stdout, '[two\nlines]');
  });

  it('prints in a line what is no text, and what would leave the line', () => {
    assert.equal(lineText(Buffer.from('a\\b\u001b[2J\tü')), 'a\\x5cb\\x1b[2J\\x09ü');
    assert.equal(lineText(Buffer.from([0x61, 0xff, 0x5c, 0x0a])), 'a\\xff\\x5c\\x0a');
  });
});

describe('kv stats', () => {
  it('prints what the server has counted', async () => {
    await using serving = await Serving.start(1);
    await serving.kv('set', 'key', 'value');
    await serving.kv('get', 'key');
    const { code, stdout } = await serving.kv('stats');
    assert.equal(code, 0);
    assert.match(stdout, /^store\.hits +1$/m);
    assert.match(stdout, /^server\.clients +1$/m);
    const facts = JSON.parse((await serving.kv('stats', '--json')).stdout) as Record<string, number>;
    assert.equal(facts['store.sets'], 1);
  });
});

describe('times', () => {
  it('are read with their units', () => {
    assert.deepEqual(['30', '0.5s', '500ms', '5m', '2h', '7d'].map(milliseconds), [
      30_000,
      500,
      500,
      300_000,
      7_200_000,
      7 * 86_400_000,
    ]);
    for (const wrong of ['', 's', '-5s', '5 s', '0', '50d', '1e3', 'constructor', '5x'])
      assert.throws(() => milliseconds(wrong), /Give seconds, or a time/);
  });

  it('are told in two units at most', () => {
    const told = [999, 1000, 59_900, 200_000, 3_600_000, 3 * 86_400_000 + 7_200_000].map(timeText);
    assert.deepEqual(told, ['999 ms', '1.0 s', '59.9 s', '3 min 20 s', '1 h 0 min', '3 d 2 h']);
  });
});
