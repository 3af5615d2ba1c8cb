import assert from 'node:assert/strict';
import { simulate, type Sim, type SimHost } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import {
  type Link,
  type LinkListener,
  type LinkOptions,
  rdmaTransport,
  type Transport,
} from '../../transport/index.js';
import { tcp } from '../../transport/tcp/index.js';
import { TcpLink } from '../../transport/tcp/tcp-link.js';
import { LinkEnd } from './link-end.js';
import { connectedStreams, type SimulatedStream, type StreamConditions } from './simulated-stream.js';

export const OPTIONS: LinkOptions = { inlineBytes: 8192, maxBodyBytes: 16 << 20 };
const PORT = 2061;
const TIMEOUT_MS = 5000;
const PATIENCE_MS = 30_000;

export interface Pair {
  readonly here: LinkEnd;
  readonly there: LinkEnd;
}

/** Waits until something is so. */
export type Until = (isSo: () => boolean) => Promise<void>;

export interface World {
  readonly scheme: Transport['scheme'];
  /** Lets happen what is to happen, until something is so. */
  readonly until: Until;
  unopened(here?: Partial<LinkOptions>, there?: Partial<LinkOptions>): Promise<[Link, Link]>;
}

/** A link, both of whose ends are open. */
export async function paired(
  world: World,
  here: Partial<LinkOptions> = {},
  there: Partial<LinkOptions> = here,
): Promise<Pair> {
  const [one, other] = await world.unopened(here, there);
  const pair = { here: new LinkEnd(one), there: new LinkEnd(other) };
  pair.here.call((link) => link.open(pair.here));
  pair.there.call((link) => link.open(pair.there));
  return pair;
}

/** A scene in each world. */
export type Play = (scene: (world: World) => Promise<void>) => Promise<void>;

/** Lets virtual time pass until something is so. */
export async function untilIn(sim: Sim, isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 20_000 && !isSo(); i += 1) await sim.sleep(i < 10_000 ? 10 : 1000);
  assert.ok(isSo(), 'it comes to be');
}

/** Lets the event loop turn until something is so. */
export async function untilHere(isSo: () => boolean): Promise<void> {
  const begun = performance.now();
  while (!isSo()) {
    assert.ok(performance.now() - begun < PATIENCE_MS, 'it comes to be');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function onRdma(sim: Sim): World {
  const [client, server] = [sim.host('client'), sim.host('server')];
  return {
    scheme: 'rdma',
    until: (isSo) => untilIn(sim, isSo),
    unopened: async (here, there) => {
      const accepted: Link[] = [];
      const listener = await server.run(() =>
        rdmaTransport.listen({ ...OPTIONS, ...there, port: PORT }, (link) => accepted.push(link)),
      );
      const made = await client.run(() =>
        rdmaTransport.connect({ ...OPTIONS, ...here, host: 'server', port: PORT, timeoutMs: TIMEOUT_MS }),
      );
      await untilIn(sim, () => accepted.length > 0);
      listener.close();
      return [made, accepted[0]];
    },
  };
}

/** A link over a simulated stream of bytes. */
export function simulatedLink(
  hosts: readonly [SimHost, SimHost],
  here: Partial<LinkOptions> = {},
  there: Partial<LinkOptions> = {},
  conditions: StreamConditions = {},
): { readonly links: [TcpLink, TcpLink]; readonly streams: [SimulatedStream, SimulatedStream] } {
  const [one, other] = [
    { ...OPTIONS, ...here },
    { ...OPTIONS, ...there },
  ];
  const clocks = [Engine.of(hosts[0].context), Engine.of(hosts[1].context)] as const;
  const streams = connectedStreams(clocks, conditions, [
    { host: hosts[0].address, port: 50_000 },
    { host: hosts[1].address, port: PORT },
  ]);
  const none = new Uint8Array(0);
  const links: [TcpLink, TcpLink] = [
    new TcpLink(streams[0], one, other.maxBodyBytes, clocks[0], none),
    new TcpLink(streams[1], other, one.maxBodyBytes, clocks[1], none),
  ];
  return { links, streams };
}

function onStreams(sim: Sim): World {
  const hosts = [sim.host('client'), sim.host('server')] as const;
  return {
    scheme: 'tcp',
    until: (isSo) => untilIn(sim, isSo),
    unopened: (here, there) => Promise.resolve(simulatedLink(hosts, here, there).links),
  };
}

async function onSockets(scene: (world: World) => Promise<void>): Promise<void> {
  const listeners: LinkListener[] = [];
  const links: Link[] = [];
  try {
    await scene({
      scheme: 'tcp',
      until: untilHere,
      unopened: async (here, there) => {
        const accepted: Link[] = [];
        const listener = await tcp.listen({ ...OPTIONS, ...there }, (link) => accepted.push(link));
        listeners.push(listener);
        const { host, port } = listener.address;
        const made = await tcp.connect({ ...OPTIONS, ...here, host, port, timeoutMs: PATIENCE_MS });
        await untilHere(() => accepted.length > 0);
        listener.close();
        links.push(made, accepted[0]);
        return [made, accepted[0]];
      },
    });
  } finally {
    for (const link of links) link.abort();
    for (const listener of listeners) {
      listener.close();
      await listener.closed;
    }
  }
}

export const WORLDS: Readonly<Record<string, Play>> = {
  rdma: (scene) => simulate((sim) => scene(onRdma(sim))),
  tcp: onSockets,
  'tcp in virtual time': (scene) => simulate((sim) => scene(onStreams(sim))),
};

/** Bytes that differ from those of another number at every place. */
export function pattern(length: number, number = 0): Uint8Array {
  return new Uint8Array(length).map((_, i) => (i * 7 + number * 13 + (i >> 8)) & 0xff);
}
