import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KvMember } from '../../index.js';
import { etcdMembership, type EtcdOptions } from '../../etcd/index.js';
import { type Answers, Impostor, json, ORDINARY, TestTime } from './impostor.js';

const entry = (key: string, value: string): object => ({
  key: btoa(`/verbena/kv/default/${key}`),
  value: btoa(value),
  mod_revision: '3',
  lease: '9',
});

type Lists = AsyncIterator<readonly KvMember[]>;

async function watched<T>(options: EtcdOptions, use: (lists: Lists) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  try {
    return await use(etcdMembership(options).watch(stop.signal)[Symbol.asyncIterator]());
  } finally {
    stop.abort();
  }
}

/** The servers of the next list, and what was told of problems. */
async function firstList(impostor: Impostor): Promise<readonly [readonly KvMember[], readonly string[]]> {
  const problems: string[] = [];
  const onProblem = ({ message }: Error): void => void problems.push(message);
  return watched({ endpoints: impostor.url, onProblem }, async (lists) => {
    const { value } = (await lists.next()) as IteratorYieldResult<readonly KvMember[]>;
    // Each problem has a turn of its own.
    await impostor.turns(10);
    return [value, problems];
  });
}

describe('what answers in place of etcd', () => {
  const WATCHES: Answers = {
    'that end at once': (response) => void response.end(),
    'that are canceled at once': json({ result: { canceled: true } }),
    'that tell of changes without end': json({ result: { events: [{}] } }),
    'that make no sense': json({ result: [] }),
    'that are not there': json({}, 404),
  };
  for (const [what, watch] of Object.entries(WATCHES))
    it(`is not asked without a pause for its watches ${what}`, async () => {
      using time = new TestTime();
      await using impostor = await Impostor.begin({ watch });
      await watched({ endpoints: impostor.url, onProblem: () => undefined }, async (lists) => {
        await lists.next();
        const ended = lists.next();
        ended.catch(() => undefined);
        await impostor.turns(30);
        assert.equal(impostor.times('kv/range'), 1);
        await time.until(impostor, () => impostor.times('kv/range') === 2);
      });
    });

  it('is told apart from etcd by its status', async () => {
    await using impostor = await Impostor.begin({ 'kv/range': json({}, 500) });
    await assert.rejects(firstList(impostor), { errno: 'EPROTO', message: /is not etcd.*500/ });
  });

  it('is quoted when it says what is wrong, as etcd does, but for what would move the cursor', async () => {
    const error = json({ error: 'etcdserver: no\u001b[31m leader\r\u009b\u202e', code: 14 }, 503);
    await using impostor = await Impostor.begin({ 'kv/range': error });
    await assert.rejects(firstList(impostor), ({ message }: Error) => {
      assert.match(message, /etcd says: etcdserver: no.*leader/);
      assert.doesNotMatch(message, /\p{C}/u);
      return true;
    });
  });

  it('sends nobody elsewhere', async () => {
    await using other = await Impostor.begin();
    for (const status of [301, 302, 307, 308]) {
      await using impostor = await Impostor.begin({
        'kv/range': (response) => void response.writeHead(status, { location: `${other.url}/v3/kv/range` }).end(),
      });
      await assert.rejects(firstList(impostor), { errno: 'EPROTO', message: new RegExp(`is not etcd.*${status}`) });
    }
    assert.equal(other.times('kv/range'), 0);
  });

  it('is told what is wrong with an answer that is too long', async () => {
    await using impostor = await Impostor.begin({
      'kv/range': (response) => void response.end(`{"kvs":["${'x'.repeat(5 << 20)}"]}`),
    });
    await assert.rejects(firstList(impostor), { errno: 'EMSGSIZE', message: /more than \d+ bytes/ });
  });

  it('tells that there are more servers than clients can have', async () => {
    const kvs = Array.from({ length: 1100 }, (_, n) => entry(`servers/${n}`, '{"host":"a","port":1}'));
    await using impostor = await Impostor.begin({ 'kv/range': json({ kvs }) });
    const [members, problems] = await firstList(impostor);
    assert.equal(members.length, 1024);
    assert.match(problems.join(), /more servers than the 1024/);
  });

  it('has no server whose host would move the cursor of who reads of it', async () => {
    const hosts = ['\\u001b[31m', 'a b', 'a\\u202e', 'a\\u0000'];
    const kvs = hosts.map((host, n) => entry(`servers/${n}`, `{"host":"${host}","port":1}`));
    await using impostor = await Impostor.begin({ 'kv/range': json({ kvs }) });
    const [members, problems] = await firstList(impostor);
    assert.deepEqual([members, problems.length], [[], 4]);
  });

  it('has no key that would move the cursor of who is told of it', async () => {
    const key = Buffer.from('/verbena/kv/default/\u001b[31m\u202e\n').toString('base64');
    await using impostor = await Impostor.begin({ 'kv/range': json({ kvs: [{ key, value: '' }] }) });
    const [, problems] = await firstList(impostor);
    assert.equal(problems.length, 1);
    assert.doesNotMatch(problems[0], /\p{C}/u);
  });
});

describe('a client whose etcd fails now and then', () => {
  it('tells of it each time, and goes on', async () => {
    using time = new TestTime();
    let isThere = true;
    const range: Answers[string] = (response) => (isThere ? ORDINARY['kv/range'](response) : void response.destroy());
    await using impostor = await Impostor.begin({ 'kv/range': range, watch: (response) => void response.end() });
    const problems: string[] = [];
    const onProblem = ({ message }: Error): void => void problems.push(message);
    await watched({ endpoints: impostor.url, onProblem }, async (lists) => {
      await lists.next();
      const ended = lists.next();
      ended.catch(() => undefined);
      for (const outages of [1, 2]) {
        isThere = false;
        await time.until(impostor, () => problems.length === outages);
        isThere = true;
        const asked = impostor.times('watch');
        await time.until(impostor, () => impostor.times('watch') > asked);
      }
    });
    assert.match(problems[1], /no etcd answers/);
  });

  it('goes on to hear of servers though the program throws when it is told', async () => {
    using time = new TestTime();
    let answers = 0;
    const range: Answers[string] = (response) => {
      answers += 1;
      if (answers === 2) response.destroy();
      else json({ kvs: answers === 1 ? [] : [entry('servers/red', '{"host":"a","port":1}')] })(response);
    };
    await using impostor = await Impostor.begin({ 'kv/range': range, watch: (response) => void response.end() });
    const onProblem = (): void => {
      throw new Error('a program that throws when it is told');
    };
    await watched({ endpoints: impostor.url, onProblem }, async (lists) => {
      await lists.next();
      let next: IteratorResult<readonly KvMember[]> | undefined;
      void lists.next().then((found) => (next = found));
      await time.until(impostor, () => next !== undefined);
      assert.deepEqual(next?.done === false && next.value.map(({ name }) => name), ['red']);
    });
  });
});
