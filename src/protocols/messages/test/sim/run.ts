import { SeededRandom } from '../../../../device/link/index.js';
import { Sim } from '../../../../sim/index.js';
import { Engine } from '../../../core/index.js';
import { connect, listen, type MessageConnection, type MessageListener, decodeRemoteBuffer } from '../../index.js';
import { alloc } from '../../../../entry/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Figures } from '../../../../../test/sim/game.js';
import { Accesses } from './accesses.js';
import { Line, LINE_PATIENCE_US } from './line.js';
import { type DisasterPlan, type MessagesPlan, PART_BYTES, planMessages } from './plan.js';
import { talk } from './side.js';

const PORT = 7000;
/** What the handler of a connection throws on purpose. */
const PLANNED = new Error('the handler of this connection fails');
const RNR_COUNTERS = ['send_rnr_err', 'rcvd_rnr_err'];
/** How long after the end late packets and timers may still come. */
const AFTERMATH_US = 1e6;

function lengthUs(disaster: DisasterPlan): number {
  return disaster.kind === 'crash' ? disaster.backUs : disaster.forUs;
}

/** One seeded run: programs on the engine that talk to a server, a rough network, disasters, and a model of it all. */
class MessagesRun {
  readonly #plan: MessagesPlan;
  readonly #sim: Sim;
  readonly #lines: readonly Line[];
  readonly #released: Promise<void>;
  readonly #accesses: Accesses[] = [];
  #onFault: (error: Error) => void = () => undefined;
  readonly #fault = new Promise<never>((_, reject) => (this.#onFault = reject));
  #listener: MessageListener | undefined;
  #served: Promise<void> = Promise.resolve();
  /** The server's program is gone, and with it all that it was about to do. */
  #serverIsGone: () => void = () => undefined;
  /** The server has stopped, where it was told to, and begun anew. */
  #stopped: Promise<void> = Promise.resolve();
  #established = 0;

  constructor(seed: number, trace: ((line: string) => void) | undefined) {
    this.#plan = planMessages(seed);
    const { conditions, hosts, lines } = this.#plan;
    this.#sim = new Sim({ seed, conditions });
    if (trace !== undefined) this.#sim.when({}, ({ sentUs, text }) => trace(`${sentUs} ${text}`));
    this.#sim.host('server');
    for (let i = 1; i <= hosts; i += 1) this.#sim.host(`client ${i}`);
    this.#lines = lines.map((line, i) => new Line(i, line, this.#plan, this.#onFault));
    const others = this.#lines.filter(({ stalls }) => !stalls);
    this.#released = Promise.all(others.map(({ ended }) => ended)).then(() => undefined);
  }

