import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startPair } from './proxies.js';
import { startPostgres, startRedis, withoutPostgres, withoutRedis } from './services.js';

describe('unmodified clients cross an RDMA network by a pair of rproxy', () => {
  it('ioredis, to redis-server: pipelines, large values and blocking commands', { skip: withoutRedis() }, async () => {
    await using server = await startRedis();
    const pair = await startPair(0, server.port);
    const redis = new Redis({ port: pair.port });
    const blocked = redis.duplicate();
    const large = Buffer.alloc(3_000_000, 'verbena');
    await redis.set('large', large);
    assert.deepEqual(await redis.getBuffer('large'), large);
    const popped = blocked.blpop('list', 0);
    const pipeline = redis.pipeline();
    for (let i = 0; i < 1000; i += 1) pipeline.incr('counter');
    assert.deepEqual((await pipeline.exec())?.at(-1), [null, 1000]);
    await redis.rpush('list', 'word');
    assert.deepEqual(await popped, ['list', 'word']);
    await Promise.all([redis.quit(), blocked.quit()]);
    await pair.end();
  });

  it(
    'pg, to PostgreSQL: parameters, large rows, a transaction, a cancelled query',
    { skip: withoutPostgres() },
    async () => {
      await using server = await startPostgres();
      const pair = await startPair(1, server.port);
      const pool = new pg.Pool({ port: pair.port, host: '127.0.0.1', user: 'verbena', database: 'postgres', max: 4 });
      await pool.query('create table words (id int primary key, word text)');
      const inserted = Array.from({ length: 20 }, (_, id) =>
        pool.query('insert into words values ($1, $2)', [id, 'w'.repeat(id * 10_000)]),
      );
      await Promise.all(inserted);
      const { rows } = await pool.query<{ id: number; word: string }>('select * from words order by id');
      assert.deepEqual(
        rows.map(({ word }) => word.length),
        Array.from({ length: 20 }, (_, id) => id * 10_000),
      );
      const client = await pool.connect();
      await client.query('begin');
      await client.query('delete from words');
      await client.query('rollback');
      client.release();
      const [count] = (await pool.query<{ count: string }>('select count(*) from words')).rows;
      assert.equal(count.count, '20');
      await assert.rejects(pool.query('set statement_timeout = 1; select pg_sleep(10)'), { code: '57014' });
      await pool.end();
      await pair.end();
    },
  );
});
