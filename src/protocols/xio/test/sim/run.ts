import { SeededRandom } from '../../../../device/link/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Figures } from '../../../../../test/sim/game.js';
import { Clock } from './clock.js';
import { Ledger } from './ledger.js';
import { type FaultPlan, planXio, type SharePlan, type XioPlan } from './plan.js';
import type { SimClient } from './sim-client.js';
import type { ServedEnd } from './served-end.js';
import { SimServer } from './sim-server.js';
import { SimSession } from './sim-session.js';
import { Vault } from './vault.js';
import type { World } from './world.js';

/** By then nothing goes wrong any more, and all was asked. */
const CALM_US = 250_000;
/** And by then all of it has its answer: sessions are given up after a minute. */
const END_US = 200e6;

/** One seeded run: clients and servers whose links are cut, servers that go and come, and a ledger beside them. */
class XioRun {
  readonly #world: World;
  readonly #servers: readonly SimServer[];
  readonly #sessions: readonly SimSession[];
  readonly #vaults: Vault[] = [];
  #cuts = 0;
  #accesses = 0;

  constructor(private readonly plan: XioPlan) {
    const random = new SeededRandom(~plan.seed);
    const directRandom = new SeededRandom(~Math.imul(plan.seed, 0x85eb_ca6b));
    this.#world = {
      plan,
      clock: new Clock(),
      random,
      directRandom,
      ledger: new Ledger(),
      accesses: [],
      ends: new Map(),
    };
    this.#servers = plan.servers.map((_, index) => new SimServer(this.#world, index));
    this.#sessions = plan.clients.map((client) => new SimSession(this.#world, client, this.#servers));
  }

  play(): Figures {
    const { clock, ledger } = this.#world;
    for (const session of this.#sessions) session.start();
    for (const share of this.plan.shares) clock.after(share.atUs, () => this.#share(share));
    for (const fault of this.plan.faults) clock.after(fault.atUs, () => this.#fault(fault));
    clock.run(CALM_US);
    clock.after(0, () => this.#finish());
    const isStill = clock.run(END_US);
    check(isStill, () => 'the world does not come to rest');
    check(
      this.#sessions.every(({ all }) => all.every(({ isOver }) => isOver)),
      () => 'a session does not end',
    );
    for (const server of this.#servers)
      check(server.sessions === 0, () => `a server is left with ${server.sessions} sessions`);
    for (const look of this.#world.accesses) look();
    for (const vault of this.#vaults) vault.close();
    const outcomes = ledger.close();
    const sum = (count: (client: SimClient) => number): number =>
      this.#sessions.flatMap(({ all }) => all).reduce((total, client) => total + count(client), 0);
    const counts = {
      clients: this.#sessions.length,
      connections: sum(() => 1),
      ...outcomes,
      accesses: this.#accesses,
      cuts: this.#cuts,
      reconnects: sum(({ reconnects }) => reconnects),
      restarts: sum(({ restarts }) => restarts),
      moves: sum(({ moves }) => moves),
      rejections: sum(({ rejections }) => rejections),
      replayed: sum(({ speaker }) => speaker.channel.replayed),
    };
    return { counts, network: {}, virtualUs: clock.nowUs };
  }

  #share({ by, client: index, atUs, revokedUs, cells, accesses }: SharePlan): void {
    const client = this.#sessions[index].leading;
    const served = client.servedEnd;
    if (client.isOver || served === undefined || served.isOver) return;
    const owner = by === 'client' ? client : served;
    const { clock } = this.#world;
    const vault = new Vault(cells);
    this.#vaults.push(vault);
    const id = owner.direct.share(vault);
    if (revokedUs !== Infinity) clock.after(revokedUs - atUs, () => this.#revoke(owner, id, vault));
    for (const { isRead, atUs: beginsUs, deadlineUs } of accesses)
      clock.after(beginsUs - atUs, () => {
        const user = by === 'client' ? client.servedEnd : client;
        if (user === undefined || user.isOver) return;
        this.#accesses += 1;
        // A client may have left the end that had taken its session for another server.
        user.direct.access(id, vault, isRead, deadlineUs, () => !owner.isOver && client.servedEnd === served);
      });
  }

  #revoke(owner: SimClient | ServedEnd, id: Uint8Array, vault: Vault): void {
    if (!owner.isOver) owner.direct.unshare(id, vault);
  }

  #finish(): void {
    for (const session of this.#sessions) session.finish();
  }

  #cutAll(): void {
    for (const session of this.#sessions) session.cutAll();
  }

  #fault({ kind, who, forUs, to, connection }: FaultPlan): void {
    const { clock } = this.#world;
    if (kind === 'cut') {
      this.#cuts += 1;
      this.#sessions[who].cut(connection);
      return;
    }
    const server = this.#servers[who];
    if (kind === 'move') {
      server.move(to);
      if (forUs > 0) clock.after(forUs, () => this.#cutAll());
      return;
    }
    if (kind === 'restart') server.crash();
    else server.isUp = false;
    clock.after(forUs, () => (server.isUp = true));
  }
}

/** Plays a seed. @throws SimulationFailure for what the model does not allow */
export function runXioSeed(seed: number): Figures {
  return new XioRun(planXio(seed)).play();
}