  async play(): Promise<Figures> {
    const sim = this.#sim;
    try {
      await sim.until(Promise.race([this.#all(), this.#fault]));
      await sim.until(sim.sleep(AFTERMATH_US));
      this.#check();
      return this.#figures();
    } finally {
      sim.close();
    }
  }

  async #all(): Promise<void> {
    this.#serve();
    for (const disaster of this.#plan.disasters) this.#planDisaster(disaster);
    for (const line of this.#lines) void this.#startClient(line).catch(this.#onFault);
    await Promise.all(this.#lines.map(({ ended }) => ended));
    await this.#calm();
    await this.#probe();
    await this.#listener?.stop();
    await this.#served;
  }

  #serve(): void {
    const { window, maxMessageBytes, keepAliveMs } = this.#plan;
    const server = this.#sim.hosts[0];
    const listening = server.run(() => {
      this.#listener = listen({ port: PORT, window, maxMessageBytes, keepAliveMs });
      const gone = this.#untilServerIsGone();
      const served = this.#listener.serve((connection) => this.#answer(connection), {
        onError: (error) => {
          if (error !== PLANNED) this.#onFault(error instanceof Error ? error : new Error(String(error)));
        },
      });
      this.#served = Promise.all([this.#served, Promise.race([served, gone])]).then(() => undefined);
    });
    listening.catch(this.#onFault);
  }

  #untilServerIsGone(): Promise<void> {
    const before = this.#serverIsGone;
    return new Promise<void>((resolve) => {
      this.#serverIsGone = () => {
        before();
        resolve();
      };
    });
  }

  /** Stops the server within so much time, and has it begin anew. */
  async #stopServer(forUs: number): Promise<void> {
    const listener = this.#listener;
    const isDown = (): boolean => this.#sim.hosts[0].state === 'down';
    if (listener === undefined || isDown()) return;
    await listener.stop({ timeoutMs: forUs / 1000 });
    // It may have crashed meanwhile.
    if (this.#listener !== listener || isDown()) return;
    const { connections } = listener;
    check(connections === 0, () => `a server that was stopped has ${connections} connections`);
    this.#serve();
  }

  async #answer(connection: MessageConnection): Promise<void> {
    const hello = await this.#hear(connection);
    if (hello === undefined) return;
    const number = hello[0];
    if (number >= this.#lines.length) {
      await connection.send(hello);
      await connection.closed;
      return;
    }
    const line = this.#lines[number];
    const { plan } = line;
    const sim = this.#sim;
    if (line.mayFail) sim.at(sim.nowUs + LINE_PATIENCE_US, () => connection[Symbol.dispose]());
    using memory = connection.share(alloc(PART_BYTES), { write: true, atomic: true });
    try {
      await connection.send(memory.encode());
    } catch (error) {
      line.fails(error);
      return;
    }
    const talking = talk({
      sim,
      connection,
      plan: plan.server,
      outgoing: line.toClient,
      incoming: line.toServer,
      random: new SeededRandom(this.#plan.seed ^ (number * 2)),
      released: this.#released,
      onFailure: line.fails,
    });
    if (plan.ending === 'server closes' || plan.ending === 'server throws') {
      await sim.sleep(plan.endUs);
      if (plan.ending === 'server throws') {
        talking.catch(line.fails);
        throw PLANNED;
      }
      await connection.close();
    }
    await talking;
    await connection.closed;
  }

  /** The first message; undefined when the client was gone before. */
  async #hear(connection: MessageConnection): Promise<Uint8Array | undefined> {
    try {
      // A client that is gone without a word is noticed by nothing else.
      return await connection.receive({ timeoutMs: LINE_PATIENCE_US / 1000 });
    } catch (error) {
      // Whose connection it is only that message says.
      if (this.#lines.some(({ mayFail }) => mayFail)) return undefined;
      throw error;
    }
  }

  async #startClient(line: Line): Promise<void> {
    const { plan } = line;
    if (plan.startUs > 0) await this.#sim.sleep(plan.startUs);
    const host = this.#sim.hosts[plan.host];
    if (host.state === 'down') {
      line.end();
      return;
    }
    line.hasBegun = true;
    try {
      await host.run(() => this.#client(line));
    } catch (error) {
      line.fails(error);
    }
    line.end();
  }

  async #client(line: Line): Promise<void> {
    const sim = this.#sim;
    const { plan, number } = line;
    const { window, maxMessageBytes, keepAliveMs, seed } = this.#plan;
    await using connection = await connect({ host: 'server', port: PORT, window, maxMessageBytes, keepAliveMs });
    this.#established += 1;
    if (line.mayFail) sim.at(sim.nowUs + LINE_PATIENCE_US, () => connection[Symbol.dispose]());
    await connection.send(Uint8Array.of(number));
    const told = await connection.receive();
    if (told === undefined) {
      line.fails(new Error('the server has parted'));
      return;
    }
    const random = new SeededRandom(seed ^ (number * 2 + 1));
    const accesses = new Accesses({
      sim,
      connection,
      remote: decodeRemoteBuffer(told),
      book: line.memory,
      random,
      onFailure: line.fails,
    });
    this.#accesses.push(accesses);
    const talking = talk({
      sim,
      connection,
      plan: plan.client,
      outgoing: line.toServer,
      incoming: line.toClient,
      random,
      released: this.#released,
      onFailure: line.fails,
    });
    const all = Promise.all([talking, accesses.run(plan.accesses)]);
    if (plan.ending === 'client closes' || plan.ending === 'client disposes') {
      await sim.sleep(plan.endUs);
      if (plan.ending === 'client closes') await connection.close();
      else connection[Symbol.dispose]();
    }
    await all;
  }

