import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc, type Connection, WcStatus } from '../../../entry/index.js';
import { type Sim, simulate } from '../../../entry/sim.js';

/** What the receive request of either side says after `end`. */
async function flushed(end: (server: Connection, client: Connection, sim: Sim) => void): Promise<string[]> {
  return simulate(async (sim) => {
    const listener = sim.host('server').listen({ port: 7174 });
    const accepted = listener.next().then((request) => request.accept());
    const client = await sim.host('client').connect({ host: 'server', port: 7174 });
    const server = await accepted;
    for (const each of [server, client]) each.postRecv(0n, each.regMsgs(alloc(64)).sge());
    end(server, client, sim);
    await sim.sleep(60e6);
    return [server, client].map(({ recvCq, qp }) => {
      const [wc] = recvCq?.poll(1) ?? [];
      assert.equal(wc.status, WcStatus.WR_FLUSH_ERR);
      return qp.context.explain(wc);
    });
  });
}

describe('a flushed request says who ended the connection', () => {
  it('the server', async () => {
    const [server, client] = await flushed((each) => each.id.disconnect());
    assert.match(server, /^flushed: .*, after the connection was ended here \(disconnect\)$/);
    assert.match(client, /^flushed: .*, after the peer ended the connection \(DREQ\)$/);
  });

  it('the client', async () => {
    const [server, client] = await flushed((_, each) => each.id.disconnect());
    assert.match(server, /after the peer ended the connection \(DREQ\)$/);
    assert.match(client, /after the connection was ended here \(disconnect\)$/);
  });
});
