import { alloc, type Connection, SendFlags, type WorkCompletion } from '../../entry/index.js';
import { type Scenario, type Sim, type SimHost, simulate, type SimulateOptions } from '../../entry/sim.js';

/** Two hosts with a connection from the second one to the first. */
export interface Ends {
  readonly server: SimHost;
  readonly client: SimHost;
  readonly atServer: Connection;
  readonly atClient: Connection;
}

const BUFFER_BYTES = 16 * 1024;

/** Connects two new hosts, with `receives` requests posted at the server. */
export async function connected(sim: Sim, receives = 4): Promise<Ends> {
  const [server, client] = [sim.host('server'), sim.host('client')];
  const listener = server.listen({ port: 7174 });
  const accepted = listener.next().then((request) =>
    request.accept({
      prepare: (id) => {
        for (let i = 0; i < receives; i += 1) id.postRecv(BigInt(i), id.regMsgs(alloc(BUFFER_BYTES)).sge());
      },
    }),
  );
  // Impatient, so that what is lost is asked for again before long; for seven times, as long as it may.
  const atClient = await client.connect({ host: 'server', port: 7174, retryCount: 7, rnrRetryCount: 7 });
  return { server, client, atServer: await accepted, atClient };
}

export async function send(connection: Connection, lengthBytes = 5): Promise<WorkCompletion> {
  connection.postSend(0n, connection.regMsgs(alloc(lengthBytes)).sge(), SendFlags.SIGNALED);
  return connection.sendComp();
}

export async function failureOf(options: SimulateOptions, scenario: Scenario<unknown>): Promise<Error> {
  try {
    await simulate(options, scenario);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('the simulation did not fail');
}
