/** Servers and clients that are killed at random moments: what was acknowledged must be there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../src/device/link/index.js';
import { connect, type TransportName } from '../../src/entry/kv.js';
import type { SyncPolicy } from '../../src/protocols/kv/persistence/index.js';
import { loopback } from '../../test/support/loopback.js';
import { Ledger } from './ledger.js';
import { type ClientOrders, keysOf, type ServerReady } from './orders.js';
import { Program } from './program.js';

const PORT = 7175;
const CLIENTS = 3;
const KEYS = 80;
/** Of one that takes the place of a client that was killed. */
const SUCCESSORS_KEYS = 16;
const POLICIES: readonly SyncPolicy[] = ['always', 'always', 'always', { everyMs: 100 }, 'never'];
const TRANSPORTS: readonly TransportName[] = ['rc', 'uc', 'ud'];
const TOGETHER = 256;

export interface CrashFigures {
  rounds: number;
  serversKilled: number;
  /** Of these before they served. */
  serversKilledEarly: number;
  clientsKilled: number;
  /** Bytes of records that were being written. */
  tornBytes: number;
}

/** A run of as many rounds as one likes. In each the server begins, all keys are compared, clients change them, and all of them are killed. */
export class Crashes {
  readonly ledger = new Ledger();
  readonly figures: CrashFigures = {
    rounds: 0,
    serversKilled: 0,
    serversKilledEarly: 0,
    clientsKilled: 0,
    tornBytes: 0,
  };
  readonly violations: string[] = [];
  readonly #random: SeededRandom;
  #begun = 0;
  #onAnswer = (): void => undefined;

  constructor(
    seed: number,
    readonly directory: string,
    /** How long clients are left alone, at most. */
    private readonly longestMs: number,
  ) {
    this.#random = new SeededRandom(seed);
  }

  async round(): Promise<void> {
    const random = this.#random;
    this.figures.rounds += 1;
    if (random.chance(0.2)) await this.#killEarly();
    const server = await this.#serve();
    if (server === undefined) return;
    await this.#compare();
    const answered = new Promise<void>((resolve) => (this.#onAnswer = resolve));
    const clients = Array.from({ length: CLIENTS }, (_, i) => this.#client(i, `c${i}`, KEYS));
    // Programs take their time to begin; then they are killed at any moment.
    await Promise.race([answered, Promise.all(clients.map(async (client) => client.ended()))]);
    if (random.chance(0.5)) await this.#killOne(clients);
    await sleep(random.below(this.longestMs));
    this.figures.serversKilled += 1;
    await server.kill();
    this.figures.clientsKilled += clients.length;
    await Promise.all(clients.map(async (client) => client.kill()));
  }

  /** Begins once more, and compares. */
  async end(): Promise<void> {
    const server = await this.#serve();
    if (server === undefined) return;
    await this.#compare();
    await server.kill();
  }

  #orders(): { directory: string; host: string; port: number; sync: SyncPolicy } {
    const sync = POLICIES[this.#random.below(POLICIES.length)];
    return { directory: this.directory, host: loopback(1), port: PORT, sync };
  }

  async #serve(): Promise<Program | undefined> {
    let onReady = (): void => undefined;
    const ready = new Promise<void>((resolve) => (onReady = resolve));
    const server = new Program('server', this.#orders(), (line) => {
      const { lostBytes } = JSON.parse(line) as ServerReady; // our own program's
      this.figures.tornBytes += lostBytes;
      onReady();
    });
    const hasEnded = server.ended().then(() => true);
    if ((await Promise.race([ready, hasEnded])) !== true) return server;
    this.violations.push(`a server did not begin: ${server.errors}`);
    return undefined;
  }

  /** Kills one while it begins, and perhaps reads what is there. */
  async #killEarly(): Promise<void> {
    const server = new Program('server', this.#orders(), () => undefined);
    const hasEnded = server.ended().then(() => true);
    const killed = sleep(this.#random.below(1500)).then(() => false);
    if (await Promise.race([hasEnded, killed])) this.violations.push(`a server has ended: ${server.errors}`);
    this.figures.serversKilledEarly += 1;
    await server.kill();
  }

  #client(place: number, prefix: string, keys: number): Program {
    this.#begun += 1;
    const orders: ClientOrders = {
      host: loopback(1),
      port: PORT,
      localAddress: loopback(10 + place),
      transport: TRANSPORTS[this.#random.below(TRANSPORTS.length)],
      prefix,
      keys,
      seed: this.#begun,
    };
    for (const key of keysOf(orders)) this.ledger.expect(key);
    return new Program('client', orders, (line) => {
      const problem = this.ledger.heard(line);
      if (problem !== undefined) this.violations.push(`client ${prefix}: ${problem}`);
      if (line.startsWith('<')) this.#onAnswer();
    });
  }

  /** Kills a client, and has another come, with other keys, since nobody knows what becomes of its last changes. */
  async #killOne(clients: Program[]): Promise<void> {
    await sleep(this.#random.below(this.longestMs / 2));
    const which = this.#random.below(clients.length);
    await clients[which].kill();
    this.figures.clientsKilled += 1;
    clients[which] = this.#client(CLIENTS + which, `s${which}`, SUCCESSORS_KEYS);
  }

  async #compare(): Promise<void> {
    using client = await connect({ host: loopback(1), port: PORT, localAddress: loopback(2), window: 64 });
    const { keys } = this.ledger;
    for (let i = 0; i < keys.length; i += TOGETHER) {
      const some = keys.slice(i, i + TOGETHER);
      const values = await client.getMany(some);
      for (const [place, key] of some.entries()) {
        const bytes = values[place];
        const problem = this.ledger.found(key, bytes && new TextDecoder().decode(bytes));
        if (problem !== undefined) this.violations.push(problem);
      }
    }
  }
}
