import { AccessFlags, QpState } from '../../src/device/ibta/index.js';
import { SeededRandom, SimulatedNetwork } from '../../src/device/link/index.js';
import { CommandError } from '../../src/device/nic/index.js';
import { TestHost } from '../../src/device/nic/test/host.js';
import type { Manner } from '../support/foreign-memory.js';
import { Captured } from '../../src/device/nic/test/packets.js';
import type { ConnectOptions } from '../../src/device/nic/test/qp.js';
import { checkCounters } from './check-counters.js';
import { checkWorld } from './check-world.js';
import { type Disorder, ReliableDeliveries, UnreliableDeliveries } from './deliveries.js';
import { type Connection, type Endpoint, makeEndpoint, makeHostMemory } from './endpoint.js';
import { check } from './failure.js';
import { Flow, MAX_IDLE_PACE_US, RETRY_COUNT } from './flow.js';
import { PacketBook } from './packet-book.js';
import { type Actor, Program } from './program.js';
import { Receiver } from './receiver.js';
import { type ConnectionPlan, type FlowPlan, LATE_US, planScenario, RNR_FOR_EVER, type Scenario } from './scenario.js';
import { permissions } from './transport.js';
import { WireWatch } from './wire-watch.js';

export interface RunFigures {
  readonly requests: number;
  readonly messages: number;
  readonly packets: number;
  readonly retransmitted: number;
  /** Ends of each transport, their requests that came to an end, messages sent, and those that came. */
  readonly byTransport: Readonly<Record<string, number>>;
  readonly virtualUs: number;
  readonly network: Readonly<Record<string, number>>;
}

export interface RunOptions {
  /** Called with a line for each packet. */
  readonly trace?: (line: string) => void;
}

/** More than any run needs, so that one which never ends is noticed. */
const MAX_EVENTS = 2_000_000;
const MAX_VIRTUAL_US = 60e6;
/** How long after the end packets are let run out: late duplicates must change nothing. */
const AFTERMATH_US = 10_000;
const MEMORY_SEED = 0x3e307;
const ALL_REMOTE = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

/** A third of all regions is plain bytes, a third is copied at once, and a third later. */
function pickManner(random: SeededRandom): Manner | undefined {
  const manners = [undefined, {}, { delayUs: () => random.fraction() * LATE_US }];
  return random.pick(manners);
}

/** One seeded run: hosts, programs that post and poll at random times, a rough network, and a model of it all. */
class Run {
  readonly #random: SeededRandom;
  readonly #network: SimulatedNetwork;
  readonly #hosts: TestHost[];
  readonly #programs: Program[];
  readonly #connections: Connection[] = [];
  readonly #wire = new WireWatch();
  readonly #packets: PacketBook;
  readonly #dead = new Set<TestHost>();
  /** Hosts whose driver did something since their NIC had its last turn. */
  readonly #dirty = new Set<TestHost>();

