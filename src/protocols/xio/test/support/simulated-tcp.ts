import { Engine } from '../../../core/index.js';
import {
  type Clock,
  type Link,
  type LinkListener,
  type LinkPlace,
  type LinkTarget,
  type Transport,
  XioError,
} from '../../transport/index.js';
import { Greeting } from '../../transport/tcp/greeting.js';
import { HalfOpen } from '../../transport/tcp/half-open.js';
import type { Sim, SimHost } from '../../../../entry/sim.js';
import { connectedStreams, type SimulatedStream, type StreamConditions } from './simulated-stream.js';

const LIMITS = { count: 256, timeMs: 5000 };
const FIRST_PORT = 50_000;
/** From one end to the other and back. */
const ROUND_TRIP_MS = 0.04;

/** Links over TCP between the hosts of a simulation, in its time. Ends are told their host by its context. */
export class SimulatedTcp implements Transport {
  readonly scheme = 'tcp';
  conditions: StreamConditions = {};
  readonly #listening = new Map<
    string,
    { readonly halfOpen: HalfOpen; readonly clock: Clock; readonly host: SimHost }
  >();
  readonly #streams = new Map<SimulatedStream, SimHost>();
  #nextPort = FIRST_PORT;

  constructor(private readonly sim: Sim) {}

  connect(target: LinkTarget): Promise<Link> {
    const host = this.#hostOf(target);
    const clock = Engine.of(host.context);
    const there = this.#listening.get(`${target.host}:${target.port}`);
    return new Promise((resolve, reject) => {
      const { signal, timeoutMs } = target;
      const stop = clock.timer(timeoutMs, () => reject(new XioError('XIO_E_TIMEOUT', `not within ${timeoutMs} ms`)));
      const fail = (reason: Error): void => {
        stop();
        reject(reason);
      };
      signal?.addEventListener('abort', () => fail(new Error('given up', { cause: signal.reason })));
      if (this.sim.hosts.find(({ address }) => address === target.host)?.state !== 'up') return;
      clock.timer(ROUND_TRIP_MS, () => {
        if (there?.host.state !== 'up' || !this.#listens(there.halfOpen)) {
          fail(new XioError('XIO_E_SESSION_REFUSED', 'nobody listens there'));
          return;
        }
        const addresses = [
          { host: host.address, port: (this.#nextPort += 1) },
          { host: target.host, port: target.port },
        ] as const;
        const [ours, theirs] = connectedStreams([clock, there.clock], this.conditions, addresses);
        this.#streams.set(ours, host).set(theirs, there.host);
        there.halfOpen.add(theirs);
        const onLink = (link: Link): void => {
          stop();
          resolve(link);
        };
        new Greeting(ours, target, clock, { onLink, onFailure: fail });
      });
    });
  }

  listen(place: LinkPlace, onLink: (link: Link) => void): Promise<LinkListener> {
    const host = this.#hostOf(place);
    const clock = Engine.of(host.context);
    const address = { host: host.address, port: place.port ?? (this.#nextPort += 1) };
    const key = `${address.host}:${address.port}`;
    const halfOpen = new HalfOpen(place, clock, LIMITS, onLink);
    this.#listening.set(key, { halfOpen, clock, host });
    let settle = (): void => undefined;
    const closed = new Promise<void>((resolve) => (settle = resolve));
    const close = (): void => {
      if (this.#listening.get(key)?.halfOpen === halfOpen) this.#listening.delete(key);
      halfOpen.close();
      settle();
    };
    return Promise.resolve({ address, closed, close, ref: () => undefined, unref: () => undefined });
  }

  /** Nothing of that host is heard any more. To be called when it crashes. */
  vanish(host: SimHost): void {
    for (const [stream, owner] of this.#streams) if (owner === host) stream.vanish();
  }

  #listens(halfOpen: HalfOpen): boolean {
    return [...this.#listening.values()].some((listening) => listening.halfOpen === halfOpen);
  }

  #hostOf({ context }: LinkTarget | LinkPlace): SimHost {
    const host = this.sim.hosts.find((each) => each.state === 'up' && each.context === context);
    if (host === undefined) throw new Error('an end of a simulated link says by its context on which host it is');
    return host;
  }
}
