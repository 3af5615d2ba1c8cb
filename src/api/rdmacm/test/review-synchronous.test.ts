import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { CmEventType, type CmId, createId, PortSpace, RefusedError, type VerbsError } from '../../../entry/index.js';
import { assertErrno, Pair, PASSIVE, PORT } from './support.js';

/** A synchronous identifier of the active side that may connect. */
function ready({ a }: Pair): CmId {
  const id = createId(undefined, PortSpace.TCP, { contexts: [a] });
  id.resolveAddr({ host: PASSIVE, port: PORT });
  id.resolveRoute();
  id.createQp();
  return id;
}

function refused(id: CmId): VerbsError {
  return assertErrno('ECONNREFUSED', () => id.connect());
}

describe('disconnect of a synchronous identifier', () => {
  it('returns at once where the connection was refused', () => {
    using pair = new Pair();
    const id = ready(pair);
    refused(id);
    id.disconnect();
    assert.equal(id.event, undefined);
  });

  it('returns at once where nobody has answered', () => {
    using pair = new Pair();
    pair.listen();
    const id = ready(pair);
    assertErrno('ETIMEDOUT', () => id.connect());
    for (let i = 0; i < 3; i += 1) id.disconnect();
  });

  it('takes the event that the peer has ended it, when that has come before', () => {
    using pair = new Pair();
    const listener = createId(undefined, PortSpace.TCP, { contexts: [pair.b] });
    listener.bindAddr({ port: PORT + 1 });
    listener.listen();
    const asking = pair.resolve(PORT + 1);
    asking.createQp();
    asking.connect();
    const id = listener.getRequest();
    id.createQp();
    id.accept();
    pair.active.getCmEvent().ack();
    asking.disconnect();
    id.disconnect();
    assert.equal(id.event?.event, CmEventType.DISCONNECTED);
    for (let i = 0; i < 3; i += 1) id.disconnect();
  });
});

describe('what a refusal looks like', () => {
  it('shows no private data byte by byte', () => {
    using pair = new Pair();
    const error = refused(ready(pair));
    assert.ok(error instanceof RefusedError);
    assert.equal(error.privateData.length, 148);
    assert.doesNotMatch(inspect(error), /privateData/);
  });
});
