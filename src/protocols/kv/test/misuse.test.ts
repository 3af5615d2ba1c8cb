import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { createStore, serve } from '../index.js';
import { serveRedis } from '../gateway/index.js';
import { newStore, PORT, served, text } from './support/served.js';

/** As a program in JavaScript may hand it over. */
const anything = (value: unknown): never => value as never;

const isInvalid = (message: RegExp) => ({ name: 'VerbsError', code: 'EINVAL', message });

describe('a program that calls a client of a store wrongly', () => {
  const lists: readonly (readonly [what: string, items: unknown, message: RegExp])[] = [
    ['null', null, /keys is null/],
    ['a text, which has letters to go through', 'key', /keys is 'key'.*list/],
    ['a number', 5, /keys is 5/],
    ['an object', {}, /keys is/],
  ];
  for (const [what, items, message] of lists)
    it(`is refused ${what} in place of keys`, () =>
      simulate(async (sim) => {
        using client = await served(sim).client();
        await assert.rejects(client.getMany(anything(items)), isInvalid(message));
        await assert.rejects(client.deleteMany(anything(items)), isInvalid(message));
      }));

  it('is refused what is no list of settings', () =>
    simulate(async (sim) => {
      using client = await served(sim).client();
      await assert.rejects(client.setMany(anything(null)), isInvalid(/entries is null/));
      await assert.rejects(client.setMany(anything([null])), isInvalid(/an entry/));
      await assert.rejects(client.setMany(anything(new Map([['key', 'value']]))), isInvalid(/an entry/));
      await assert.rejects(client.setMany(anything([{ key: 'key', valeu: 'value' }])), isInvalid(/valeu/));
    }));

  it('is refused a text that has no UTF-8, which others have as well', () =>
    simulate(async (sim) => {
      using client = await served(sim).client();
      for (const half of ['\ud800', 'a\udfff', '\udc00\ud800']) {
        await assert.rejects(client.get(half), isInvalid(/the key|key has half of a surrogate pair.*bytes/));
        await assert.rejects(client.set('key', half), isInvalid(/value has half of a surrogate pair/));
        await assert.rejects(client.scanPage(0n, { prefix: half }), isInvalid(/prefix has half/));
      }
      await client.set('\u{1f600}', '\ufffd');
      assert.equal(text(await client.get('\u{1f600}')), '\ufffd');
    }));
});

describe('a program that gives an entry the time that another has', () => {
  it('may hand on what ttl said, also of one that lives for ever', () =>
    simulate(async (sim) => {
      using client = await served(sim).client();
      await client.set('one', '1');
      const ttlMs = await client.ttl('one');
      await client.set('two', '2', { ttlMs });
      assert.equal(await client.ttl('two'), Infinity);
      await client.touch('two', 5000);
      assert.equal(await client.touch('two', Infinity), true);
      assert.equal(await client.ttl('two'), Infinity);
    }));
});

describe('a program that makes a store wrongly', () => {
  it('is told so of the call that it made', () => {
    const wrong = [{ mode: 'chace' }, { maxValueBytes: -1 }, { memoryBytes: 1 }, { size: 5 }, null];
    for (const options of wrong)
      assert.throws(() => createStore(anything(options)), { code: 'EINVAL', message: /^createStore/ });
  });
});

describe('a program that serves a store twice', () => {
  it('is refused, until the first server was closed', () =>
    simulate((sim) => {
      const { context } = sim.host('server');
      const store = newStore();
      const server = serve({ store, context, port: PORT });
      assert.throws(() => serve({ store, context, port: PORT + 1 }), { code: 'EBUSY', message: /another server/ });
      server.close();
      serve({ store, context, port: PORT + 1 }).close();
      return Promise.resolve();
    }));

  it('may serve it after it could not listen', () =>
    simulate((sim) => {
      const { context } = sim.host('server');
      const store = newStore();
      using other = serve({ context, port: PORT });
      assert.throws(() => serve({ store, context, port: PORT }), { code: 'EADDRINUSE' });
      other.close();
      serve({ store, context, port: PORT + 1 }).close();
      return Promise.resolve();
    }));
});

describe('a program that opens a gateway wrongly', () => {
  const client = { get: () => Promise.resolve(undefined) };
  const wrong: readonly (readonly [options: unknown, message: RegExp])[] = [
    [{ client: null }, /client is null/],
    [{ client, host: '' }, /host is/],
    [{ client, host: 5 }, /host is 5/],
    [{ client, path: '' }, /path is/],
    [{ client, path: 7 }, /path is 7/],
  ];
  for (const [options, message] of wrong)
    it(`is told so: ${message.source}`, () => assert.rejects(serveRedis(anything(options)), isInvalid(message)));
});
