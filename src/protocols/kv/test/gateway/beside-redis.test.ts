import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createClient } from '@redis/client';
import { createStore } from '../../../../entry/kv.js';
import { endWithTest } from '../../../../../test/support/children.js';
import { freePort } from '../../../../../test/support/ports.js';
import { runGateway, without } from './support/gateway.js';
import { type Answer, RawClient } from './support/raw-client.js';

async function runRedis(): Promise<AsyncDisposable & { readonly port: number }> {
  const port = await freePort();
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'];
  const server = endWithTest(spawn('redis-server', words));
  let text = '';
  for await (const piece of server.stdout) {
    text += String(piece);
    if (text.includes('Ready to accept connections')) break;
  }
  const stop = async (): Promise<void> => {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
  };
  return { port, [Symbol.asyncDispose]: stop };
}

/** mulberry32. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Answers of these commands are times, which differ by what passes between the two servers. */
const TIMES: Readonly<Record<string, number | undefined>> = {
  TTL: 20,
  EXPIRETIME: 20,
  PTTL: 20_000,
  PEXPIRETIME: 20_000,
};
/** Times are further apart than the machine can be late, and none ends during the test. */
const STEP_S = 100;
const STEPS = 30_000;
const OURS = / \(the longest is \d+ ms\)$/;

function areAlike([name]: readonly string[], ours: Answer, theirs: Answer): boolean {
  const tolerance = TIMES[name];
  const plain = typeof ours === 'string' ? ours.replace(OURS, '') : ours;
  if (tolerance === undefined || typeof plain !== 'string' || typeof theirs !== 'string' || !/^:\d/.test(theirs))
    return isDeepStrictEqual(plain, theirs);
  return Math.abs(Number(plain.slice(1)) - Number(theirs.slice(1))) <= tolerance;
}

/** Commands by chance, with options by chance, right and wrong. */
function commandsFrom(seed: number): () => string[] {
  const below = randomFrom(seed);
  const one = <T>(of: readonly T[]): T => of[below(of.length)];
  const key = (): string => one(['a', 'b', 'c', 'd']);
  // No time is further than 49 days, other than in Redis.
  const wrong = (): string => one(['x', '1.5', '', ' 7', '007', '0', '-1', '-100', '9223372036854775808']);
  const seconds = (): number => STEP_S * (1 + below(STEPS));
  const isWrong = (): boolean => below(8) === 0;
  const nowS = Math.floor(Date.now() / 1000);
  const TIME = {
    s: () => (isWrong() ? wrong() : String(seconds())),
    ms: () => (isWrong() ? wrong() : String(1000 * seconds())),
    atS: () => (isWrong() ? one([wrong(), '1', String(nowS - 10)]) : String(nowS + seconds())),
    atMs: () => (isWrong() ? one([wrong(), '1', String(1000 * nowS - 10)]) : String(1000 * (nowS + seconds()))),
  };
  const word = (text: string): string => (below(4) === 0 ? text.toLowerCase() : text);
  const timeOption = (): string[] =>
    one([
      () => [word('EX'), TIME.s()],
      () => [word('PX'), TIME.ms()],
      () => [word('EXAT'), TIME.atS()],
      () => [word('PXAT'), TIME.atMs()],
    ])();
  const some = (options: readonly (() => string[])[]): string[] => {
    const words: string[] = [];
    while (below(3) > 0) words.push(...one(options)());
    return words;
  };
  const setOptions = [
    timeOption,
    ...['NX', 'XX', 'GET', 'KEEPTTL'].map((text) => () => [word(text)]),
    () => (isWrong() ? ['FOO'] : []),
  ];
  const expireOptions = ['NX', 'XX', 'GT', 'LT'].map((text) => () => [word(text)]);
  const expireWords = (): string[] => (isWrong() ? ['FOO'] : some(expireOptions));
  const value = (): string => one(['', '1', '7', '-3', 'x', 'hello', 'a\r\nb']);
  return () =>
    one([
      () => ['SET', key(), value(), ...some(setOptions)],
      () => ['SET', key(), value(), ...some(setOptions)],
      () => [
        'GETEX',
        key(),
        ...one([
          timeOption,
          () => [word('PERSIST')],
          () => [],
          () => ['FOO'],
          () => ['EX'],
          () => [...timeOption(), ...timeOption()],
        ])(),
      ],
      () => ['GETDEL', key()],
      () => ['APPEND', key(), value()],
      () => ['EXPIRE', key(), TIME.s(), ...expireWords()],
      () => ['PEXPIRE', key(), TIME.ms(), ...expireWords()],
      () => ['EXPIREAT', key(), TIME.atS(), ...expireWords()],
      () => ['PEXPIREAT', key(), TIME.atMs(), ...expireWords()],
      () => [one(['TTL', 'PTTL', 'EXPIRETIME', 'PEXPIRETIME']), key()],
      () => [one(['TTL', 'PTTL', 'EXPIRETIME', 'PEXPIRETIME']), key()],
      () => [one(['GET', 'STRLEN', 'EXISTS', 'PERSIST', 'TYPE', 'DEL', 'INCR', 'GETSET']), key()],
      () => ['MGET', key(), key()],
      () => [one(['EXEC', 'DISCARD', 'RESET'])],
      () => ['HELLO', one(['1', '4', 'x', '']), ...one([[], ['SETNAME', 'a b'], ['FOO']])],
      () => ['HELLO', one(['2', '3']), 'SETNAME', one(['me', 'a b'])],
      () => ['CLIENT', 'GETNAME'],
      () => ['COMMAND', 'INFO', 'nosuchcommand'],
    ])();
}

