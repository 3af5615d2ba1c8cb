import { PERFECT_CONDITIONS, SeededRandom } from '../../../../device/link/index.js';
import { type CmEvent, type CmId, createId, type Pd, PortSpace } from '../../../../entry/index.js';
import { SimulatedCluster } from '../../../../entry/sim.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Actor } from './actor.js';
import { checkCounters, checkNothingLeft, checkQuiescence } from './checks.js';
import { Client } from './client.js';
import { LoneActor } from './lone-actor.js';
import { attributeName, messageOf } from './faults.js';
import { type CallToAll, GroupCalls } from './groups.js';
import { Host } from './host.js';
import type { MemberPlan } from './member-plan.js';
import { type Heard, Member } from './member.js';
import {
  type LoneActorPlan,
  type DisasterPlan,
  type ListenerPlan,
  type Plan,
  planAnswer,
  planCm,
  WILLING,
  WILLING_CLIENT,
} from './plan.js';
import { Registry } from './registry.js';
import { Server } from './server.js';
import type { World } from './world.js';

export interface CmFigures {
  readonly clients: number;
  readonly established: number;
  readonly events: number;
  readonly packets: number;
  readonly network: Readonly<Record<string, number>>;
  readonly virtualUs: number;
}

export interface CmRunOptions {
  /** Called with a line for each event, call and message. */
  readonly trace?: (line: string) => void;
}

const MAX_STEPS = 1_000_000;
/** More than any run needs: 15 repeats, each after an MRA's minute, and then some. */
const MAX_VIRTUAL_US = 4 * 3600e6;

/** One seeded run: hosts that come and go, programs that listen and ask, a rough network, and a model of it all. */
export class CmRun implements World {
  readonly registry = new Registry();
  readonly actors: Actor[] = [];
  readonly sent = new Map<string, number>();
  readonly #cluster: SimulatedCluster;
  readonly #random: SeededRandom;
  readonly #hosts: Host[] = [];
  readonly #all: Host[] = [];
  readonly #partitions = new Set<string>();
  readonly #groupCalls = new GroupCalls();
  #probing = false;

