import assert from 'node:assert/strict';
import type { Sim, SimHost } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import {
  acceptRc,
  AmHandlers,
  type Completion,
  connectRc,
  type Endpoint,
  MemoryDomain,
  SelfEndpoint,
  type UdEndpoint,
  UdInterface,
  type UdOptions,
  type Waiting,
} from '../../uct/index.js';
import { UcsStatus } from '../../wire/index.js';

export const PORT = 13337;

export interface End<E extends Endpoint = Endpoint> {
  readonly endpoint: E;
  readonly domain: MemoryDomain;
  readonly handlers: AmHandlers;
}

/** Both ends; those of `self` are the same. */
export interface Ends<E extends Endpoint = Endpoint> {
  readonly here: End<E>;
  readonly there: End<E>;
  /** Ends both, and looks whether anything was left behind. */
  close(): void | Promise<void>;
}

function domainOf({ context }: SimHost): MemoryDomain {
  return new MemoryDomain(new Engine(context, { name: 'a test' }));
}

/** Two hosts with an endpoint each. */
export async function connectedByRc(sim: Sim, window = 8) {
  const hosts = [sim.host('here'), sim.host('there')] as const;
  const [from, to] = [domainOf(hosts[0]), domainOf(hosts[1])].map((domain) => ({
    domain,
    handlers: new AmHandlers(),
    window,
  }));
  const listener = hosts[1].listen({ port: PORT });
  const accepting = listener.next().then((request) => acceptRc(to, request));
  const endpoint = await hosts[0].run(() => connectRc(from, { host: 'there', port: PORT }));
  const here = { ...from, endpoint };
  const there = { ...to, endpoint: await accepting };
  listener.close();
  const close = (): void => {
    for (const { endpoint: end, domain } of [here, there]) {
      end.close();
      domain.engine.close();
    }
  };
  return { here, there, close, hosts };
}

function onSelf(sim: Sim): Ends {
  const domain = domainOf(sim.host('alone'));
  const handlers = new AmHandlers();
  const endpoint = new SelfEndpoint(domain, handlers);
  const end = { endpoint, domain, handlers };
  const close = (): void => {
    endpoint.close();
    domain.engine.close();
  };
  return { here: end, there: end, close };
}

/** Two hosts with an interface each, and an endpoint between them. */
export async function connectedByUd(sim: Sim, options: UdOptions = {}) {
  const hosts = [sim.host('here'), sim.host('there')] as const;
  let next = sim.seed;
  // Any numbers that differ: nobody guesses here.
  const random = (): number => (next = (Math.imul(next, 1_664_525) + 1_013_904_223) >>> 0);
  const domains = [domainOf(hosts[0]), domainOf(hosts[1])] as const;
  const [from, to] = [
    new UdInterface(domains[0], { random, ...options }),
    new UdInterface(domains[1], { random, ...options }),
  ] as const;
  const accepted = new Promise<UdEndpoint>((resolve) => (to.onEndpoint = resolve));
  const endpoint = await hosts[0].run(() => from.connect(to.address));
  // What the other end says first makes it known there.
  const other = await accepted;
  const here = { endpoint, domain: domains[0], handlers: endpoint.handlers, interface: from };
  const there = { endpoint: other, domain: domains[1], handlers: other.handlers, interface: to };
  const close = async (): Promise<void> => {
    for (const [i, end] of [here, there].entries()) {
      // What has crashed has left nothing.
      if (hosts[i].state === 'down') continue;
      await end.interface.close();
      end.domain.engine.close();
    }
  };
  return { here, there, close, hosts };
}

export const TRANSPORTS: Readonly<Record<string, (sim: Sim) => Promise<Ends>>> = {
  self: (sim) => Promise.resolve(onSelf(sim)),
  rc: (sim) => connectedByRc(sim),
  ud: (sim) => connectedByUd(sim),
};

export class Told implements Completion {
  readonly statuses: UcsStatus[] = [];

  onComplete(status: UcsStatus): void {
    this.statuses.push(status);
  }
}

/** Lets time pass until something is so. */
export async function until(sim: Sim, isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 20_000 && !isSo(); i += 1) await sim.sleep(i < 10_000 ? 10 : 1000);
  assert.ok(isSo(), 'it comes to be');
}

/** What is begun is done once it has found room, and its completion was told. */
export async function done(sim: Sim, endpoint: Endpoint, begin: (told: Told) => UcsStatus): Promise<UcsStatus> {
  const told = new Told();
  let status = begin(told);
  if (status === UcsStatus.UCS_ERR_NO_RESOURCE) {
    const waiting: Waiting = {
      retry: () => {
        status = begin(told);
        return status;
      },
    };
    endpoint.pendingAdd(waiting);
    await until(sim, () => status !== UcsStatus.UCS_ERR_NO_RESOURCE);
  }
  if (status !== UcsStatus.UCS_INPROGRESS) {
    assert.deepEqual(told.statuses, []);
    return status;
  }
  await until(sim, () => told.statuses.length > 0);
  assert.equal(told.statuses.length, 1);
  return told.statuses[0];
}

/** Lets all arrive that was sent. */
export async function flushed(sim: Sim, endpoint: Endpoint): Promise<void> {
  assert.equal(await done(sim, endpoint, (told) => endpoint.flush(told)), UcsStatus.UCS_OK);
}

/** Bytes that differ from those of another number at every place. */
export function pattern(length: number, number = 0): Uint8Array {
  return new Uint8Array(length).map((_, i) => (i * 7 + number * 13) & 0xff);
}

/** Pieces of different lengths, which come to so many bytes. */
export function cut(bytes: Uint8Array): Uint8Array[] {
  const [first, second] = [Math.floor(bytes.length / 3), Math.floor(bytes.length / 2)];
  const [none, end] = [0, bytes.length];
  return [
    [none, first],
    [first, first],
    [first, second],
    [second, end],
  ].map(([from, to]) => bytes.slice(from, to));
}
