import type { FullAddress } from '../../../../api/rdmacm/index.js';
import { Sim, type SimHost } from '../../../../sim/index.js';
import { connectStream, listenStreams, type StreamListener, type StreamSocket } from '../../index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Figures } from '../../../../../test/sim/game.js';
import type { Direction } from './direction.js';
import { checkNothingLeft } from './leftovers.js';
import { Line } from './line.js';
import { type DisasterPlan, planRsocket, type RsocketPlan, type SidePlan, totalOf } from './plan.js';
import { Side } from './side.js';

const PORT = 7471;
/** How long lines may take once no disaster is to come, beside what their programs wait for: all repeats of a call, and the end of TIMEWAIT. */
const PATIENCE_US = 120e6;
/** How long a stream may take to end whose owner has closed it with a second's linger. */
const CLOSING_US = 1.2e6;
/** How long after the end late packets and timers may still come: a peer that has said DISCONNECT may take 2 s, and DREQ is repeated. */
const AFTERMATH_US = 120e6;

/** The name of a connection, at both ends. */
const keyOf = ({ host, port }: FullAddress): string => `${host} ${port}`;

/** What waits for the other end's word. */
interface Arrival {
  readonly host: SimHost;
  readonly stream: StreamSocket;
}

/** One seeded run: streams between hosts, a rough network, disasters, and a model of it all. */
class RsocketRun {
  readonly #plan: RsocketPlan;
  readonly #sim: Sim;
  readonly #lines: readonly Line[];
  readonly #released: Promise<void>;
  readonly #listeners = new Map<number, StreamListener>();
  /** Streams that have come, and whose clients do not know it yet; and the other way round. */
  readonly #arrived = new Map<string, Arrival>();
  readonly #awaited = new Map<string, Line>();
  #onFault: (error: Error) => void = () => undefined;
  readonly #fault = new Promise<never>((_, reject) => (this.#onFault = reject));

  constructor(seed: number, trace: ((line: string) => void) | undefined) {
    this.#plan = planRsocket(seed);
    const { conditions, hosts, lines } = this.#plan;
    this.#sim = new Sim({ seed, conditions });
    if (trace !== undefined) this.#sim.when({}, ({ sentUs, text }) => trace(`${sentUs} ${text}`));
    for (let i = 0; i < hosts.length; i += 1) this.#sim.host(`host-${i}`);
    this.#lines = lines.map((line, i) => new Line(i, line, this.#plan, this.#onFault));
    const others = this.#lines.filter(({ stalls }) => !stalls);
    this.#released = Promise.all(others.map(({ ended }) => ended)).then(() => undefined);
  }

