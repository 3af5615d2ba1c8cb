import { connect, listen, type XioConnectOptions, type XioListenOptions } from '../../../../entry/xio.js';
import type { XioServer, XioSession } from '../../index.js';
import { type Link, rdmaTransport, type Transport, useTransport } from '../../transport/index.js';
import { tcp } from '../../transport/tcp/index.js';
import { simulate, type Sim, type SimHost } from '../../../../entry/sim.js';
import { SimulatedTcp } from './simulated-tcp.js';
import { untilIn } from './worlds.js';

const PORT = 2061;

/** Looks on while a transport makes links, and cuts them. */
class Watched implements Transport {
  readonly scheme: Transport['scheme'];
  readonly links: Link[] = [];
  sent = 0;
  onSent: ((sent: number, link: Link) => void) | undefined;

  constructor(private readonly inner: Transport) {
    this.scheme = inner.scheme;
  }

  async connect(...args: Parameters<Transport['connect']>): Promise<Link> {
    return this.#watch(await this.inner.connect(...args));
  }

  listen(place: Parameters<Transport['listen']>[0], onLink: (link: Link) => void): ReturnType<Transport['listen']> {
    return this.inner.listen(place, (link) => onLink(this.#watch(link)));
  }

  #watch(link: Link): Link {
    this.links.push(link);
    const send = link.send.bind(link);
    link.send = (...args) => {
      const held = send(...args);
      this.sent += 1;
      this.onSent?.(this.sent, link);
      return held;
    };
    return link;
  }
}

export class Net {
  readonly watched: Watched;
  readonly tcp: SimulatedTcp;
  readonly client: SimHost;
  readonly server: SimHost;
  readonly served: XioSession[] = [];
  readonly servers: XioServer[] = [];

  constructor(
    readonly sim: Sim,
    readonly scheme: Transport['scheme'],
  ) {
    this.tcp = new SimulatedTcp(sim);
    this.watched = new Watched(scheme === 'tcp' ? this.tcp : rdmaTransport);
    useTransport(this.watched);
    this.client = sim.host('client');
    this.server = sim.host('server');
  }

  readonly until = (isSo: () => boolean): Promise<void> => untilIn(this.sim, isSo);

  /** What comes of it, in a time in which ends do what nobody waits for: they look whether their peers are there. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await this.until(() => isSettled);
    return promise;
  }

  urlOf(host: SimHost, port = PORT, resource = ''): string {
    return `${this.scheme}://${host.address}:${port}${resource}`;
  }

  /** @param onSession what the server's program does with each session */
  async listen(
    onSession: (session: XioSession) => void,
    options: XioListenOptions = {},
    host = this.server,
  ): Promise<XioServer> {
    const server = await listen({ port: PORT, transport: this.scheme, context: host.context, ...options });
    this.servers.push(server);
    const serve = async (): Promise<void> => {
      for await (const session of server) {
        this.served.push(session);
        onSession(session);
      }
    };
    void serve();
    return server;
  }

  connect(options: Partial<XioConnectOptions> = {}, host = this.client): Promise<XioSession> {
    return connect({ url: this.urlOf(this.server), context: host.context, ...options });
  }

  cut(): void {
    for (const link of this.watched.links.splice(0)) link.abort();
  }

  /** Has a host vanish. */
  crash(host: SimHost): void {
    this.tcp.vanish(host);
    host.crash();
  }
}

/** Plays a scene over each transport, in virtual time. */
export const NETS: Readonly<Record<Transport['scheme'], (scene: (net: Net) => Promise<void>) => Promise<void>>> = {
  rdma: (scene) => played('rdma', scene),
  tcp: (scene) => played('tcp', scene),
};

async function played(scheme: Transport['scheme'], scene: (net: Net) => Promise<void>): Promise<void> {
  try {
    await simulate((sim) => scene(new Net(sim, scheme)));
  } finally {
    useTransport(rdmaTransport);
    useTransport(tcp);
  }
}
