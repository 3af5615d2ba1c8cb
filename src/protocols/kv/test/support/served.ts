import type { Sim, SimHost } from '../../../../entry/sim.js';
import { alloc } from '../../../../entry/index.js';
import {
  connect,
  type KvClient,
  type KvConnectOptions,
  type KvServeOptions,
  type KvServer,
  serve,
} from '../../index.js';
import { Partition } from '../../store/index.js';

export const PORT = 7175;

export function newStore(bytes = 1 << 20): Partition {
  return new Partition({ mode: 'store', memory: alloc(bytes), seed: 1n });
}

/** A server on the host `server`, which is a new one unless a test has made it. */
export interface Served {
  readonly host: SimHost;
  readonly server: KvServer;
  /** A client on the host of that name, or on a new one. */
  readonly client: (name?: string, options?: Partial<KvConnectOptions>) => Promise<KvClient>;
}

/** @param how clients connect unless a test says otherwise */
export function served(sim: Sim, options: Partial<KvServeOptions> = {}, how: Partial<KvConnectOptions> = {}): Served {
  const host = hostOf(sim, 'server');
  const server = serve({ store: newStore(), port: PORT, context: host.context, ...options });
  const client = (name = 'client', more: Partial<KvConnectOptions> = {}): Promise<KvClient> =>
    hostOf(sim, name).run(() => connect({ host: 'server', port: PORT, ...how, ...more }));
  return { host, server, client };
}

/** The host of that name: a new one where there is none. */
export function hostOf(sim: Sim, name: string): SimHost {
  return sim.hosts.find((host) => host.name === name) ?? sim.host(name);
}

export const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
