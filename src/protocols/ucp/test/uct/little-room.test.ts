import assert from 'node:assert/strict';
import { it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import { acceptRc, AmHandlers, connectRc, MemoryDomain, UdInterface } from '../../uct/index.js';
import { UcsStatus } from '../../wire/index.js';
import { done, PORT, until } from '../support/transports.js';

it('endpoints that share few buffers all get their turn', () =>
  simulate(async (sim) => {
    const [one, other] = [sim.host('one'), sim.host('other')];
    // Four endpoints have 5 buffers each posted, so that 2 are left for all that is sent.
    const classes = [{ bytes: 4160, count: 1 }];
    const few = new MemoryDomain(new Engine(one.context, { poolBytes: 22 * 4160, poolClasses: classes }));
    const many = new MemoryDomain(new Engine(other.context));
    const listener = other.listen({ port: PORT });
    const counts = [0, 0, 0, 0];
    const ends = [];
    for (const [i] of counts.entries()) {
      const handlers = new AmHandlers();
      handlers.set(3, () => (counts[i] += 1));
      const accepting = listener.next().then((request) => acceptRc({ domain: many, handlers, window: 4 }, request));
      const own = { domain: few, handlers: new AmHandlers(), window: 4 };
      const there = await one.run(() => connectRc(own, { host: 'other', port: PORT }));
      ends.push({ there, back: await accepting });
    }
    listener.close();
    const sending = ends.flatMap(({ there }) =>
      Array.from({ length: 20 }, () => done(sim, there, () => there.amBcopy(3, { pack: () => 4000 }))),
    );
    await Promise.all(sending).then((statuses) => assert.ok(statuses.every((status) => status === UcsStatus.UCS_OK)));
    await until(sim, () => counts.every((count) => count === 20));
    for (const { there, back } of ends) {
      there.close();
      back.close();
    }
    few.engine.close();
    many.engine.close();
  }));

it('an endpoint that would leave no buffer for what is sent is not made', () =>
  simulate(async (sim) => {
    const [one, other] = [sim.host('one'), sim.host('other')];
    const classes = [{ bytes: 4160, count: 1 }];
    const few = new MemoryDomain(new Engine(one.context, { poolBytes: 5 * 4160, poolClasses: classes }));
    const many = new MemoryDomain(new Engine(other.context));
    const listener = other.listen({ port: PORT });
    const accepting = listener
      .next()
      .then((request) => acceptRc({ domain: many, handlers: new AmHandlers() }, request));
    const own = { domain: few, handlers: new AmHandlers(), window: 4 };
    const connecting = one.run(() => connectRc(own, { host: 'other', port: PORT }));
    await assert.rejects(connecting, { errno: 'ENOMEM' });
    accepting.catch(() => undefined);
    listener.close();
    few.engine.close();
    many.engine.close();
  }));

it('an interface for datagrams for which the completion queue has no room leaves no queue pair behind', () =>
  simulate((sim) => {
    const engine = new Engine(sim.host('one').context, { entries: 16, maxEntries: 16 });
    assert.throws(() => new UdInterface(new MemoryDomain(engine)), { errno: 'ENOMEM' });
    engine.close();
  }));
