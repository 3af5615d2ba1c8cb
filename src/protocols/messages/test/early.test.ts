import assert from 'node:assert/strict';
import { it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { connect } from '../index.js';
import { Endpoint } from '../connection/endpoint.js';
import { ownBytes } from '../connection/taking.js';
import { decodeHello, encodeHello, type Hello } from '../protocol/hello.js';
import { PORT, text, words } from './support/pair.js';

const MINUTE_US = 60_000_000;

const HELLO: Hello = { window: 4, maxWindow: 64, bufferBytes: 4096, maxMessageBytes: 100_000 };

it('what a peer says that comes, talks and goes before the program has noticed is heard nevertheless', () =>
  simulate(async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    const engine = Engine.of(server.context);
    const hold = engine.hold();
    const request = server.listen({ port: PORT }).next();
    const talking = client.run(async () => {
      const connection = await connect({ host: 'server', port: PORT });
      await connection.send(text('hello and'));
      await connection.send(text('goodbye'));
      await connection.close();
    });
    let endpoint: Endpoint | undefined;
    const accepted = await (
      await request
    ).accept({
      privateData: encodeHello(HELLO),
      createQp: (id) => {
        endpoint = new Endpoint(id, HELLO);
      },
    });
    await talking;
    await accepted.closed;
    assert.ok(endpoint !== undefined);
    const peer = decodeHello(accepted.privateData);
    assert.ok(typeof peer !== 'string');
    endpoint.begin(peer, accepted);
    for (const said of ['hello and', 'goodbye']) {
      const received = await endpoint.inbox.next();
      assert.equal(words(received && ownBytes(received, endpoint)), said);
    }
    assert.equal(await endpoint.inbox.next(), undefined);
    assert.equal(endpoint.failure, undefined);
    accepted[Symbol.dispose]();
    endpoint.destroyed();
    hold.release();
    assert.equal(engine.pool.leased, 0);
  }));

it('a connection whose peer has said farewell before the program has noticed looks after nobody', () =>
  simulate(async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    const engine = Engine.of(server.context);
    const hold = engine.hold();
    const request = server.listen({ port: PORT }).next();
    const talking = client.run(async () => (await connect({ host: 'server', port: PORT })).close());
    let endpoint: Endpoint | undefined;
    const accepted = await (
      await request
    ).accept({
      privateData: encodeHello(HELLO),
      createQp: (id) => {
        endpoint = new Endpoint(id, HELLO, 1000);
      },
    });
    while (engine.statistics.completions === 0) await sim.sleep(1);
    assert.ok(endpoint !== undefined);
    const peer = decodeHello(accepted.privateData);
    assert.ok(typeof peer !== 'string');
    endpoint.begin(peer, accepted);
    assert.ok(endpoint.hasEnded);
    accepted[Symbol.dispose]();
    endpoint.destroyed();
    hold.release();
    await talking;
    await sim.sleep(MINUTE_US);
    const { nowUs } = sim;
    sim.at(nowUs + MINUTE_US, () => undefined);
    let wakeUps = 0;
    while (sim.nowUs < nowUs + MINUTE_US && sim.step()) wakeUps += 1;
    assert.ok(wakeUps < MINUTE_US / 1_000_000, `${wakeUps} times something was due`);
  }));
