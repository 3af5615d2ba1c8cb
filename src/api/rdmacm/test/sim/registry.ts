import type { Client } from './client.js';
import type { Space } from './plan.js';
import type { Server } from './server.js';

/** Who is behind the addresses, ports and numbers that messages tell, in all of a run. */
export class Registry {
  readonly #clients = new Map<string, Client[]>();
  readonly #servers = new Map<string, Server>();

  /** A client asks: servers will see its address and port. */
  addClient(client: Client): void {
    const key = `${client.space} ${client.host.address} ${client.srcPort}`;
    this.#clients.set(key, [client, ...(this.#clients.get(key) ?? [])]);
  }

  clientsAt(space: Space, address: string, port: number): readonly Client[] {
    return this.#clients.get(`${space} ${address} ${port}`) ?? [];
  }

  addServer(server: Server): void {
    this.#servers.set(`${server.host.address} ${server.qpn}`, server);
  }

  serverAt(address: string, qpn: number): Server | undefined {
    return this.#servers.get(`${address} ${qpn}`);
  }
}
