import type { Sim } from '../../../../entry/sim.js';
import { Memories } from '../../rma/memories.js';
import type { RmaEnd } from '../../rma/rma-end.js';
import { EndpointParts } from '../../worker/endpoint-parts.js';
import { newCounters } from '../../worker/statistics.js';
import { Wakeup } from '../../worker/wakeup.js';
import { type Endpoint, UctRcEndpoint, UdEndpoint } from '../../uct/index.js';
import { type AmId, UcsStatus } from '../../wire/index.js';
import { quiet } from './log.js';
import { type End, TRANSPORTS } from './transports.js';

type Closable = Endpoint & { close(): void };

/** The family of remote memory at one end, and what is around it. */
export interface RmaSide {
  readonly rma: RmaEnd;
  readonly parts: EndpointParts;
  readonly memories: Memories;
  readonly end: End;
}

/** Both; those of `self` are the same. */
export interface RmaSides {
  readonly here: RmaSide;
  readonly there: RmaSide;
  readonly close: () => void | Promise<void>;
}

/** The same transport, but for some of its properties. */
export function shownAs<E extends Endpoint>(transport: E, changes: Partial<Endpoint>): E {
  return new Proxy(transport, {
    get: (target, key) => {
      if (Object.hasOwn(changes, key)) return Reflect.get(changes, key) as unknown;
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]): unknown => Reflect.apply(value, target, values);
    },
  });
}

/** The same transport, which reaches no memory by itself. */
export function byMessagesOnly<E extends Endpoint>(transport: E): E {
  const { capabilities } = transport;
  const none = { put: { short: 0, bcopy: 0, zcopy: 0 }, get: { bcopy: 0, zcopy: 0 }, atomics: { 4: [], 8: [] } };
  return shownAs(transport, { capabilities: { ...capabilities, ...none } });
}

export function sideOf(end: End, memories = new Memories(end.domain), shown = (e: Closable) => e): RmaSide {
  let numbers = 0;
  const { domain, handlers } = end;
  const { engine } = domain;
  const wakeup = new Wakeup(engine, undefined);
  const nextNumber = () => (numbers += 1);
  const worker = { engine, domain, nextNumber, keepAliveMs: Infinity, wakeup, counters: newCounters(), log: quiet() };
  const parts = new EndpointParts(worker, handlers, () => undefined);
  const rma = memories.attach(parts);
  // All transports of the tests can be closed.
  const endpoint = end.endpoint as Closable;
  if (endpoint instanceof UctRcEndpoint || endpoint instanceof UdEndpoint)
    endpoint.onFailure = (status) => parts.ended(status);
  parts.begin(shown(endpoint));
  return { rma, parts, memories, end };
}

async function sides(sim: Sim, name: string, shown?: (endpoint: Closable) => Closable): Promise<RmaSides> {
  const ends = await TRANSPORTS[name](sim);
  const { here, there } = ends;
  const one = sideOf(here, undefined, shown);
  return { here: one, there: here === there ? one : sideOf(there, undefined, shown), close: () => void ends.close() };
}

/** Each transport as it is, and as one that reaches no memory. */
export const RMA_WAYS: Readonly<Record<string, (sim: Sim) => Promise<RmaSides>>> = Object.fromEntries(
  Object.keys(TRANSPORTS).flatMap((name) => [
    [name, (sim: Sim) => sides(sim, name)],
    [`${name} by messages`, (sim: Sim) => sides(sim, name, byMessagesOnly)],
  ]),
);

/** Sends a message that no end of ours would, which is not heard by whoever sends it. */
export function say({ end }: Pick<RmaSide, 'end'>, id: AmId, bytes: Uint8Array): void {
  const status = end.endpoint.amBcopy(id, {
    pack: (into) => {
      into.set(bytes);
      return bytes.length;
    },
  });
  if (status !== UcsStatus.UCS_OK) throw new Error(`the message was not sent: ${status}`);
}
