import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { serveRedis } from '../../../../entry/kv.js';
import { runGateway, runGatewayOfSeveral, without } from './support/gateway.js';
import { SlowStore } from './support/play.js';

const run = promisify(execFile);

/** What redis-cli prints for a command; errors stand on standard output, too. */
async function redisCli(port: number, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run('redis-cli', ['-p', String(port), ...words]);
  return stdout.trimEnd();
}

async function tcp(port: number): Promise<Socket> {
  const socket = connectTcp(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the gateway ends the connection. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const piece of socket.setEncoding('latin1')) text += String(piece);
  return text;
}

describe('redis-cli at the gateway', { skip: without('redis-cli', 'redis-tools') }, () => {
  it('loads much by --pipe', async () => {
    await using gateway = await runGateway();
    const loading = run('redis-cli', ['-p', String(gateway.port), '--pipe']);
    const keys = Array.from({ length: 5000 }, (_, i) => `key:${i}`);
    loading.child.stdin?.end(keys.map((key) => `SET ${key} value\r\n`).join(''));
    assert.match((await loading).stdout, /errors: 0, replies: 5000/);
    assert.equal(await redisCli(gateway.port, 'DBSIZE'), '5000');
  });

  it('says why a value that is too long is refused, though the gateway does not read it', async () => {
    await using gateway = await runGateway();
    const setting = run('redis-cli', ['-p', String(gateway.port), '-x', 'SET', 'key']);
    setting.child.stdin?.end(Buffer.alloc(5 * 1024 * 1024, 'x'));
    assert.match((await setting).stdout, /^ERR Protocol error: invalid bulk length/);
  });

  /** As an answer: what is left of 100 s, some of which pass while a tool starts. */
  const LEFT = 'what is left of 100 s';
  const TALKS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
    [
      'sets and gets',
      [
        ['SET key value', 'OK'],
        ['GET key', 'value'],
        ['get nokey', ''],
        ['STRLEN key', '5'],
        ['TYPE key', 'string'],
        ['TYPE nokey', 'none'],
        ['EXISTS key key nokey', '2'],
        ['DEL key nokey', '1'],
        ['UNLINK key', '0'],
      ],
    ],
    [
      'sets under conditions',
      [
        ['SET key one XX', ''],
        ['SET key one NX', 'OK'],
        ['SET key two NX', ''],
        ['SETNX key two', '0'],
        ['SET key two XX GET', 'one'],
        ['GETSET key three', 'two'],
        ['SET key four NX GET', 'three'],
        ['GET key', 'three'],
        ['SET key x NX XX', 'ERR syntax error'],
        ['SET key x EX', 'ERR syntax error'],
      ],
    ],
    [
      'counts',
      [
        ['INCR n', '1'],
        ['INCRBY n 41', '42'],
        ['DECR n', '41'],
        ['DECRBY n -9', '50'],
        ['INCRBY n 9223372036854775807', 'ERR increment or decrement would overflow'],
        ['DECRBY n -9223372036854775808', 'ERR decrement would overflow'],
        ['INCRBY n one', 'ERR value is not an integer or out of range'],
        ['SET n many', 'OK'],
        ['INCR n', 'ERR value is not an integer or out of range'],
      ],
    ],
    [
      'has several keys at a time',
      [
        ['MSET a 1 b 2 c 3', 'OK'],
        ['MGET a nokey c', '1\n\n3'],
        ['MSET a 1 b', "ERR wrong number of arguments for 'mset' command"],
      ],
    ],
    [
      'ends keys',
      [
        ['SET key value', 'OK'],
        ['TTL key', '-1'],
        ['TTL nokey', '-2'],
        ['PERSIST key', '0'],
        ['EXPIRE key 100', '1'],
        ['TTL key', LEFT],
        ['PERSIST key', '1'],
        ['PTTL key', '-1'],
        ['EXPIRE nokey 100', '0'],
        ['EXPIRE key 0', '1'],
        ['GET key', ''],
        ['SETEX key 0 value', "ERR invalid expire time in 'setex' command (the longest is 4294967295 ms)"],
        ['PSETEX key 100000 value', 'OK'],
        ['SET key value EX 100', 'OK'],
        ['SET key value PX 4294967296', "ERR invalid expire time in 'set' command (the longest is 4294967295 ms)"],
      ],
    ],
    [
      'asks about the connection',
      [
        ['PING', 'PONG'],
        ['PING word', 'word'],
        ['ECHO word', 'word'],
        ['SELECT 0', 'OK'],
        ['SELECT 1', 'ERR DB index is out of range'],
        ['HELLO 4', 'NOPROTO unsupported protocol version'],
        ['CLIENT SETNAME me', 'OK'],
        ['CLIENT SETINFO LIB-NAME mine', 'OK'],
        ['CONFIG GET save', 'save'],
        ['NOSUCH', "ERR unknown command 'NOSUCH'"],
        ['GET', "ERR wrong number of arguments for 'get' command"],
        ['COMMAND COUNT', '>'],
      ],
    ],
  ];
  for (const [what, talk] of TALKS)
    it(what, async () => {
      await using gateway = await runGateway();
      for (const [command, answer] of talk) {
        const said = await redisCli(gateway.port, ...command.split(' '));
        if (answer === '>') assert.match(said, /^\d+$/, command);
        else if (answer === LEFT) assert.match(said, /^([1-9]\d?|100)$/, command);
        else assert.equal(said, answer, command);
      }
    });

  it('finds all keys by SCAN, and those of a pattern', async () => {
    await using gateway = await runGateway();
    const keys = Array.from({ length: 300 }, (_, n) => `key:${n}`);
    await redisCli(gateway.port, 'MSET', ...keys.flatMap((key) => [key, 'value']));
    assert.equal(await redisCli(gateway.port, 'DBSIZE'), '300');
    assert.match(await redisCli(gateway.port, 'INFO', 'keyspace'), /db0:keys=300/);
    const found = (await redisCli(gateway.port, '--scan')).split('\n');
    assert.deepEqual(found.sort(), keys.toSorted());
    const some = (await redisCli(gateway.port, '--scan', '--pattern', 'key:*[57]')).split('\n');
    assert.deepEqual(some.sort(), keys.filter((key) => /[57]$/.test(key)).sort());
    assert.equal(await redisCli(gateway.port, 'SCAN', 'x'), 'ERR invalid cursor');
  });

  it('finds all keys of several servers by SCAN', async () => {
    await using gateway = await runGatewayOfSeveral();
    const keys = Array.from({ length: 300 }, (_, n) => `key:${n}`);
    await redisCli(gateway.port, 'MSET', ...keys.flatMap((key) => [key, 'value']));
    assert.equal(await redisCli(gateway.port, 'DBSIZE'), '300');
    const found = (await redisCli(gateway.port, '--scan')).split('\n');
    assert.deepEqual(found.sort(), keys.toSorted());
  });

  it('is told that the store is full, and that a key is too long', async () => {
    await using gateway = await runGateway();
    const value = 'x'.repeat(4000);
    let said = 'OK';
    for (let n = 0; n < 2000 && said === 'OK'; n += 50) {
      const pairs = Array.from({ length: 50 }, (_, i) => [`key:${n + i}`, value]).flat();
      said = await redisCli(gateway.port, 'MSET', ...pairs);
    }
    assert.match(said, /^OOM /);
    assert.match(await redisCli(gateway.port, 'GET', 'k'.repeat(251)), /^ERR .*251 bytes/);
  });
});