  constructor(
    readonly plan: Plan,
    private readonly options: CmRunOptions,
  ) {
    const { seed, conditions, hosts } = plan;
    this.#random = new SeededRandom(seed ^ 0xac7);
    this.#cluster = new SimulatedCluster({ seed, conditions });
    this.#watch();
    for (let i = 0; i < hosts; i += 1) this.#boot(i);
    for (const listener of plan.listeners) this.#planListener(listener, 0);
    for (const client of plan.clients) this.after(client.startUs, () => this.#startClient(client));
    for (const loneActor of plan.loneActors) this.after(loneActor.startUs, () => this.#startLoneActor(loneActor));
    for (const member of plan.members) this.after(member.startUs, () => this.#startMember(member));
    for (const disaster of plan.disasters) this.#planDisaster(disaster);
    this.after(plan.faultsEndUs, () => this.network.setConditions({ loss: 0, duplication: 0, reordering: 0 }));
  }

  get network() {
    return this.#cluster.network;
  }

  get nowUs(): number {
    return this.#cluster.nowUs;
  }

  get calm(): boolean {
    return this.plan.calm;
  }

  /** Every host that is there, those whose device is closed included. */
  get programs(): readonly Host[] {
    return this.#all.filter(({ fate }) => fate !== 'dead');
  }

  execute(): CmFigures {
    this.#run();
    checkQuiescence(this);
    this.#groupCalls.checkAll(this.actors, this.calm);
    for (const actor of this.actors) if (actor.host.fate !== 'dead') actor.destroy();
    this.network.setConditions(PERFECT_CONDITIONS);
    this.#run();
    this.#probe();
    for (const host of this.programs) host.endIdentifiers();
    this.#run();
    checkCounters(this);
    for (const host of this.programs) {
      checkNothingLeft(host);
      host.end();
    }
    return {
      clients: this.plan.clients.length,
      established: this.actors.filter(({ wasUp }) => wasUp).length,
      events: this.actors.reduce((sum, { history }) => sum + history.length, 0),
      packets: this.network.counts.sent,
      network: this.network.statistics(),
      virtualUs: this.#cluster.nowUs,
    };
  }

  after(afterUs: number, action: () => void): void {
    this.network.at(this.#cluster.nowUs + afterUs, action);
  }

  trace(line: () => string): void {
    this.options.trace?.(`${(this.#cluster.nowUs / 1e6).toFixed(6)} ${line()}`);
  }

  foreignPd({ index }: Host): Pd {
    return this.#hosts[(index + 1) % this.#hosts.length].pd;
  }

  groupAddress(group: number): string {
    return this.plan.ipv6 ? `ff15::${group + 1}` : `239.1.1.${group + 1}`;
  }

  noteCall(call: CallToAll): void {
    this.#groupCalls.add(call);
  }

  checkHearing(member: Member, heard: Heard): void {
    this.#groupCalls.checkHearing(member, heard);
  }

  addressOf(target: number | 'nowhere'): string {
    const last = target === 'nowhere' ? 99 : target + 1;
    return this.plan.ipv6 ? `fd00::${last}` : `10.0.0.${last}`;
  }

  serversOf(client: Client): readonly Server[] {
    return this.actors.filter((actor): actor is Server => actor instanceof Server && actor.client === client);
  }

  onRequest(host: Host, listener: ListenerPlan, event: CmEvent): () => void {
    const { peerAddr } = event.id;
    const candidates =
      peerAddr === undefined ? [] : this.registry.clientsAt(listener.space, peerAddr.host, peerAddr.port);
    const qpn = event.param.conn?.qpNum;
    const client = candidates.find((one) => qpn === undefined || one.qpn === qpn);
    check(client !== undefined, () => `${host.address}: a request that nobody sent, from port ${peerAddr?.port ?? 0}`);
    const plan = this.#probing ? WILLING : planAnswer(this.#random, listener.space);
    const server = new Server(this, host, listener, plan, this.actors.length, event, client);
    this.trace(() => `${server.toString()} is asked by ${client.number}: ${plan.answer}`);
    this.actors.push(server);
    return () => server.begin(event);
  }

  #run(): void {
    let steps = 0;
    do {
      steps += 1;
      check(
        steps < MAX_STEPS && this.#cluster.nowUs < MAX_VIRTUAL_US,
        () => `it goes on after ${this.#cluster.nowUs} us`,
      );
      for (const host of this.#all) host.pump();
    } while (this.#cluster.step());
  }

  #watch(): void {
    this.network.onPacket = (packet) => {
      const message = messageOf(packet);
      if (message === undefined) return 'pass';
      const name = attributeName(message.attribute);
      this.sent.set(name, (this.sent.get(name) ?? 0) + 1);
      this.trace(() => `${packet.from} sends ${name} to ${packet.to}`);
      return 'pass';
    };
  }

  #boot(index: number): void {
    const host = new Host(this.#cluster, index, this.addressOf(index), this);
    this.#hosts[index] = host;
    this.#all.push(host);
  }

  #planListener(plan: ListenerPlan, notBeforeUs: number): void {
    const nowUs = this.#cluster.nowUs;
    const fromUs = Math.max(plan.fromUs, notBeforeUs);
    if (fromUs >= plan.untilUs) return;
    const host = this.#hosts[plan.host];
    const open = (): void => {
      if (!host.up) return;
      const id = createId(host.channel, PortSpace[plan.space]);
      id.bindAddr({ host: host.address, port: plan.port });
      id.listen(plan.backlog);
      host.listeners.set(id, plan);
      if (plan.untilUs === Infinity) return;
      this.network.at(plan.untilUs, () => {
        if (!host.listeners.delete(id)) return;
        this.trace(() => `${host.address} stops listening on ${plan.port}`);
        id.destroy();
      });
    };
    if (fromUs <= nowUs) open();
    else this.network.at(fromUs, open);
  }

  #startClient(plan: Plan['clients'][number]): void {
    const host = this.#hosts[plan.host];
    if (!host.up) return;
    const client = new Client(this, host, plan, this.actors.length);
    this.actors.push(client);
    client.begin();
  }

  #startLoneActor(plan: LoneActorPlan): void {
    const host = this.#hosts[plan.host];
    if (!host.up) return;
    const loneActor = new LoneActor(this, host, plan, this.actors.length);
    this.actors.push(loneActor);
    loneActor.begin();
  }

  #startMember(plan: MemberPlan): void {
    const host = this.#hosts[plan.host];
    if (!host.up) return;
    const member = new Member(this, host, plan, this.actors.length);
    this.actors.push(member);
    member.begin();
  }

