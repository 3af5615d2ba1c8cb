import { alloc } from '../../../../entry/index.js';
import { SeededRandom } from '../../../../device/link/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import { type Persistence, persistIn, type SyncPolicy } from '../../persistence/index.js';
import { Partition, Span } from '../../store/index.js';
import { SimulatedDisk } from './disk.js';

const KEYS = 12;
const POLICIES: readonly SyncPolicy[] = ['always', 'never', { everyMs: 20 }];
const NO_KEYS: State = [];
const BEGINNING_MS = 1_700_000_000_000;

interface Entry {
  readonly key: string;
  readonly text: string;
  readonly expiresAtMs: number;
}
type State = readonly Entry[];

/** What may go wrong in a game. */
export interface Misfortune {
  /** The disk fails, or is full, now and then. */
  readonly fails: boolean;
  /** It says that it keeps what it does not. */
  readonly lies: boolean;
}

export function newStore(memoryBytes = 1 << 16): Partition {
  return new Partition({ mode: 'store', memory: alloc(memoryBytes), seed: 5n });
}

export function bytesOf(text: string): Span {
  return new Span(new TextEncoder().encode(text));
}

/**
 * A store on a disk that ends at any moment, with whatever serves it, and begins anew: each time it must hold what was promised. `always`: all that was committed. Otherwise all
 * until some moment since the last time that the disk has kept it, and nothing of what came later.
 */
export class Game {
  readonly disk: SimulatedDisk;
  readonly #random: SeededRandom;
  readonly #policy: SyncPolicy;
  readonly #log: string[] = [];
  #nowMs = BEGINNING_MS;
  #store = newStore();
  /** States that there may be after the machine has ended; after the program was killed, those from {@link #safe} on. */
  #possible: State[] = [NO_KEYS];
  #safe = 0;
  #current: State = NO_KEYS;
  #everything: State[] = [NO_KEYS];