describe('ioredis at the gateway', () => {
  it('sets, gets, counts and pipelines', async () => {
    await using gateway = await runGateway();
    const redis = new Redis({ port: gateway.port });
    const bytes = Buffer.from([0, 13, 10, 255]);
    assert.equal(await redis.set('bytes', bytes), 'OK');
    assert.deepEqual(await redis.getBuffer('bytes'), bytes);
    const pipeline = redis.pipeline();
    for (let i = 0; i < 500; i += 1) pipeline.incr('n');
    const results = await pipeline.exec();
    assert.deepEqual(
      results?.map(([error, n]) => error ?? n),
      Array.from({ length: 500 }, (_, i) => i + 1),
    );
    await assert.rejects(redis.incr('bytes'), /ERR value is not an integer/);
    await assert.rejects(redis.multi().set('together', 'value').exec(), /EXECABORT/);
    assert.equal(await redis.get('together'), null);
    await redis.quit();
  });
});

describe('MSET at the gateway', () => {
  it('leaves the last value of a key that it names twice, though the first is long', async () => {
    await using gateway = await runGateway();
    const redis = new Redis({ port: gateway.port });
    await redis.mset('key', 'x'.repeat(9000), 'other', '1', 'key', 'last');
    assert.deepEqual(await redis.mget('key', 'other'), ['last', '1']);
    await redis.quit();
  });
});

