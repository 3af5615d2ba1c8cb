import { describe, it } from 'node:test';
import { connect, listen } from '../index.js';
import { simulate } from '../../../entry/sim.js';
import { Turns } from '../../../../test/support/turns.js';

const CLIENTS = ['alice', 'bob', 'carol', 'dave'];

describe('handlers of a listener', () => {
  it('have turns of their own, in the context of who serves, also when they fail', () =>
    simulate(async (sim) => {
      const turns = new Turns();
      const server = sim.host('server');
      const listener = turns.as('listener', () => listen({ port: 7174, context: server.context }));
      const served = turns.as('server', () =>
        listener.serve(
          async (request) => {
            turns.enter('handler', 'server');
            const connection = await request.accept();
            await connection.closed;
            throw new Error('a mistake');
          },
          { onError: () => turns.enter('error', 'server') },
        ),
      );
      const clients = await Promise.all(
        CLIENTS.map((name) => turns.as(name, () => sim.host(name).run(() => connect({ host: 'server', port: 7174 })))),
      );
      await sim.sleep(1000);
      turns.check({ handler: CLIENTS.length });
      await Promise.all(clients.map((connection) => connection.close()));
      await sim.sleep(1000);
      turns.check({ handler: CLIENTS.length, error: CLIENTS.length });
      listener.close();
      await served;
    }));
});