  constructor(
    readonly seed: number,
    private readonly misfortune: Misfortune,
  ) {
    this.#random = new SeededRandom(seed);
    this.disk = new SimulatedDisk(this.#random);
    this.#policy = POLICIES[this.#random.below(POLICIES.length)];
  }

  play(): void {
    try {
      for (let life = this.#random.between(2, 5); life > 0; life -= 1) this.#live();
      this.#begin().close();
    } catch (error) {
      if (error instanceof VerbsError && error.errno === 'EIO' && this.misfortune.lies) return;
      if (error instanceof Error) error.message = `seed ${this.seed}: ${error.message}\n${this.#log.join('\n')}`;
      throw error;
    }
  }

  #live(): void {
    const persistence = this.#begin();
    const { disk } = this;
    disk.faults.lies = this.misfortune.lies;
    disk.faults.crashIn = this.#random.below(60);
    for (let pass = this.#random.below(40); pass > 0 && !disk.hasEnded; pass -= 1) this.#pass(persistence);
    if (disk.hasEnded) this.#note('the machine has ended');
    Object.assign(disk.faults, { room: Infinity, failingSyncs: 0, failingWrites: 0 });
    if (!disk.hasEnded && this.#random.chance(0.2)) {
      persistence.close();
      this.#note('closed');
      if (persistence.refusal === undefined) this.#keepAll();
    }
    if (this.#random.chance(0.5)) {
      this.#note('killed');
      this.#possible.splice(0, this.#safe);
      disk.kill();
    } else {
      this.#note('crashed');
      disk.crash();
    }
  }

  /** Opens what is there, which must be what was promised. */
  #begin(): Persistence {
    this.#store = newStore();
    const settings = {
      sync: this.#policy,
      wallMs: () => this.#nowMs,
      random: () => this.#random.u32(),
      leastLogBytes: this.#random.chance(0.5) ? 400 : 1e6,
      repair: false,
    };
    const persistence = persistIn(() => this.disk.openAgain(), this.disk.path, this.#store, settings);
    const found = this.#show(this.#state());
    const possible = this.misfortune.lies ? this.#everything : this.#possible;
    this.#note(`begins with ${found}`);
    if (!possible.some((state) => this.#show(state) === found))
      throw new Error(
        `it holds ${found}, and not any of\n  ${possible.map((state) => this.#show(state)).join('\n  ')}`,
      );
    this.#keepAll();
    return persistence;
  }

  #pass(persistence: Persistence): void {
    this.#nowMs += this.#random.below(15);
    const nowUs = (this.#nowMs - BEGINNING_MS) * 1000;
    persistence.timeMs(nowUs);
    this.#spoil();
    const before = { ...persistence.statistics };
    const committed = this.#possible.length;
    const refusal = persistence.refusal ?? this.#change(persistence);
    if (this.disk.hasEnded) return;
    const after = persistence.statistics;
    if (refusal === 'full') this.#possible.length = committed;
    else if (refusal === undefined) {
      this.#current = this.#possible[this.#possible.length - 1];
      this.#safe = this.#possible.length - 1;
      if (after.syncs > before.syncs && after.failures === before.failures) this.#keepAll();
    } else if (this.#possible.length > committed) {
      // It was taken back, and may be there again when the server begins anew.
      this.#safe = Math.min(this.#safe, committed - 1);
    }
    this.#expect(this.#current);
    if (this.#random.chance(0.7)) this.#work(persistence, nowUs);
  }

  #work(persistence: Persistence, nowUs: number): void {
    const before = persistence.statistics;
    persistence.work(nowUs);
    const after = persistence.statistics;
    if (this.disk.hasEnded) return;
    const isSynced = after.syncs > before.syncs && after.failures === before.failures;
    if (isSynced || after.snapshots > before.snapshots) this.#keepAll();
  }

  #change(persistence: Persistence): 'full' | 'failed' | undefined {
    for (let count = this.#random.between(1, 4); count > 0; count -= 1) {
      this.#operate();
      const state = this.#state();
      this.#possible.push(state);
      this.#everything.push(state);
    }
    const refusal = persistence.commit();
    this.#note(`commit: ${refusal ?? 'kept'}`);
    return refusal;
  }

  #operate(): void {
    const random = this.#random;
    const store = this.#store;
    const key = bytesOf(`k${random.below(KEYS)}`);
    const value = bytesOf(`${random.below(1000)}`.repeat(random.chance(0.1) ? 100 : 1));
    const ttlMs = random.chance(0.2) ? random.between(1, 100) : 0;
    const now = this.#nowMs;
    switch (random.below(7)) {
      case 0:
        store.delete(key, now);
        return;
      case 1:
        store.touch(key, ttlMs, now);
        return;
      case 2:
        store.incr(key, 3n, now);
        return;
      case 3:
        store.add(key, value, now, ttlMs);
        return;
      case 4:
        if (store.get(key, now) === 0) store.cas(key, value, store.entry.version, now, ttlMs);
        return;
      default:
        store.set(key, value, now, ttlMs);
    }
  }

  #spoil(): void {
    if (!this.misfortune.fails || !this.#random.chance(0.15)) return;
    const { faults } = this.disk;
    const which = this.#random.below(4);
    if (which === 0) faults.failingSyncs = 1;
    else if (which === 1) faults.failingWrites = 1;
    else if (which === 2) faults.room = this.#random.below(3000);
    else faults.room = Infinity;
    this.#note(`faults ${JSON.stringify(faults)}`);
    // Time for the disk to be tried again.
    this.#nowMs += this.#random.below(1500);
  }

  #keepAll(): void {
    this.#current = this.#state();
    this.#possible = [this.#current];
    this.#safe = 0;
  }

  #state(): State {
    const entries: Entry[] = [];
    let cursor = 0;
    do
      cursor = this.#store.scan(cursor, KEYS, this.#nowMs, (entry) => {
        const key = Buffer.from(entry.key()).toString();
        const value = Buffer.from(entry.value()).toString();
        entries.push({ key, text: `${key}=${value}@${entry.version}`, expiresAtMs: entry.expiresAtMs });
      });
    while (cursor !== 0);
    return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #show(state: State): string {
    const there = state.filter(({ expiresAtMs }) => expiresAtMs === 0 || expiresAtMs > this.#nowMs);
    return `{${there.map(({ text, expiresAtMs }) => (expiresAtMs === 0 ? text : `${text} until ${expiresAtMs}`)).join(', ')}}`;
  }

  #expect(state: State): void {
    const found = this.#show(this.#state());
    const wanted = this.#show(state);
    if (found !== wanted) throw new Error(`in memory there is ${found}, and not ${wanted}`);
  }

  #note(what: string): void {
    this.#log.push(`${this.#nowMs - BEGINNING_MS} ms: ${what}`);
  }
}