  constructor(
    private readonly scenario: Scenario,
    { trace }: RunOptions,
  ) {
    const { seed, conditions, hideIpId, ipv6, inboxLimitBytes, inboxMarkBytes, foreignMemory } = scenario;
    // Numbers of their own, so that packets are the same where all memory is plain.
    const memories = new SeededRandom(seed ^ MEMORY_SEED);
    this.#random = new SeededRandom(seed ^ 0x5eed5eed);
    this.#network = new SimulatedNetwork({ seed, conditions, hideIpId });
    this.#network.onPacket = (packet) => {
      trace?.(Captured.of(packet).toString());
      this.#wire.see(packet);
      return 'pass';
    };
    this.#packets = new PacketBook(this.#network);
    this.#packets.onTaken = (address, bytes, kind) => this.#wire.take(address, bytes, kind);
    this.#hosts = Array.from({ length: scenario.hosts }, (_, i) => {
      const address = ipv6 ? `fd00::${String(i + 1)}` : `10.0.0.${String(i + 1)}`;
      return new TestHost(this.#network, address, {
        seed: seed + 7919 * (i + 1),
        link: { inboxLimitBytes, inboxMarkBytes },
        memory: foreignMemory ? () => pickManner(memories) : undefined,
      });
    });
    this.#programs = this.#hosts.map((host) => new Program(makeHostMemory(host, scenario, this.#random), this.#random));
    for (const plan of scenario.connections) this.#connect(plan);
    this.#planFaults();
    for (const program of this.#programs) for (const actor of program.actors) this.#schedule(program, actor);
  }

  execute(): RunFigures {
    for (let events = 0; !this.#finished; events += 1) {
      check(
        events < MAX_EVENTS && this.#network.nowUs < MAX_VIRTUAL_US,
        () => `not done after ${this.#network.nowUs.toFixed(0)} us:\n${this.#rest()}`,
      );
      this.#step();
    }
    const untilUs = this.#network.nowUs + AFTERMATH_US;
    while (this.#nextUs() <= untilUs) this.#step();
    for (const program of this.#programs) program.pollAll();
    // A NIC drops packets that wait for memory which takes long, where they are too many.
    const dropped = this.#programs.some(({ memory }) => memory.host.nic.counters.rxMemoryBusy > 0);
    const perfect = losesNothing(this.scenario) && !dropped;
    const undisturbed = perfect && this.scenario.ending === 'well';
    checkWorld(this.#programs, this.#connections, this.#dead, perfect);
    checkCounters(this.#programs, this.#packets, this.#wire, { dead: this.#dead, perfect, undisturbed });
    return this.#figures();
  }

  get #actors(): Actor[] {
    return this.#programs.flatMap(({ actors }) => actors);
  }

  #actorsOf(connection: Connection): Actor[] {
    return this.#actors.filter(({ flow }) => flow.end.connection === connection);
  }

  get #finished(): boolean {
    return this.#programs.every(
      ({ memory, actors }) => this.#dead.has(memory.host) || actors.every(({ flow }) => flow.finished),
    );
  }

  /** When the NIC of a host has its next turn, if it has something to do at `dueUs`: some hosts look now and then only. */
  #turnUs(dueUs: number): number {
    const { turnEveryUs } = this.scenario;
    return turnEveryUs === 0 ? dueUs : Math.ceil(dueUs / turnEveryUs) * turnEveryUs;
  }

  /** When the host's NIC has something to do, in its own opinion or ours. */
  #dueUs(host: TestHost): number {
    if (this.#dead.has(host)) return Infinity;
    const now = host.link.waiting > 0 || this.#dirty.has(host);
    return now ? this.#network.nowUs : Math.min(host.nic.nextWakeupUs(), host.nextCopyUs);
  }

  #nextUs(): number {
    let nextUs = this.#network.nextEventUs();
    for (const host of this.#hosts) nextUs = Math.min(nextUs, this.#turnUs(this.#dueUs(host)));
    return nextUs;
  }

  #step(): void {
    const nextUs = this.#nextUs();
    check(nextUs !== Infinity, () => `nothing is going to happen, and this is open:\n${this.#rest()}`);
    this.#network.advanceTo(Math.max(nextUs, this.#network.nowUs));
    const { nowUs } = this.#network;
    for (const program of this.#programs) {
      const { host } = program.memory;
      if (this.#turnUs(this.#dueUs(host)) > nowUs) continue;
      this.#dirty.delete(host);
      host.turn(nowUs);
      // A program that sleeps is awake a little later.
      for (const cq of program.events())
        this.#network.at(nowUs + this.#random.below(20), () => {
          if (!this.#dead.has(host)) program.wake(cq);
        });
    }
  }

  #connect(plan: ConnectionPlan): void {
    const { scenario } = this;
    const random = this.#random;
    const connection: Connection = { plan, doomedUs: Infinity, doom: '', drains: 0 };
    this.#connections.push(connection);
    const programs = plan.hosts.map((host) => this.#programs[host]);
    const ends = programs.map(({ memory }, i) =>
      makeEndpoint(memory, connection, plan.flows[i], plan.flows[1 - i], scenario, random),
    );
    const disorder = disorderOf(scenario);
    const receivers = ends.map((end, i) => {
      const deliveries = end.rules.reliable ? new ReliableDeliveries() : new UnreliableDeliveries(disorder);
      return new Receiver(end, ends[1 - i], deliveries, disorder.inOrder);
    });
    const now = (): number => this.#network.nowUs;
    const perfect = losesNothing(scenario);
    const flows = ends.map((end, i) => new Flow(end, ends[1 - i], receivers[1 - i], random, now, perfect));
    for (const flow of flows) this.#wire.add(flow);
    programs.forEach((program, i) => program.add({ flow: flows[i], receiver: receivers[i], paceUs: scenario.paceUs }));
    this.#bringUp(plan, ends, flows);
  }

  #bringUp(plan: ConnectionPlan, ends: readonly Endpoint[], flows: readonly Flow[]): void {
    ends.forEach(({ qp, inbound, rules }, i) => {
      const own = plan.flows[i];
      const peers = plan.flows[1 - i];
      const options: ConnectOptions = {
        pathMtu: plan.pathMtu,
        sqPsn: own.sqPsn,
        rqPsn: peers.sqPsn,
        timeout: own.timeout,
        retryCnt: RETRY_COUNT,
        rnrRetry: plan.rnrRetry,
        minRnrTimer: peers.minRnrTimer,
        maxRdAtomic: own.maxRdAtomic,
        maxDestRdAtomic: peers.maxRdAtomic,
        qpAccessFlags: accessFor(peers),
      };
      qp.modify(rules.init(options));
      qp.modify(rules.rtr(ends[1 - i].inbound.peer, options));
      if (rules.targetRtr !== undefined) {
        inbound.modify(rules.init(options));
        inbound.modify(rules.targetRtr(ends[1 - i].qp.peer, options));
      }
      if (i === 0 || plan.lateRtsUs === 0) {
        qp.modify(rules.rts(options));
        return;
      }
      flows[i].ready = false;
      this.#network.at(plan.lateRtsUs, () => {
        // In ERR already, when the peer's request was refused: what is posted then is flushed.
        if (qp.state === QpState.RTR) qp.modify(rules.rts(options));
        flows[i].ready = true;
      });
    });
    if (plan.drainUs !== Infinity) this.#network.at(plan.drainUs, () => this.#drain(flows[0]));
  }

  /** Sends a QP to SQD, and back to RTS as soon as it lets us. */
  #drain(flow: Flow): void {
    const { qp, connection } = flow.end;
    if (qp.state !== QpState.RTS) return;
    const notify = this.#random.below(2);
    connection.drains += notify;
    qp.modify({ qpState: QpState.SQD, enSqdAsyncNotify: notify });
    flow.hold();
    this.#dirty.add(qp.host);
    const back = (): void => {
      if (qp.state !== QpState.SQD) return;
      try {
        qp.modify({ qpState: QpState.RTS });
        flow.resume();
        this.#dirty.add(qp.host);
      } catch (error) {
        if (!(error instanceof CommandError) || error.errno !== 'EINVAL') throw error;
        this.#network.at(this.#network.nowUs + 100, back);
      }
    };
    this.#network.at(this.#network.nowUs + this.#random.below(2000), back);
  }

  #planFaults(): void {
    const { faultsEndUs, ending, endingUs, connections } = this.scenario;
    const random = this.#random;
    this.#network.at(faultsEndUs, () =>
      this.#network.setConditions({ loss: 0, duplication: 0, reordering: 0, corruption: 0 }),
    );
    if (ending === 'storm') {
      this.#doom('storm', () => true);
    } else if (ending === 'death') {
      const victim = random.pick(this.#hosts);
      this.#network.at(endingUs, () => this.#kill(victim));
    } else if (ending === 'partition') {
      const [one, other] = random.pick(connections).hosts;
      this.#network.at(endingUs, () => this.#cut(this.#hosts[one], this.#hosts[other]));
    } else if (ending === 'refusal') {
      for (const connection of this.#connections) {
        const flows = this.#actorsOf(connection).map(({ flow }) => flow);
        const flow = random.pick(flows);
        if (flow.end.rules.reliable) flow.refusedRequest = random.below(flow.end.plan.requests);
      }
    } else if (ending === 'unready') {
      for (const connection of this.#connections) {
        if (connection.plan.rnrRetry === RNR_FOR_EVER) continue;
        connection.doomedUs = 0;
        connection.doom = 'unready';
        this.#network.at(endingUs, () => this.#actorsOf(connection).forEach(({ receiver }) => receiver.stop()));
      }
    }
  }

  #kill(victim: TestHost): void {
    this.#dead.add(victim);
    this.#network.detach(victim.address);
    this.#doom('death', (hosts) => hosts.includes(victim));
  }

  #cut(one: TestHost, other: TestHost): void {
    this.#network.partition(one.address, other.address);
    this.#doom('partition', ([first, second]) =>
      first === one ? second === other : first === other && second === one,
    );
  }

  /** From now on errors are to be expected on the connections between certain hosts. */
  #doom(why: string, concerns: (hosts: readonly TestHost[]) => boolean): void {
    for (const connection of this.#connections) {
      if (!concerns(connection.plan.hosts.map((host) => this.#hosts[host]))) continue;
      connection.doomedUs = Math.min(connection.doomedUs, this.#network.nowUs);
      connection.doom = why;
    }
  }

  /** Has a program look at its queues again after a while. */
  #schedule(program: Program, actor: Actor): void {
    const { host } = program.memory;
    const delayUs = actor.paceUs * (0.2 + 1.6 * this.#random.fraction());
    this.#network.at(this.#network.nowUs + delayUs, () => {
      if (this.#dead.has(host) || this.#finished) return;
      const busy = program.work(actor);
      if (busy) this.#dirty.add(host);
      actor.paceUs = busy ? this.scenario.paceUs : Math.min(1.5 * actor.paceUs, MAX_IDLE_PACE_US);
      this.#schedule(program, actor);
    });
  }

  #rest(): string {
    return this.#actors
      .filter(({ flow }) => !flow.finished && !this.#dead.has(flow.end.qp.host))
      .map(({ flow }) => flow.rest)
      .join('\n');
  }

  #transportCounts(): Record<string, number> {
    const counts: Record<string, number> = {};
    const add = (name: string, count: number): void => {
      counts[name] = (counts[name] ?? 0) + count;
    };
    for (const { flow, receiver } of this.#actors) {
      const { transport } = flow.end.connection.plan;
      add(`ends of ${transport}`, 1);
      add(`requests over ${transport}`, flow.completed);
      add(`messages to ${transport}`, receiver.posted);
      add(`messages over ${transport}`, receiver.received);
    }
    return counts;
  }

  #figures(): RunFigures {
    let retransmitted = 0;
    for (const host of this.#hosts) retransmitted += host.nic.counters.snapshot()['retransmitted_pkts'] ?? 0;
    return {
      requests: this.#actors.reduce((sum, { flow }) => sum + flow.completed, 0),
      messages: this.#actors.reduce((sum, { receiver }) => sum + receiver.received, 0),
      packets: this.#network.counts.sent,
      byTransport: this.#transportCounts(),
      retransmitted,
      virtualUs: this.#network.nowUs,
      network: this.#network.statistics(),
    };
  }
}

/** What the network does to packets that nobody sends again. */
function disorderOf({ conditions: { duplication = 0, reordering = 0 } }: Scenario): Disorder {
  return { copies: duplication > 0 ? 2 : 1, inOrder: duplication === 0 && reordering === 0 };
}

/** What a queue pair lets its peer do, whose requests are planned so. */
function accessFor({ forbidden }: FlowPlan): number {
  return forbidden === undefined ? ALL_REMOTE : ALL_REMOTE & ~permissions[forbidden].access;
}

/** Whether every packet arrives, once and in order. */
function losesNothing(scenario: Scenario): boolean {
  const { conditions, inboxLimitBytes, ending } = scenario;
  const { loss = 0, corruption = 0, queueLimitBytes } = conditions;
  const limits = Math.min(inboxLimitBytes, queueLimitBytes ?? Infinity);
  const together = ending !== 'death' && ending !== 'partition';
  return disorderOf(scenario).inOrder && loss === 0 && corruption === 0 && limits === Infinity && together;
}

/**
 * Plays the run of a seed.
 *
 * @throws SimulationFailure when the NIC did something wrong, or whatever it threw
 */
export function runSeed(seed: number, options: RunOptions = {}): RunFigures {
  return new Run(planScenario(seed), options).execute();
}
