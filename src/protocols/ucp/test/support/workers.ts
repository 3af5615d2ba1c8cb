import type { Sim, SimHost } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import type { UcpEndpoint } from '../../worker/endpoint.js';
import { UcpWorker } from '../../worker/worker.js';
import type { UcpWorkerOptions } from '../../worker/worker-options.js';
import { members } from './by-address.js';
import { PORT } from './transports.js';

/** Two workers that have an endpoint to each other; those of one that talks to itself are the same. */
export interface Workers {
  readonly hosts: readonly SimHost[];
  readonly client: UcpWorker;
  readonly server: UcpWorker;
  readonly there: UcpEndpoint;
  readonly back: UcpEndpoint;
  /** Ends both, and looks whether anything was left behind. */
  readonly close: () => void;
}

/** Two workers, with an endpoint of each to the other. */
export async function connected(sim: Sim, options?: UcpWorkerOptions): Promise<Workers> {
  const hosts = [sim.host('client'), sim.host('server')] as const;
  const [client, server] = hosts.map(({ context }) => new UcpWorker(context, options));
  const accepted = new Promise<UcpEndpoint>((resolve) => server.listen({ port: PORT }, resolve));
  const there = await hosts[0].run(() => client.connect({ host: 'server', port: PORT }));
  const back = await accepted;
  const close = (): void => {
    client.close();
    server.close();
    for (const { context } of hosts) Engine.of(context).close();
  };
  return { hosts, client, server, there, back, close };
}

export function onSelf(sim: Sim, options?: UcpWorkerOptions): Workers {
  const host = sim.host('alone');
  const worker = new UcpWorker(host.context, options);
  const endpoint = worker.connectToSelf();
  const close = (): void => {
    worker.close();
    Engine.of(host.context).close();
  };
  return { hosts: [host], client: worker, server: worker, there: endpoint, back: endpoint, close };
}

/** Workers by every transport. */
export const WAYS: Readonly<Record<string, (sim: Sim, options?: UcpWorkerOptions) => Promise<Workers>>> = {
  rc: connected,
  self: (sim, options) => Promise.resolve(onSelf(sim, options)),
};

/** The same, and those by datagrams, which take some time to part. */
export type AnyWorkers = Omit<Workers, 'close'> & { readonly close: () => void | Promise<void> };

export async function connectedByUd(sim: Sim, options?: UcpWorkerOptions): Promise<AnyWorkers> {
  const workers = await connected(sim, { ...options, transport: 'ud' });
  const { client, server, hosts } = workers;
  const close = async (): Promise<void> => {
    client.close();
    server.close();
    // The last that is said goes first.
    await sim.sleep(1000);
    for (const { context } of hosts) Engine.of(context).close();
  };
  return { ...workers, close };
}

/** Two workers of which one has asked for the other by its address, and the other then for the one. */
export async function metByAddress(sim: Sim, transport: 'rc' | 'ud'): Promise<AnyWorkers> {
  const { all, close } = members(sim, 2, { transport });
  const [one, other] = all;
  const there = await one.ask(other);
  const back = await other.ask(one);
  const ends = async (): Promise<void> => {
    await close();
  };
  return { hosts: all.map(({ host }) => host), client: one.worker, server: other.worker, there, back, close: ends };
}

/** Workers by every transport, datagrams included. */
export const ALL_WAYS: Readonly<Record<string, (sim: Sim, options?: UcpWorkerOptions) => Promise<AnyWorkers>>> = {
  ...WAYS,
  ud: connectedByUd,
};
