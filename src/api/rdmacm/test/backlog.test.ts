import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CmEventType,
  type CmId,
  createEp,
  createId,
  getAddrInfo,
  listen,
  PortSpace,
  type VerbsError,
} from '../../../entry/index.js';
import { relayEvent } from '../events/event-channel.js';
import { assertErrno, next, Pair, PASSIVE, PORT } from './support.js';

/** A client repeats its request after 4.6 s. */
const REPEAT_MS = 5000;

/** Two clients, one after the other, that connect to the passive side. */
function ask(pair: Pair, portSpace: PortSpace = PortSpace.TCP): void {
  for (let i = 0; i < 2; i += 1) {
    const id = pair.resolve(PORT, portSpace);
    if (portSpace === PortSpace.TCP) id.createQp();
    id.connect();
  }
}

/** Lets time pass for the passive side, which takes nothing. */
function pass(pair: Pair, ms: number): void {
  assertErrno('ETIMEDOUT', () => pair.active.getCmEvent(ms));
}

function listening(pair: Pair, host: string, portSpace: PortSpace = PortSpace.TCP): CmId {
  const id = createId(pair.passive, portSpace);
  id.bindAddr({ host, port: PORT });
  id.listen(1);
  return id;
}

/** Requests that were taken and none of which was answered, in the ways that a program has. */
const WAYS: Readonly<Record<string, (pair: Pair) => CmId>> = {
  getCmEvent: ({ passive }) => passive.getCmEvent(0).id,
  tryGetCmEvent: ({ passive }) => passive.tryGetCmEvent()?.id ?? assert.fail('no event'),
};

describe('a backlog counts the requests that the program has not taken', () => {
  for (const [way, take] of Object.entries(WAYS))
    for (const [what, host, portSpace] of [
      ['connections', PASSIVE, PortSpace.TCP],
      ['connections at a wildcard', '0.0.0.0', PortSpace.TCP],
      ['datagrams', PASSIVE, PortSpace.UDP],
    ] as const)
      it(`by ${way}, of ${what}`, () => {
        using pair = new Pair();
        listening(pair, host, portSpace);
        ask(pair, portSpace);
        pass(pair, 3 * REPEAT_MS);
        const first = take(pair);
        assert.equal(pair.passive.tryGetCmEvent(), undefined);
        pass(pair, REPEAT_MS);
        const second = take(pair);
        for (const request of [first, second]) request.reject();
      });

  it('by getRequest of a synchronous identifier', async () => {
    using pair = new Pair();
    const [info] = await getAddrInfo(PASSIVE, PORT, { passive: true });
    const id = createEp(info, undefined, undefined, { contexts: [pair.b] });
    id.listen(1);
    ask(pair);
    pass(pair, REPEAT_MS);
    id.getRequest(0);
    pass(pair, REPEAT_MS);
    id.getRequest(0);
    id[Symbol.dispose]();
  });

  it('by a loop over a listener, whose handlers answer late', async () => {
    using pair = new Pair();
    const listener = listen({ port: PORT, context: pair.b, backlog: 1 });
    ask(pair);
    pass(pair, REPEAT_MS);
    await listener.next();
    await listener.next();
    listener.close();
  });

  it('not when the peer takes its request back, until the program has taken that', () => {
    using pair = new Pair();
    listening(pair, PASSIVE);
    const client = pair.resolve();
    client.createQp();
    client.connect();
    pass(pair, 10);
    client.destroy();
    const late = pair.resolve();
    late.createQp();
    late.connect();
    pass(pair, 2 * REPEAT_MS);
    assert.throws(
      () => next(pair.passive, CmEventType.CONNECT_REQUEST).id.accept(),
      (error: VerbsError) => {
        assert.equal(error.errno, 'EINVAL');
        return true;
      },
    );
    pass(pair, REPEAT_MS);
    assert.equal(next(pair.passive, CmEventType.REJECTED).status, 4);
    next(pair.passive, CmEventType.CONNECT_REQUEST);
  });
});

it('a request that was ended before the program took it does no harm to other identifiers of the device', () => {
  using pair = new Pair();
  listening(pair, PASSIVE);
  const bystander = createId(pair.passive, PortSpace.TCP);
  bystander.bindAddr({ host: PASSIVE, port: PORT + 1 });
  bystander.listen();
  const client = pair.resolve();
  client.createQp();
  client.connect();
  pass(pair, 10);
  const event = relayEvent(pair.passive) ?? assert.fail('no request');
  event.id.destroy();
  event.taken();
  event.ack();
  const other = pair.resolve(PORT + 1);
  other.createQp();
  other.connect();
  next(pair.passive, CmEventType.CONNECT_REQUEST).id.reject();
});
