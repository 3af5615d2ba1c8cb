import { simulate, type SimHost } from '../../../../entry/sim.js';
import {
  connect,
  listen,
  type XioConnectOptions,
  type XioListenOptions,
  type XioServer,
  type XioSession,
} from '../../index.js';
import { useTransport } from '../../transport/index.js';
import { type Link, rdmaTransport, type Transport } from '../../transport/index.js';
import { tcp } from '../../transport/tcp/index.js';
import { untilHere, untilIn } from './worlds.js';

/** Where sessions are made for a test, and their links looked at. */
export interface Scene {
  readonly scheme: Transport['scheme'];
  readonly listen: (options?: Omit<XioListenOptions, 'transport'>) => Promise<XioServer>;
  readonly connect: (url: string | readonly string[], options?: Omit<XioConnectOptions, 'url'>) => Promise<XioSession>;
  /** Does something where clients are. */
  readonly inClient: <T>(action: () => Promise<T>) => Promise<T>;
  readonly made: Link[];
  readonly taken: Link[];
  /** Is given each link before anybody uses it. */
  around: (link: Link, end: 'client' | 'server') => Link;
  readonly until: (isSo: () => boolean) => Promise<void>;
}

type Play = (scene: Scene) => Promise<void>;

function watched(transport: Transport, scene: Scene): Transport {
  const note = (link: Link, end: 'client' | 'server'): Link => {
    const around = scene.around(link, end);
    (end === 'client' ? scene.made : scene.taken).push(around);
    return around;
  };
  return {
    scheme: transport.scheme,
    connect: async (target) => note(await transport.connect(target), 'client'),
    listen: (place, onLink) => transport.listen(place, (link) => onLink(note(link, 'server'))),
  };
}

async function playIn(transport: Transport, scene: Scene, play: Play): Promise<void> {
  const servers: XioServer[] = [];
  const sessions: XioSession[] = [];
  const kept: Scene = {
    ...scene,
    listen: async (options) => {
      const server = await scene.listen(options);
      servers.push(server);
      return server;
    },
    connect: async (url, options) => {
      const session = await scene.connect(url, options);
      sessions.push(session);
      return session;
    },
  };
  useTransport(watched(transport, kept));
  try {
    await play(kept);
  } finally {
    useTransport(transport);
    for (const session of sessions) session.abort();
    for (const server of servers) await server.stop({ timeoutMs: 0 });
  }
}

const asItIs = (link: Link): Link => link;

/** A scene in a simulation: its host of clients, and servers on hosts of their own. */
function inSimulation(play: Play): Promise<void> {
  return simulate((sim) => {
    const client = sim.host('client');
    const hosts: SimHost[] = [];
    const scene: Scene = {
      scheme: 'rdma',
      made: [],
      taken: [],
      around: asItIs,
      until: (isSo) => untilIn(sim, isSo),
      listen: (options = {}) => {
        const host = sim.host(`server ${hosts.length}`);
        hosts.push(host);
        return host.run(() => listen({ port: 2061, ...options }));
      },
      connect: (url, options = {}) => client.run(() => connect({ url, ...options })),
      inClient: (action) => client.run(action),
    };
    return playIn(rdmaTransport, scene, play);
  });
}

function onSockets(play: Play): Promise<void> {
  const scene: Scene = {
    scheme: 'tcp',
    made: [],
    taken: [],
    around: asItIs,
    until: untilHere,
    listen: (options = {}) => listen({ ...options, transport: 'tcp' }),
    connect: (url, options = {}) => connect({ url, ...options }),
    inClient: (action) => action(),
  };
  return playIn(tcp, scene, play);
}

export const SCENES: Readonly<Record<string, (play: Play) => Promise<void>>> = { rdma: inSimulation, tcp: onSockets };

/** Has a server answer with what it is asked, for all sessions that come. @returns these */
export function echo(server: XioServer): XioSession[] {
  const sessions: XioSession[] = [];
  void (async () => {
    for await (const session of server) {
      sessions.push(session);
      session.on('request', ({ header, body }) => ({ header, body }));
    }
  })();
  return sessions;
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => error,
  );
}

export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await rejection(promise);
  return error instanceof Error && 'code' in error ? error.code : error;
}
