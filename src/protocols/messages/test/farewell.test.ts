import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, type SimHost, simulate } from '../../../entry/sim.js';
import { connect, listen, type MessageConnection } from '../index.js';

const PORT = 7174;
const ANSWER = Uint8Array.of(1, 2, 3);

const hostsOf = (sim: Sim) => [sim.host('server'), sim.host('client')] as const;

/** A client that takes an answer, and closes the connection at once. @returns what became of the server's sends */
async function ask<T>(
  [server, client]: readonly [SimHost, SimHost],
  answer: (connection: MessageConnection) => Promise<T>,
): Promise<T> {
  const listener = listen({ port: PORT, context: server.context });
  const answered = new Promise<T>((resolve, reject) => {
    void listener.serve((connection) => answer(connection).then(resolve, reject));
  });
  const connection = await client.run(() => connect({ host: 'server', port: PORT }));
  assert.deepEqual(await connection.receive(), ANSWER);
  await connection.close();
  listener.close();
  return await answered;
}

describe('a peer that closes the connection', () => {
  it('has what arrived before, as its sender learns though the acknowledgement was lost', () =>
    simulate(async (sim) => {
      const hosts = hostsOf(sim);
      sim.drop({ opcode: 'RC_ACKNOWLEDGE', from: 'client', first: 1 });
      await ask(hosts, (connection) => connection.send(ANSWER));
    }));

  it('takes no more: what had to wait for room is refused', () =>
    simulate(async (sim) => {
      const fates = await ask(hostsOf(sim), async (connection) => {
        const sends = Array.from({ length: 50 }, () => connection.send(ANSWER));
        return Promise.allSettled(sends);
      });
      const last = fates[fates.length - 1];
      assert.equal(fates[0].status, 'fulfilled');
      assert.ok(last.status === 'rejected');
      assert.match(String(last.reason), /the peer has closed the connection/);
    }));
});