describe('the gateway beside Redis 7', { skip: without('redis-server', 'redis-server') }, () => {
  for (const protocol of ['2', '3'])
    it(`answers commands, with their options right and wrong, as Redis does, by RESP${protocol}`, async (t) => {
      const seed = Number(process.env['VERBENA_SEED'] ?? Math.trunc(Math.random() * 2 ** 31));
      t.diagnostic(`VERBENA_SEED=${seed} repeats it`);
      await using redis = await runRedis();
      await using gateway = await runGateway();
      await using theirs = await RawClient.connect(redis.port);
      await using ours = await RawClient.connect(gateway.port);
      const next = commandsFrom(seed);
      const differences: string[] = [];
      for (let i = 0; i < 3000; i += 1) {
        if (i % 20 === 0) for (const client of [ours, theirs]) await client.ask('HELLO', protocol);
        const words = next();
        const [own, other] = [await ours.ask(...words), await theirs.ask(...words)];
        // The facts of HELLO are each server's own.
        const isMap = words[0] === 'HELLO' && Array.isArray(other);
        if (isMap ? own[0] !== other[0] : !areAlike(words, own, other))
          differences.push(`${words.join(' ')}: ${String(own)} and not ${String(other)}`);
      }
      assert.deepEqual(differences, []);
    });
});

describe('node-redis at the gateway', () => {
  it('connects with its defaults, and has its commands answered', async () => {
    await using gateway = await runGateway();
    const client = createClient({ socket: { port: gateway.port, host: '127.0.0.1' } });
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.set('key', 'value', { expiration: { type: 'EX', value: 100 } });
      assert.equal(await client.get('key'), 'value');
      assert.equal(await client.get('nokey'), null);
      assert.deepEqual(await client.mGet(['key', 'nokey']), ['value', null]);
      assert.equal(await client.append('key', 's'), 6);
      assert.equal(await client.getEx('key', { type: 'PERSIST' }), 'values');
      assert.equal(await client.ttl('key'), -1);
      assert.equal(await client.getDel('key'), 'values');
      assert.equal(await client.exists('key'), 0);
      assert.match(await client.info(), /redis_version/);
      assert.deepEqual({ ...(await client.configGet('databases')) }, { databases: '1' });
      await assert.rejects(client.multi().set('key', '1').exec());
      assert.equal(await client.get('key'), null);
      await assert.rejects(client.sendCommand(['MULTI']));
      assert.equal(await client.set('key', '1'), 'OK');
      const keys: string[] = [];
      for await (const some of client.scanIterator()) keys.push(...some);
      assert.deepEqual(keys, ['key']);
    } finally {
      client.destroy();
    }
  });

  it('lists a store that is almost empty in few pages, however large it is', async () => {
    const store = createStore({ mode: 'store', memoryBytes: 1 << 28 });
    await using gateway = await runGateway({}, { store });
    await using client = await RawClient.connect(gateway.port);
    for (let i = 0; i < 400; i += 1) await client.ask('SET', `key:${i}`, 'value');
    let [pages, keys, cursor] = [0, 0, '0'];
    do {
      const [, next, found] = await client.ask('SCAN', cursor, 'COUNT', '1000');
      assert.ok(typeof next === 'string' && Array.isArray(found));
      cursor = next.slice(1);
      keys += found.length - 1;
      pages += 1;
    } while (cursor !== '0');
    assert.equal(keys, 400);
    assert.ok(pages <= 3, `${pages} pages`);
  });
});