  /** Waits until no disaster is to come, or goes on. */
  async #calm(): Promise<void> {
    const sim = this.#sim;
    const ends = this.#plan.disasters.map((disaster) => disaster.atUs + lengthUs(disaster));
    const leftUs = Math.max(0, ...ends) + 1 - sim.nowUs;
    if (leftUs > 0) await sim.sleep(leftUs);
    await this.#stopped;
  }

  async #probe(): Promise<void> {
    const host = this.#sim.hosts[1];
    const { maxMessageBytes } = this.#plan;
    const echo = await host.run(async () => {
      await using connection = await connect({ host: 'server', port: PORT, maxMessageBytes });
      await connection.send(Uint8Array.of(255));
      return await connection.receive();
    });
    check(echo?.[0] === 255, () => 'in the end the server serves no more');
  }

  #restart(number: number, host: { restart(): void }): void {
    host.restart();
    if (number === 0) this.#serve();
  }

  #planDisaster(disaster: DisasterPlan): void {
    const sim = this.#sim;
    const host = sim.hosts[disaster.host];
    sim.at(disaster.atUs, () => {
      if (disaster.kind === 'pause') {
        host.pause();
        sim.at(sim.nowUs + disaster.forUs, () => host.resume());
      } else if (disaster.kind === 'stop') {
        const gone = this.#untilServerIsGone();
        const stopping = this.#stopServer(disaster.forUs);
        stopping.catch(this.#onFault);
        this.#stopped = Promise.all([this.#stopped, Promise.race([stopping, gone])]).then(() => undefined);
      } else if (disaster.kind === 'partition') {
        sim.partition(host);
        sim.at(sim.nowUs + disaster.forUs, () => sim.heal(host));
      } else {
        host.crash();
        if (disaster.host === 0) this.#serverIsGone();
        for (const line of this.#lines) if (line.hasBegun && line.plan.host === disaster.host) line.end();
        sim.at(sim.nowUs + disaster.backUs, () => {
          if (host.state === 'down') this.#restart(disaster.host, host);
        });
      }
    });
  }

  #check(): void {
    for (const accesses of this.#accesses) accesses.verify();
    for (const host of this.#sim.hosts) {
      const counters = host.counters();
      for (const name of RNR_COUNTERS)
        check(
          (counters[name] ?? 0) === 0,
          () => `${host.name}: ${name} is ${counters[name]}: a message found no receive request`,
        );
      const { pool, registrations } = Engine.of(host.context);
      const leases = pool.leases();
      check(leases.length === 0, () => `${host.name}: leases that nobody gave back: ${JSON.stringify(leases)}`);
      check(registrations.used === 0, () => `${host.name}: ${registrations.used} registrations that nobody gave back`);
    }
  }

  #figures(): Figures {
    const sim = this.#sim;
    const books = this.#lines.flatMap(({ toServer, toClient }) => [toServer, toClient]);
    const sum = (what: 'delivered' | 'takenBack' | 'failed'): number =>
      books.reduce((total, book) => total + book[what], 0);
    const counts = {
      connections: this.#lines.length,
      established: this.#established,
      messages: sum('delivered'),
      'taken back': sum('takenBack'),
      failed: sum('failed'),
      accesses: this.#accesses.reduce((total, { done }) => total + done, 0),
    };
    return { counts, network: sim.statistics(), virtualUs: sim.nowUs };
  }
}

/** Plays the run of one seed. @throws what proves the package wrong */
export function runMessagesSeed(seed: number, trace?: (line: string) => void): Promise<Figures> {
  return new MessagesRun(seed, trace).play();
}
