import type { Sim, SimHost } from '../../../../entry/sim.js';
import {
  connectCluster,
  type KvCluster,
  type KvClusterOptions,
  type KvMember,
  type KvMembership,
  type KvServer,
  serve,
} from '../../index.js';
import { hostOf, newStore, PORT } from '../support/served.js';

/** Several servers, each on a host of its own that has the server's name. */
export class Servers {
  readonly servers = new Map<string, KvServer>();

  constructor(
    private readonly sim: Sim,
    names: readonly string[] = ['a', 'b', 'c'],
  ) {
    for (const name of names) this.begin(sim.host(name));
  }

  /** A server with an empty store. */
  begin(host: SimHost): KvServer {
    const server = serve({ store: newStore(), port: PORT, context: host.context });
    this.servers.set(host.name, server);
    return server;
  }

  host(name: string): SimHost {
    return hostOf(this.sim, name);
  }

  /** All that a host held is gone, and it serves again. */
  restart(name: string): KvServer {
    const host = this.host(name);
    host.crash();
    host.restart();
    return this.begin(host);
  }

  get members(): KvMember[] {
    return Array.from(this.servers, ([name, { epoch }]) => ({ name, host: name, port: PORT, epoch }));
  }

  client(options: Partial<KvClusterOptions> = {}): Promise<KvCluster> {
    const members = this.members.map(({ name, host, port }) => ({ name, host, port }));
    return this.host('client').run(() => connectCluster({ members, ...options }));
  }
}

export class Told implements KvMembership {
  readonly #lists: (readonly KvMember[])[] = [];
  #wake: () => void = () => undefined;
  isOver = false;

  constructor(...lists: readonly (readonly KvMember[])[]) {
    this.#lists.push(...lists);
  }

  say(members: readonly KvMember[]): void {
    this.#lists.push(members);
    this.#wake();
  }

  async *watch(signal: AbortSignal): AsyncIterable<readonly KvMember[]> {
    signal.addEventListener('abort', () => {
      this.isOver = true;
      this.#wake();
    });
    while (!signal.aborted) {
      const list = this.#lists.shift();
      if (list !== undefined) yield list;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** Keys that have that home, so many. */
export function keysAt(cluster: KvCluster, name: string, count: number): string[] {
  const keys: string[] = [];
  for (let n = 0; keys.length < count; n += 1) if (cluster.homeOf(`key ${n}`).name === name) keys.push(`key ${n}`);
  return keys;
}
