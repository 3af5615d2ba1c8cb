import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { connect, listen, type MessageConnection } from '../index.js';
import { Turns } from '../../../../test/support/turns.js';
import { PORT, text } from './support/pair.js';

const CLIENTS = ['alice', 'bob', 'carol', 'dave'];

describe('handlers of a server of messages', () => {
  it('have turns of their own, in the context of who serves, also when they fail', () =>
    simulate(async (sim) => {
      const turns = new Turns();
      const server = sim.host('server');
      const listener = turns.as('listener', () => listen({ port: PORT, context: server.context }));
      const handler = async (connection: MessageConnection): Promise<void> => {
        turns.enter('handler', 'server');
        await connection.receive();
        throw new Error('a mistake');
      };
      const served = turns.as('server', () =>
        listener.serve(handler, { onError: () => turns.enter('error', 'server') }),
      );
      const clients = await Promise.all(
        CLIENTS.map((name) => turns.as(name, () => sim.host(name).run(() => connect({ host: 'server', port: PORT })))),
      );
      await sim.sleep(1000);
      turns.check({ handler: CLIENTS.length });
      await Promise.all(clients.map((connection) => connection.send(text('x')).catch(() => undefined)));
      await sim.sleep(1000);
      turns.check({ handler: CLIENTS.length, error: CLIENTS.length });
      await listener.stop();
      await served;
    }));
});
