import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, alloc, type CmId, createId, PortSpace, SendFlags, WcStatus } from '../../../entry/index.js';
import { assertErrno, assertRejects, message, Pair, textOf } from './support.js';

function connected(pair: Pair): readonly [CmId, CmId] {
  pair.listen();
  return pair.connect({}, { cap: { maxSendSge: 2, maxRecvSge: 2, maxInlineData: 64 } });
}

describe('memory of an identifier', () => {
  it('is registered with the access that its use needs', () => {
    using pair = new Pair();
    const id = pair.resolve();
    const memory = alloc(64);
    const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE } = AccessFlags;
    assert.equal(id.regMsgs(memory).access, LOCAL_WRITE);
    assert.equal(id.regRead(memory).access, LOCAL_WRITE | REMOTE_READ);
    assert.equal(id.regWrite(memory).access, LOCAL_WRITE | REMOTE_WRITE);
  });

  it('needs a device', () => {
    using pair = new Pair();
    assertErrno('EINVAL', () => createId(pair.active, PortSpace.TCP).regMsgs(alloc(8)));
  });
});

describe('messages', () => {
  it('are gathered and scattered', () => {
    using pair = new Pair();
    const [a, b] = connected(pair);
    const room = message(b, '');
    b.postRecvv(1, [room.sge(0, 3), room.sge(100, 10)]);
    const text = message(a, 'abcdefgh');
    a.postSendv(2, [text.sge(4, 4), text.sge(0, 4)], SendFlags.SIGNALED);
    assert.equal(b.getRecvComp().byteLen, 8);
    assert.equal(Buffer.from(room.bytes).toString('utf8', 0, 3), 'efg');
    assert.equal(Buffer.from(room.bytes).toString('utf8', 100, 105), 'habcd');
  });

  it('may be bytes that are taken while posting', () => {
    using pair = new Pair();
    const [a, b] = connected(pair);
    const room = message(b, '');
    b.postRecv(1, room.sge());
    a.postSend(2, { bytes: Buffer.from('inline') }, SendFlags.SIGNALED | SendFlags.INLINE);
    b.getRecvComp();
    assert.equal(textOf(room.bytes), 'inline');
  });

  it('need a queue pair', () => {
    using pair = new Pair();
    const id = pair.resolve();
    assertErrno('EINVAL', () => id.postSend(1, message(id, '').sge()));
    assertErrno('EINVAL', () => id.postRecv(1, message(id, '').sge()));
    assertErrno('EINVAL', () => id.getRecvComp(0));
  });
});

describe('completions', () => {
  it('are waited for as long as is said', () => {
    using pair = new Pair();
    const [a] = connected(pair);
    assertErrno('ETIMEDOUT', () => a.getSendComp(3));
  });

  it('come in the event loop, in their order', async () => {
    using pair = new Pair();
    const [a, b] = connected(pair);
    const room = message(b, '');
    for (const wrId of [1, 2, 3]) b.postRecv(wrId, room.sge());
    const awaited = [b.nextRecvComp(), b.nextRecvComp(), b.nextRecvComp()];
    for (const wrId of [1, 2, 3]) a.postSend(wrId, message(a, 'x').sge(0, 1), SendFlags.SIGNALED);
    assert.deepEqual(
      (await Promise.all(awaited)).map(({ wrId }) => wrId),
      [1n, 2n, 3n],
    );
    assert.equal((await a.nextSendComp()).status, WcStatus.SUCCESS);
  });

  it('are no longer awaited after an abort, and go to the next who waits', async () => {
    using pair = new Pair();
    const [a, b] = connected(pair);
    b.postRecv(1, message(b, '').sge());
    const controller = new AbortController();
    const given = b.nextRecvComp(controller.signal);
    controller.abort(new Error('enough'));
    await assert.rejects(given, /enough/);
    a.postSend(1, message(a, 'x').sge(0, 1));
    assert.equal((await b.nextRecvComp()).wrId, 1n);
    await assert.rejects(b.nextRecvComp(AbortSignal.abort(new Error('at once'))), /at once/);
  });

  it('are no longer awaited when the queue pair ends', async () => {
    using pair = new Pair();
    const [a] = connected(pair);
    const awaited = a.nextSendComp();
    a.destroyQp();
    await assertRejects('ECANCELED', awaited);
  });
});