  async play(): Promise<Figures> {
    const sim = this.#sim;
    try {
      await sim.until(Promise.race([this.#all(), this.#fault]));
      await sim.until(Promise.race([sim.sleep(AFTERMATH_US), this.#fault]));
      for (const line of this.#lines) line.verify();
      for (const host of sim.hosts) checkNothingLeft(host);
      return this.#figures();
    } finally {
      sim.close();
    }
  }

  async #all(): Promise<void> {
    for (let i = 0; i < this.#sim.hosts.length; i += 1) this.#listen(i);
    for (const disaster of this.#plan.disasters) this.#planDisaster(disaster);
    for (const line of this.#lines) void this.#start(line).catch(this.#onFault);
    this.#endInTime().catch(this.#onFault);
    await Promise.all(this.#lines.map(({ ended }) => ended));
    await this.#calm();
    await this.#probe();
    for (const listener of this.#listeners.values()) listener.close();
  }

  #listen(number: number): void {
    const host = this.#sim.hosts[number];
    void host.run(() => {
      const listener = listenStreams({ ...this.#plan.hosts[number], port: PORT, context: host.context });
      this.#listeners.set(number, listener);
      listener.onStream = (stream) => this.#arrives({ host, stream });
    });
  }

  #arrives(arrival: Arrival): void {
    const key = keyOf(arrival.stream.remoteAddress);
    const line = this.#awaited.get(key);
    this.#awaited.delete(key);
    if (line !== undefined) this.#serve(line, arrival);
    else this.#arrived.set(key, arrival);
  }

  #serve(line: Line, { host, stream }: Arrival): void {
    if (host.state === 'down') return;
    const { toServer, toClient, plan } = line;
    void host.run(() => {
      line.server = this.#side(line, 'the server', stream, plan.server, toClient, toServer, totalOf(plan.client.steps));
    });
    this.#follow(line);
  }

  async #start(line: Line): Promise<void> {
    const sim = this.#sim;
    const { plan } = line;
    if (plan.startUs > 0) await sim.sleep(plan.startUs);
    const [host, server] = [sim.hosts[plan.from], sim.hosts[plan.to]];
    if (host.state === 'down') {
      line.end();
      return;
    }
    // What a host that crashes was about to do is never done.
    const connecting = host.run(() =>
      connectStream({ ...plan.options, host: server.name, port: PORT, timeoutMs: 30_000 }),
    );
    let stream: StreamSocket;
    try {
      stream = await connecting;
    } catch (error) {
      line.fails(error);
      line.end();
      return;
    }
    await host.run(() => {
      const { toServer, toClient } = line;
      const expected = totalOf(plan.server.steps);
      line.client = this.#side(line, 'the client', stream, plan.client, toServer, toClient, expected);
    });
    const key = keyOf(stream.localAddress);
    const arrival = this.#arrived.get(key);
    this.#arrived.delete(key);
    if (arrival !== undefined) this.#serve(line, arrival);
    else this.#awaited.set(key, line);
    this.#follow(line);
  }

  #side(
    line: Line,
    who: string,
    stream: StreamSocket,
    plan: SidePlan,
    outgoing: Direction,
    incoming: Direction,
    expected: number,
  ): Side {
    return new Side(stream, {
      sim: this.#sim,
      name: `${line.name}, ${who}`,
      plan,
      outgoing,
      incoming,
      expected,
      released: this.#released,
      onFault: this.#onFault,
    });
  }

  /** Ends a line once both ends have. */
  #follow(line: Line): void {
    const { client, server } = line;
    if (client === undefined || server === undefined) return;
    void Promise.all([client.ended, server.ended]).then(() => line.end());
  }

  #patienceUs(): number {
    const { lines, disasters } = this.#plan;
    const pauses = lines.flatMap(({ startUs, client, server }) => [
      startUs,
      ...[client, server].flatMap(({ steps, reading }) => [
        ...steps.map((step) => (step.does === 'pause' ? step.us : 0)),
        // Each piece once before and once after it is taken; as many pieces as the calls of a plan.
        reading.workUs * 2000,
      ]),
    ]);
    const ends = disasters.map(({ atUs, forUs }) => atUs + forUs);
    return pauses.reduce((sum, us) => sum + us, Math.max(0, ...ends)) + PATIENCE_US;
  }

  /** Ends what has not ended by itself; first of all what others wait for that stall on purpose. */
  async #endInTime(): Promise<void> {
    const sim = this.#sim;
    const patienceUs = this.#patienceUs();
    for (const lines of [this.#lines.filter(({ stalls }) => !stalls), this.#lines]) {
      await sim.sleep(patienceUs);
      const late = lines.filter(({ hasEnded }) => !hasEnded);
      for (const line of late) endLate(line);
      await sim.sleep(CLOSING_US);
      for (const line of late) {
        const open = openSides(line);
        check(open.length === 0, () => `it does not close: ${open.map((side) => side.describe()).join('; ')}`);
        line.end();
      }
    }
    // Of clients that were gone before they knew.
    for (const { stream, host } of this.#arrived.values()) if (host.state !== 'down') stream.close(0);
  }

  /** Waits until no disaster is to come, or goes on. */
  async #calm(): Promise<void> {
    const sim = this.#sim;
    const ends = this.#plan.disasters.map(({ atUs, forUs }) => atUs + forUs);
    const leftUs = Math.max(0, ...ends) + 1 - sim.nowUs;
    if (leftUs > 0) await sim.sleep(leftUs);
  }

  /** After all that has happened every host serves. */
  async #probe(): Promise<void> {
    const [client] = this.#sim.hosts;
    for (const [number, listener] of this.#listeners) {
      if (number === 0) continue;
      listener.onStream = (stream) => {
        stream.write(Uint8Array.of(number));
        stream.shutdown('write');
      };
      const stream = await client.run(() => connectStream({ host: `host-${number}`, port: PORT, timeoutMs: 30_000 }));
      const heard = await new Promise<number>((resolve) => {
        stream.events = {
          readable: () => {
            if (stream.readableBytes > 0) resolve(stream.peek()[0]);
          },
          writable: () => undefined,
          drained: () => undefined,
          closed: () => undefined,
        };
      });
      check(heard === number, () => `in the end host ${number} serves no more`);
      stream.close();
    }
  }

  #planDisaster(disaster: DisasterPlan): void {
    const sim = this.#sim;
    const host = sim.hosts[disaster.host];
    const { kind, forUs, atUs } = disaster;
    sim.at(atUs, () => {
      if (kind === 'pause') {
        host.pause();
        sim.at(sim.nowUs + forUs, () => host.resume());
      } else if (kind === 'partition') {
        sim.partition(host);
        sim.at(sim.nowUs + forUs, () => sim.heal(host));
      } else this.#crash(disaster, host);
    });
  }

  #crash({ host: number, forUs }: DisasterPlan, host: SimHost): void {
    const sim = this.#sim;
    host.crash();
    for (const line of this.#lines) {
      const { plan, client, server } = line;
      if (plan.from === number && client !== undefined) client.isGone = true;
      if (plan.to === number && server !== undefined) server.isGone = true;
      // A client that was about to connect never will.
      if (plan.from === number && client === undefined && plan.startUs < sim.nowUs) line.end();
      if (client?.isGone === true && server?.isGone === true) line.end();
    }
    for (const [key, arrival] of this.#arrived) if (arrival.host === host) this.#arrived.delete(key);
    sim.at(sim.nowUs + forUs, () => {
      if (host.state !== 'down') return;
      host.restart();
      this.#listen(number);
    });
  }

  #figures(): Figures {
    const sim = this.#sim;
    const lines = this.#lines;
    const directions = lines.flatMap(({ toServer, toClient }) => [toServer, toClient]);
    const sum = (what: (direction: Direction) => number): number =>
      directions.reduce((total, direction) => total + what(direction), 0);
    const counts = {
      streams: lines.length,
      connected: lines.filter(({ client, server }) => client !== undefined && server !== undefined).length,
      'ends that failed': lines.flatMap(({ sides }) => sides).filter(({ error }) => error !== undefined).length,
      written: sum(({ taken }) => taken),
      read: sum(({ read }) => read),
    };
    return { counts, network: sim.statistics(), virtualUs: sim.nowUs };
  }
}

function openSides({ sides }: Line): readonly Side[] {
  return sides.filter(({ isClosed, isGone }) => !isClosed && !isGone);
}

/** Whoever could go on has by now. The others wait for a peer that is gone, which only those know that have something to say to it. */
function endLate(line: Line): void {
  const open = openSides(line);
  check(open.length < 2 && line.mayFail, () => `${line.name} stalls. ${line.describe()}`);
  for (const side of open) {
    const why = side.shouldKnow();
    check(why === undefined, () => `${line.name}: its peer is gone, and ${why}. ${line.describe()}`);
    side.close();
  }
}

/** Plays the run of one seed. @throws what proves the package wrong */
export function runRsocketSeed(seed: number, trace?: (line: string) => void): Promise<Figures> {
  return new RsocketRun(seed, trace).play();
}
