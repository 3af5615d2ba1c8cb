import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClientMemory } from '../../gateway/client-memory.js';
import { Played, SlowStore, written } from './support/play.js';

const get = (key: string): Uint8Array => written('GET', key);
const set = (key: string): Uint8Array => written('SET', key, 'value');

describe('a connection of the gateway', () => {
  it('is answered in the order of its requests, whatever is ready first', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    played.say(get('a'), get('b'), written('PING'));
    await store.answer(1);
    assert.equal(played.sent, '');
    await store.answer(0);
    assert.equal(played.sent, '$1\r\na\r\n$1\r\nb\r\n+PONG\r\n');
  });

  it('has requests carried out side by side', () => {
    const store = new SlowStore(true);
    new Played(store.store).say(set('a'), get('a'), get('b'), set('c'));
    assert.deepEqual(store.open, ['set a', 'get a', 'get b', 'set c']);
  });

  it('has requests about one key carried out in turn where the store does not keep the order', async () => {
    const store = new SlowStore(false);
    new Played(store.store).say(set('a'), get('a'), get('b'), get('a'));
    assert.deepEqual(store.open, ['set a', 'get b']);
    await store.answer(0);
    assert.deepEqual(store.open, ['get b', 'get a']);
    await store.answer(1);
    assert.deepEqual(store.open, ['get b', 'get a']);
  });

  it('changes nothing that a command before is about to read: a long value is read in two steps', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    played.say(get('a'), get('b'), set('a'), get('c'));
    assert.deepEqual(store.open, ['get a', 'get b']);
    await store.answer(1);
    assert.deepEqual(store.open, ['get a']);
    await store.answer();
    assert.deepEqual(store.open, ['set a', 'get c']);
  });

  it('changes several keys when all is read that was asked for before', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    played.say(get('a'), get('b'), written('MSET', 'c', '1', 'd', '2'), get('e'));
    assert.deepEqual(store.open, ['get a', 'get b']);
    await store.answer();
    assert.deepEqual(store.open, ['get b']);
    await store.answer();
    assert.deepEqual(store.open, ['set c', 'set d', 'get e']);
  });

  for (const end of ['EXEC', 'discard'])
    it(`does nothing of a transaction, which it cannot do as one step, up to ${end}`, () => {
      const store = new SlowStore(true);
      const played = new Played(store.store);
      played.say(written('multi'), set('a'), written('MULTI'), written(end), get('b'));
      assert.deepEqual(store.open, ['get b']);
      const lines = played.sent.split('\r\n').map((line) => line.split(' ', 2).join(' '));
      assert.deepEqual(lines, ['-ERR there', '-ERR not', '-ERR not', '-EXECABORT Transaction', '']);
    });

  it('ends a transaction that was refused with the first command after the answer', () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    played.say(written('MULTI'));
    played.say(get('a'), written('EXEC'));
    assert.deepEqual(store.open, ['get a']);
    played.say(written('MULTI'), get('b'));
    played.say(get('c'), written('EXEC'), get('d'));
    assert.deepEqual(store.open, ['get a', 'get d']);
  });

  it('keeps to a transaction that was refused while its commands come in pieces', () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    const [first, second] = [written('MULTI'), set('a')];
    played.say(first, second.subarray(0, 9));
    played.say(second.subarray(9), set('b'));
    played.say(written('EXEC'), get('c'));
    assert.deepEqual(store.open, ['get c']);
  });

  it('answers each command in the version that was asked for before it', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    played.say(
      get('a'),
      written('HELLO', '3'),
      written('CLIENT', 'GETNAME'),
      written('RESET'),
      written('CLIENT', 'GETNAME'),
    );
    await store.answer();
    assert.match(played.sent, /^\$1\r\na\r\n%7\r\n[^]*\r\n_\r\n\+RESET\r\n\$-1\r\n$/);
  });

  it('begins nothing while a long value is on its way', async () => {
    const store = new SlowStore(true);
    new Played(store.store).say(written('SET', 'a', 'x'.repeat(4000)), get('a'));
    assert.deepEqual(store.open, ['set a']);
    await store.answer();
    assert.deepEqual(store.open, ['get a']);
  });

  it('begins nothing while a command of several steps is under way', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    played.say(written('SET', 'a', 'new', 'XX', 'GET'), get('a'));
    assert.deepEqual(store.open, ['entry a']);
    await store.answer();
    assert.deepEqual(store.open, ['cas a']);
    await store.answer();
    assert.deepEqual(store.open, ['get a']);
    assert.equal(played.sent, '$3\r\nold\r\n');
  });

  it('has only so many requests under way, and is read no further meanwhile', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store, { maxUnderWay: 2 });
    played.say(get('a'), get('b'), get('c'), get('d'));
    assert.deepEqual(store.open, ['get a', 'get b']);
    assert.equal(played.isReading, false);
    await store.answer();
    assert.deepEqual(store.open, ['get b', 'get c']);
    await store.answer();
    assert.equal(played.isReading, true);
  });

  it('has of a key that MSET names twice the last value set, and no other', () => {
    const store = new SlowStore(true);
    new Played(store.store).say(written('MSET', 'a', '1', 'b', '2', 'a', '3'));
    assert.deepEqual(store.open, ['set a', 'set b']);
  });

  it('has only so many keys under way, however many a command has', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store, { maxUnderWay: 4 });
    played.say(written('MGET', 'a', 'b', 'c'), written('MGET', 'd', 'e', 'f'), get('g'));
    assert.deepEqual(
      store.open,
      ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => `get ${key}`),
    );
    for (let i = 0; i < 3; i += 1) await store.answer();
    assert.deepEqual(
      store.open,
      ['d', 'e', 'f', 'g'].map((key) => `get ${key}`),
    );
  });

  it('is ended when more is kept for its client than for any other, and there is no room for all', () => {
    const memory = new ClientMemory(10_500);
    const limits = { maxUnsentBytes: 1e6 };
    const [modest, greedy] = [1, 2].map(() => new Played(new SlowStore(true).store, limits, memory));
    for (const played of [greedy, modest]) played.reads = false;
    const echo = (bytes: number): Uint8Array => written('ECHO', 'x'.repeat(bytes));
    modest.say(echo(1000));
    for (let i = 0; i < 3; i += 1) greedy.say(echo(3000));
    assert.equal(greedy.end, undefined);
    modest.say(echo(1000));
    assert.deepEqual([greedy.end, modest.end], ['destroyed', undefined]);
    assert.equal(greedy.totals.evicted, 1);
    assert.equal(memory.total, modest.unsentBytes);
  });

  it('counts what waits for answers before it, and parts of requests', async () => {
    const memory = new ClientMemory(1e6);
    const store = new SlowStore(true);
    const played = new Played(store.store, {}, memory);
    played.say(get('a'), written('ECHO', 'x'.repeat(3000)));
    const kept = [memory.total];
    await store.answer();
    kept.push(memory.total);
    played.say(written('ECHO', 'x'.repeat(2000)).subarray(0, 1000));
    kept.push(memory.total);
    // Of the part of a request all but its head.
    assert.deepEqual(kept, [3000, 0, 1000 - '*2\r\n$4\r\nECHO\r\n$2000\r\n'.length]);
  });

  it('of a client that does not read its answers has no more of them than the bound', () => {
    const played = new Played(new SlowStore(true).store);
    played.reads = false;
    const request = written('ECHO', 'x'.repeat(100));
    for (let i = 0; i < 1000; i += 1) if (played.isReading) played.say(request);
    assert.equal(played.isReading, false);
    // Those that were begun when there was room are answered, too.
    assert.ok(played.unsentBytes <= 1000 + 16 * 110, `${played.unsentBytes} bytes are kept`);
    played.reads = true;
    played.drain();
    assert.equal(played.isReading, true);
  });

  it('answers what was asked before what is no request, says what is wrong, and ends', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    played.say(get('a'), Buffer.from('*1\r\n+OK\r\n'), get('b'));
    assert.equal(played.end, undefined);
    await store.answer();
    assert.equal(played.sent, "$1\r\na\r\n-ERR Protocol error: expected '$', got '+'\r\n");
    assert.equal(played.end, 'ended');
    assert.equal(played.totals.faults, 1);
    assert.deepEqual(store.open, []);
  });

  it('is answered all that it has asked when it sends no more, and ends', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store, { maxUnderWay: 1 });
    played.say(get('a'), get('b'));
    played.session.onEnd();
    assert.equal(played.end, undefined);
    await store.answer();
    await store.answer();
    assert.equal(played.sent, '$1\r\na\r\n$1\r\nb\r\n');
    assert.equal(played.end, 'ended');
  });

  it('ends after QUIT, and heeds nothing behind it', () => {
    const played = new Played(new SlowStore(true).store);
    assert.equal(played.say(written('QUIT'), written('PING')), '+OK\r\n');
    assert.equal(played.end, 'ended');
  });

  it('has nothing to do with answers that come after it has gone', async () => {
    const store = new SlowStore(true);
    const played = new Played(store.store);
    played.say(get('a'));
    played.session.onClosed();
    await store.answer();
    assert.equal(played.sent, '');
  });

  for (const line of ['POST / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\n', 'Host: 127.0.0.1:6379\r\n'])
    it(`ends at once what a page of a browser has sent: ${line.split(' ')[0]}`, () => {
      const played = new Played(new SlowStore(true).store);
      played.say(Buffer.from(`${line}\r\nPING\r\n`));
      assert.equal(played.end, 'destroyed');
      assert.equal(played.sent, '');
    });
});
