import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CmEventType, listen } from '../../src/index.js';
import { assertRejects, next, Pair, PORT } from './support.js';

describe('a program that closes its device under its identifiers', () => {
  it('is told so when it looks for events', () => {
    const pair = new Pair();
    const listener = pair.listen();
    pair.b.close();
    const event = pair.passive.tryGetCmEvent();
    assert.deepEqual([event?.event, event?.id], [CmEventType.DEVICE_REMOVAL, listener]);
  });

  it('is told so when it waits for events', () => {
    const pair = new Pair();
    pair.listen();
    pair.b.close();
    next(pair.passive, CmEventType.DEVICE_REMOVAL);
  });

  it('is told so when it awaits events', async () => {
    const pair = new Pair();
    pair.listen();
    const awaited = pair.passive[Symbol.asyncIterator]().next();
    pair.b.close();
    assert.equal((await awaited).value?.event, CmEventType.DEVICE_REMOVAL);
  });

  it('is told so when it awaits requests', async () => {
    const pair = new Pair();
    const listener = listen({ port: PORT, context: pair.b });
    const awaited = listener.next();
    pair.b.close();
    await assertRejects('EIO', awaited);
    listener.close();
  });
});