describe('redis-benchmark at the gateway', { skip: without('redis-benchmark', 'redis-tools') }, () => {
  it('runs its tests', async () => {
    await using gateway = await runGateway();
    const words = ['-p', String(gateway.port), '--csv', '-n', '2000', '-c', '10', '-P', '8', '-r', '100'];
    const { stdout } = await run('redis-benchmark', [...words, '-t', 'ping_inline,ping_mbulk,get,set,incr,mset']);
    const tests = stdout.split('\n').map((line) => line.split(',')[0].replaceAll('"', ''));
    assert.deepEqual(tests.slice(1), ['PING_INLINE', 'PING_MBULK', 'SET', 'GET', 'INCR', 'MSET (10 keys)', '']);
  });
});

describe('a TCP client of the gateway', () => {
  it('is answered all, in order, though it asks much before it reads anything', async () => {
    await using gateway = await runGateway();
    const socket = await tcp(gateway.port);
    const count = 20_000;
    const text = 'x'.repeat(1000);
    socket.end(`*2\r\n$4\r\nECHO\r\n$1000\r\n${text}\r\n`.repeat(count));
    const answers = await readAll(socket);
    assert.equal(answers.length, count * `$1000\r\n${text}\r\n`.length);
  });

  it('is told that there are too many, and others are served again when one has gone', async () => {
    await using running = await runGateway({ maxConnections: 1 });
    const first = await tcp(running.port);
    assert.equal(await readAll(await tcp(running.port)), '-ERR max number of clients reached\r\n');
    const closed = once(first, 'close');
    first.end('*1\r\n$4\r\nQUIT\r\n');
    first.resume();
    await closed;
    const next = await tcp(running.port);
    next.end('PING\r\n');
    assert.equal(await readAll(next), '+PONG\r\n');
    assert.equal(running.gateway.totals.refused, 1);
  });

  it('has its connection ended for what is no request, and others keep theirs', async () => {
    await using gateway = await runGateway();
    const other = await tcp(gateway.port);
    const socket = await tcp(gateway.port);
    socket.write('*1\r\n:1\r\n');
    assert.equal(await readAll(socket), "-ERR Protocol error: expected '$', got ':'\r\n");
    other.end('PING\r\n');
    assert.equal(await readAll(other), '+PONG\r\n');
  });
});

describe('serveRedis', () => {
  const WRONG: readonly (readonly [string, object])[] = [
    ['a port that there is not', { port: 65_536 }],
    ['connections that are none', { maxConnections: 0 }],
    ['a field that there is not', { prot: 1 }],
    ['no client', { client: undefined }],
  ];
  for (const [what, options] of WRONG)
    it(`refuses ${what}`, async () => {
      const client = new SlowStore(true).store;
      await assert.rejects(serveRedis({ client, ...options }), { name: 'VerbsError', errno: 'EINVAL' });
    });

  it('listens on loopback unless it is told otherwise', async () => {
    await using running = await runGateway();
    const socket = await tcp(running.port);
    assert.equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
  });
});
