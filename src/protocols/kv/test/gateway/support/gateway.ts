import { spawnSync } from 'node:child_process';
import {
  connect,
  connectCluster,
  createStore,
  type KvServeOptions,
  serve,
  serveRedis,
} from '../../../../../entry/kv.js';
import type { RedisGateway, RedisGatewayOptions } from '../../../../../entry/kv.js';
import { loopback } from '../../../../../../test/support/loopback.js';

export interface Running extends AsyncDisposable {
  readonly gateway: RedisGateway;
  readonly port: number;
}

/** A store of this process, which is reached by RDMA, and a gateway in front of it. */
export async function runGateway(
  options: Partial<RedisGatewayOptions> = {},
  { store = createStore({ mode: 'store', memoryBytes: 1 << 22 }) }: Partial<KvServeOptions> = {},
): Promise<Running> {
  const host = loopback(1);
  const server = serve({ store, host, port: 0 });
  const client = await connect({ host, port: server.address.port, localAddress: host, window: 64 });
  const gateway = await serveRedis({ client, ...options });
  return {
    gateway,
    port: gateway.port,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Three stores, of which each has a share of the keys, and a gateway in front of them. */
export async function runGatewayOfSeveral(): Promise<Running> {
  const servers = [1, 2, 3].map((n) =>
    serve({ store: createStore({ memoryBytes: 1 << 20 }), host: loopback(n), port: 0 }),
  );
  const members = servers.map(({ address }) => address);
  const client = await connectCluster({ members, localAddress: loopback(1) });
  const gateway = await serveRedis({ client });
  return {
    gateway,
    port: gateway.port,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}

/** Why tests of a program have to be left out, or false. */
export function without(program: string, debian: string): string | false {
  const isThere = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  return isThere ? false : `there is no ${program} here (Debian: ${debian})`;
}