  #planDisaster(disaster: DisasterPlan): void {
    switch (disaster.kind) {
      case 'partition': {
        const [a, b] = disaster.hosts.map((index) => this.addressOf(index));
        this.after(disaster.fromUs, () => this.#part(a, b, true));
        this.after(disaster.untilUs, () => this.#part(a, b, false));
        break;
      }
      case 'close':
        this.after(disaster.atUs, () => this.#close(this.#hosts[disaster.host]));
        break;
      case 'death':
        this.after(disaster.atUs, () => this.#kill(this.#hosts[disaster.host]));
        if (disaster.backUs !== Infinity) this.after(disaster.backUs, () => this.#revive(disaster.host));
        break;
    }
  }

  #part(a: string, b: string, apart: boolean): void {
    this.trace(() => `${a} and ${b} are ${apart ? 'apart' : 'together again'}`);
    const key = `${a} ${b}`;
    if (apart) this.#partitions.add(key);
    else this.#partitions.delete(key);
    this.network.setDirection(a, b, { partitioned: apart });
    this.network.setDirection(b, a, { partitioned: apart });
  }

  /** The program closes its device, and tidies up after it. */
  #close(host: Host): void {
    if (!host.up) return;
    this.trace(() => `${host.address} closes its device`);
    host.fate = 'closed';
    host.context.close();
  }

  /** The host is gone without a word: what its device would say on closing goes nowhere. */
  #kill(host: Host): void {
    if (!host.up) return;
    this.trace(() => `${host.address} dies`);
    host.fate = 'dead';
    const others = this.#hosts.map(({ address }) => address);
    for (const other of others) this.network.setDirection(host.address, other, { partitioned: true });
    host.context.close();
    for (const other of others) {
      const apart =
        this.#partitions.has(`${host.address} ${other}`) || this.#partitions.has(`${other} ${host.address}`);
      this.network.setDirection(host.address, other, { partitioned: apart });
    }
  }

  #revive(index: number): void {
    if (this.#hosts[index].fate !== 'dead') return;
    this.#boot(index);
    this.trace(() => `${this.#hosts[index].address} is back`);
    for (const plan of this.plan.listeners) if (plan.host === index) this.#planListener(plan, this.#cluster.nowUs);
  }

  /** A listener that has seen all this still takes requests, and its answer arrives. */
  #probe(): void {
    const [asking] = this.#hosts.filter(({ up }) => up);
    const asked = this.#hosts.find(({ up, listeners }) => up && firstOf(listeners) !== undefined);
    const listener = asked && firstOf(asked.listeners);
    if (listener === undefined) return;
    this.#probing = true;
    const { host, port } = listener;
    const client = new Client(
      this,
      asking,
      { ...WILLING_CLIENT, host: asking.index, target: host, port },
      this.actors.length,
    );
    this.actors.push(client);
    client.begin();
    this.#run();
    const server = this.actors.at(-1);
    check(
      client.state === 'up' && server?.state === 'up',
      () => `after all this, ${client.toString()}, ${String(server)}`,
    );
  }
}

function firstOf(listeners: ReadonlyMap<CmId, ListenerPlan>): ListenerPlan | undefined {
  return [...listeners.values()].find(({ space }) => space === 'TCP');
}

/**
 * Plays the run of a seed.
 *
 * @throws SimulationFailure when the connection manager did something wrong, or whatever it threw
 */
export function runCmSeed(seed: number, options: CmRunOptions = {}): CmFigures {
  return new CmRun(planCm(seed), options).execute();
}
