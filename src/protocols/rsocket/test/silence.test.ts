import assert from 'node:assert/strict';
import { it } from 'node:test';
import { connectStream, listenStreams, type RsocketStreamSocket } from '../index.js';
import { simulate } from '../../../entry/sim.js';
import { PORT } from './support/streams.js';

const STREAMS = 100;
const MINUTE_US = 60_000_000;
/** A second, in which what making a stream has left over is done. */
const SETTLE_US = 1_000_000;
/** Times at which an adapter looks whether it is time yet for a timer that lies far off. */
const LOOKS = 20;

it('streams on which nothing is said send nothing and wake nobody', () =>
  simulate(async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    const listener = listenStreams({ port: PORT, context: server.context });
    const accepted: RsocketStreamSocket[] = [];
    listener.onStream = (stream) => accepted.push(stream);
    const streams: RsocketStreamSocket[] = [];
    for (let i = 0; i < STREAMS; i += 1)
      streams.push(await client.run(() => connectStream({ host: 'server', port: PORT })));
    await sim.sleep(SETTLE_US);
    assert.equal(accepted.length, STREAMS);
    const packets = sim.packets().length;
    const { nowUs } = sim;
    let wakeUps = 0;
    sim.at(nowUs + MINUTE_US, () => {});
    while (sim.nowUs < nowUs + MINUTE_US && sim.step()) wakeUps += 1;
    assert.equal(sim.packets().length, packets);
    assert.ok(wakeUps <= LOOKS, `${wakeUps} times something was due`);
    for (const stream of [...streams, ...accepted]) stream.close(0);
    listener.close();
  }));
