import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { registerInEtcd } from '../../etcd/index.js';
import { type Answers, Impostor, json, ORDINARY, TestTime } from './impostor.js';

const SERVER: Parameters<typeof registerInEtcd>[0] = {
  address: { host: '127.0.0.1', port: 7001 },
  epoch: 1,
  mode: 'cache',
};

const ignore = (): void => undefined;

describe('a server that enters itself in what is not etcd', () => {
  it('is not kept busy for ever by one that refuses each change', async () => {
    await using impostor = await Impostor.begin({ 'kv/txn': json({}) });
    await assert.rejects(registerInEtcd(SERVER, { endpoints: impostor.url }), { errno: 'EPROTO' });
    assert.ok(impostor.times('kv/txn') <= 100, `${impostor.times('kv/txn')} times`);
  });

  it('has left nothing behind when it is refused', async () => {
    await using impostor = await Impostor.begin({ 'kv/txn': json({ error: 'no space' }, 500) });
    await assert.rejects(registerInEtcd(SERVER, { endpoints: impostor.url }), { errno: 'EIO', message: /no space/ });
    assert.equal(impostor.times('lease/revoke'), 1);
  });

  it('is told when it is granted a lease that is no number', async () => {
    await using impostor = await Impostor.begin({ 'lease/grant': json({ ID: 'x'.repeat(100) }) });
    await assert.rejects(registerInEtcd(SERVER, { endpoints: impostor.url }), { errno: 'EPROTO' });
  });
});

/** What `kv/range` answers where the server's name is another's. */
const takenBy = (epoch: number): Answers[string] =>
  json({
    kvs: [
      {
        key: btoa('/verbena/kv/default/servers/127.0.0.1:7001'),
        value: btoa(`{"host":"127.0.0.1","port":7001,"epoch":${epoch}}`),
        mod_revision: '3',
        lease: '9',
      },
    ],
  });

describe('a registration', () => {
  it('gives way to one that came later at the same address, and tells of it', async () => {
    using time = new TestTime();
    let isTaken = false;
    const range: Answers[string] = (response) => (isTaken ? takenBy(2) : ORDINARY['kv/range'])(response);
    await using impostor = await Impostor.begin({ 'kv/range': range });
    const problems: string[] = [];
    const onProblem = ({ message }: Error): void => void problems.push(message);
    await using red = await registerInEtcd(SERVER, { endpoints: impostor.url, onProblem });
    isTaken = true;
    await time.until(impostor, () => problems.length > 0);
    assert.match(problems[0], /another server has the name 127\.0\.0\.1:7001/);
    assert.equal(impostor.times('kv/txn'), 1);
    isTaken = false;
    await time.until(impostor, () => red.problem === undefined);
    assert.equal(impostor.times('kv/txn'), 2);
  });

  it('is refused for a server that is registered under that name', async () => {
    await using impostor = await Impostor.begin({ 'kv/range': takenBy(1), 'lease/timetolive': json({ TTL: '-1' }) });
    using time = new TestTime();
    let failure: unknown;
    registerInEtcd(SERVER, { endpoints: impostor.url }).catch((error: unknown) => (failure = error));
    await time.until(impostor, () => failure !== undefined);
    assert.match(String(failure), /registered as 127\.0\.0\.1:7001 already.*EBUSY/);
  });

  it('has told etcd once any of those is done that close it', async () => {
    let answer: () => void = ignore;
    const revoke: Answers[string] = (response) => (answer = () => ORDINARY['lease/revoke'](response));
    await using impostor = await Impostor.begin({ 'lease/revoke': revoke });
    const red = await registerInEtcd(SERVER, { endpoints: impostor.url });
    void red.close();
    let isClosed = false;
    const closed = red.close().then(() => (isClosed = true));
    while (impostor.times('lease/revoke') === 0) await impostor.turns();
    assert.equal(isClosed, false);
    answer();
    await closed;
    assert.equal(impostor.times('lease/revoke'), 1);
  });

  it('ends with its server', async () => {
    await using impostor = await Impostor.begin();
    let end: () => void = ignore;
    const closed = new Promise<void>((resolve) => (end = resolve));
    await using red = await registerInEtcd({ ...SERVER, closed }, { endpoints: impostor.url });
    assert.equal(red.problem, undefined);
    end();
    while (impostor.times('lease/revoke') === 0) await impostor.turns();
  });

  it('tries again before its lease has run out when an answer is missing', async () => {
    using time = new TestTime();
    const keepAlive: Answers[string] = (response) => {
      // The first is never answered.
      if (impostor.times('lease/keepalive') > 1) ORDINARY['lease/keepalive'](response);
    };
    await using impostor = await Impostor.begin({ 'lease/keepalive': keepAlive });
    await using red = await registerInEtcd(SERVER, { endpoints: impostor.url, ttlMs: 3000, onProblem: ignore });
    await time.until(impostor, () => impostor.times('lease/keepalive') === 2);
    assert.ok(time.nowMs < 3000, `${time.nowMs} ms`);
    await time.until(impostor, () => red.problem === undefined);
  });

  it('tells of a problem once, however often that is met', async () => {
    using time = new TestTime();
    let fails = false;
    const keepAlive: Answers[string] = (response) =>
      (fails ? json({ error: `trouble ${impostor.times('lease/keepalive')}` }) : ORDINARY['lease/keepalive'])(response);
    await using impostor = await Impostor.begin({ 'lease/keepalive': keepAlive });
    const problems: string[] = [];
    const onProblem = ({ message }: Error): void => void problems.push(message);
    await using red = await registerInEtcd(SERVER, { endpoints: impostor.url, onProblem });
    for (const outages of [1, 2]) {
      fails = true;
      const asked = impostor.times('lease/keepalive');
      await time.until(impostor, () => impostor.times('lease/keepalive') > asked + 3 && red.problem !== undefined);
      assert.equal(problems.length, outages);
      fails = false;
      await time.until(impostor, () => red.problem === undefined);
    }
  });

  it('goes on though the program throws when it is told of a problem', async () => {
    using time = new TestTime();
    const keepAlive: Answers[string] = (response) => {
      if (impostor.times('lease/keepalive') === 1) response.destroy();
      else ORDINARY['lease/keepalive'](response);
    };
    await using impostor = await Impostor.begin({ 'lease/keepalive': keepAlive });
    const onProblem = (): void => {
      throw new Error('a program that throws when it is told');
    };
    await using red = await registerInEtcd(SERVER, { endpoints: impostor.url, onProblem });
    await time.until(impostor, () => impostor.times('lease/keepalive') >= 2 && red.problem === undefined);
  });
});
