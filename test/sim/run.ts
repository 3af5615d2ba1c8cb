import { AccessFlags, QpState, EventType } from '../../src/spec/index.js';
import { SeededRandom, SimulatedNetwork } from '../../src/link/index.js';
import { CommandError } from '../../src/nic/index.js';
import { TestHost } from '../nic/host.js';
import { Captured } from '../nic/packets.js';
import { type ConnectOptions, rtsAttr } from '../nic/qp.js';
import type { Completion, DriverCq } from '../nic/rings.js';
import { type Connection, type Endpoint, type HostMemory, makeEndpoint, makeHostMemory } from './endpoint.js';
import { check, SimulationFailure } from './failure.js';
import { Flow, MAX_IDLE_PACE_US, RETRY_COUNT } from './flow.js';
import { Receiver } from './receiver.js';
import { type ConnectionPlan, planScenario, type Scenario } from './scenario.js';

/** What a run came to. */
export interface RunFigures {
  readonly requests: number;
  readonly messages: number;
  readonly packets: number;
  readonly retransmitted: number;
  readonly virtualUs: number;
  readonly network: Readonly<Record<string, number>>;
}

export interface RunOptions {
  /** Called with a line for each packet. */
  readonly trace?: (line: string) => void;
}

/** More than any run needs, so that one which never ends is noticed. */
const MAX_EVENTS = 2_000_000;
const MAX_VIRTUAL_US = 600e6;

interface Agent {
  readonly flow: Flow;
  readonly receiver: Receiver;
  paceUs: number;
}

/** One seeded run: hosts, programs that post and poll at random times, a rough network, and a model of it all. */
class Run {
  readonly #random: SeededRandom;
  readonly #network: SimulatedNetwork;
  readonly #hosts: TestHost[];
  readonly #memories: HostMemory[];
  readonly #agents: Agent[] = [];
  readonly #byQpn = new Map<DriverCq, Map<number, Agent>>();
  readonly #dead = new Set<TestHost>();
  /** Hosts whose driver did something since their NIC had its last turn. */
  readonly #dirty = new Set<TestHost>();

  constructor(
    private readonly scenario: Scenario,
    options: RunOptions,
  ) {
    this.#random = new SeededRandom(scenario.seed ^ 0x5eed5eed);
    this.#network = new SimulatedNetwork({
      seed: scenario.seed,
      conditions: scenario.conditions,
      hideIpId: scenario.hideIpId,
    });
    const { trace } = options;
    if (trace !== undefined)
      this.#network.onPacket = (packet) => {
        trace(Captured.of(packet).toString());
        return 'pass';
      };
    this.#hosts = Array.from({ length: scenario.hosts }, (_, i) => {
      const address = scenario.ipv6 ? `fd00::${String(i + 1)}` : `10.0.0.${String(i + 1)}`;
      return new TestHost(this.#network, address, {
        seed: scenario.seed + 7919 * (i + 1),
        link: { inboxLimitBytes: scenario.inboxLimitBytes },
      });
    });
    this.#memories = this.#hosts.map((host) => makeHostMemory(host, scenario, this.#random));
    for (const plan of scenario.connections) this.#connect(plan);
    this.#planFaults();
    for (const agent of this.#agents) this.#schedule(agent);
  }

  execute(): RunFigures {
    for (let events = 0; !this.#finished; events += 1) {
      check(
        events < MAX_EVENTS && this.#network.nowUs < MAX_VIRTUAL_US,
        () => `not done after ${this.#network.nowUs.toFixed(0)} us:\n${this.#rest()}`,
      );
      this.#step();
    }
    // What is still under way: late duplicates must change nothing.
    const untilUs = this.#network.nowUs + 10_000;
    while (this.#nextUs() <= untilUs) this.#step();
    this.#pollAll();
    this.#checkAll();
    return this.#figures();
  }

  /** When the NIC of a host has its next turn, if it has something to do at `dueUs`: some hosts look now and then only. */
  #turnUs(dueUs: number): number {
    const { turnEveryUs } = this.scenario;
    return turnEveryUs === 0 ? dueUs : Math.ceil(dueUs / turnEveryUs) * turnEveryUs;
  }

  get #finished(): boolean {
    return this.#agents.every(({ flow }) => this.#dead.has(flow.end.qp.host) || flow.finished);
  }

  /** When the host's NIC has something to do, in its own opinion or ours. */
  #dueUs(host: TestHost): number {
    if (this.#dead.has(host)) return Infinity;
    const now = host.link.waiting > 0 || this.#dirty.has(host);
    return now ? this.#network.nowUs : host.nic.nextWakeupUs();
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
    for (const host of this.#hosts) {
      if (this.#turnUs(this.#dueUs(host)) > nowUs) continue;
      this.#dirty.delete(host);
      host.turn(nowUs);
    }
  }

  #connect(plan: ConnectionPlan): void {
    const { scenario } = this;
    const random = this.#random;
    const connection: Connection = { plan, doomedUs: Infinity, doom: '' };
    const ends = plan.hosts.map((host, i) =>
      makeEndpoint(this.#memories[host], connection, plan.flows[i], plan.flows[1 - i], scenario, random),
    );
    const receivers = ends.map((end) => new Receiver(end, random));
    const flows = ends.map((end, i) => new Flow(end, ends[1 - i], receivers[1 - i], random, () => this.#network.nowUs));
    ends.forEach((end, i) => {
      const agent = { flow: flows[i], receiver: receivers[i], paceUs: scenario.paceUs };
      this.#agents.push(agent);
      for (const cq of [end.qp.sendCq, end.qp.recvCq]) {
        const agents = this.#byQpn.get(cq) ?? new Map<number, Agent>();
        this.#byQpn.set(cq, agents.set(end.qp.qpn, agent));
      }
    });
    this.#bringUp(plan, ends, flows);
  }

  #bringUp(plan: ConnectionPlan, ends: readonly Endpoint[], flows: readonly Flow[]): void {
    ends.forEach(({ qp }, i) => {
      const own = plan.flows[i];
      const peers = plan.flows[1 - i];
      const options: ConnectOptions = {
        pathMtu: plan.pathMtu,
        sqPsn: own.sqPsn,
        rqPsn: peers.sqPsn,
        timeout: own.timeout,
        retryCnt: RETRY_COUNT,
        rnrRetry: 7,
        minRnrTimer: peers.minRnrTimer,
        maxRdAtomic: own.maxRdAtomic,
        maxDestRdAtomic: peers.maxRdAtomic,
        qpAccessFlags: AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC,
      };
      qp.toRtr(ends[1 - i].qp.peer, options);
      if (i === 0 || plan.lateRtsUs === 0) {
        qp.modify(rtsAttr(options));
        return;
      }
      flows[i].ready = false;
      this.#network.at(plan.lateRtsUs, () => {
        // In ERR already, when the peer's request was refused: what is posted then is flushed.
        if (qp.state === QpState.RTR) qp.modify(rtsAttr(options));
        flows[i].ready = true;
      });
    });
    if (plan.drainUs !== Infinity) this.#network.at(plan.drainUs, () => this.#drain(ends[0]));
  }

  /** Sends a QP to SQD, and back to RTS as soon as it lets us. */
  #drain({ qp }: Endpoint): void {
    if (qp.state !== QpState.RTS) return;
    qp.modify({ qpState: QpState.SQD });
    this.#dirty.add(qp.host);
    const back = (): void => {
      if (qp.state !== QpState.SQD) return;
      try {
        qp.modify({ qpState: QpState.RTS });
        this.#dirty.add(qp.host);
      } catch (error) {
        if (!(error instanceof CommandError) || error.errno !== 'EINVAL') throw error;
        this.#network.at(this.#network.nowUs + 100, back);
      }
    };
    this.#network.at(this.#network.nowUs + this.#random.below(2000), back);
  }

  #planFaults(): void {
    const { faultsEndUs, ending, endingUs } = this.scenario;
    const random = this.#random;
    this.#network.at(faultsEndUs, () =>
      this.#network.setConditions({ loss: 0, duplication: 0, reordering: 0, corruption: 0 }),
    );
    if (ending === 'death') {
      const victim = random.pick(this.#hosts);
      this.#network.at(endingUs, () => this.#kill(victim));
    } else if (ending === 'partition') {
      const [one, other] = random.pick(this.scenario.connections).hosts;
      this.#network.at(endingUs, () => this.#cut(this.#hosts[one], this.#hosts[other]));
    } else if (ending === 'refusal') {
      const { flow } = random.pick(this.#agents);
      flow.refusedRequest = random.below(flow.end.plan.requests);
    }
  }

  #kill(victim: TestHost): void {
    this.#dead.add(victim);
    this.#network.detach(victim.address);
    this.#doom('death', ({ qp }, peer) => qp.host === victim || peer.qp.host === victim);
  }

  #cut(one: TestHost, other: TestHost): void {
    this.#network.partition(one.address, other.address);
    this.#doom(
      'partition',
      ({ qp }, peer) => (qp.host === one && peer.qp.host === other) || (qp.host === other && peer.qp.host === one),
    );
  }

  #doom(why: string, concerns: (end: Endpoint, peer: Endpoint) => boolean): void {
    for (const { flow } of this.#agents) {
      if (!concerns(flow.end, flow.peer)) continue;
      const { connection } = flow.end;
      connection.doomedUs = Math.min(connection.doomedUs, this.#network.nowUs);
      connection.doom = why;
    }
  }

  /** Has a program look at its queues again after a while. */
  #schedule(agent: Agent): void {
    const delayUs = agent.paceUs * (0.2 + 1.6 * this.#random.fraction());
    this.#network.at(this.#network.nowUs + delayUs, () => {
      const { flow, receiver } = agent;
      const { qp } = flow.end;
      if (this.#dead.has(qp.host) || this.#finished) return;
      const polled = this.#poll(qp.sendCq) + this.#poll(qp.recvCq);
      const received = receiver.work();
      const posted = flow.work();
      const busy = polled > 0 || received || posted;
      if (busy) this.#dirty.add(qp.host);
      agent.paceUs = busy ? this.scenario.paceUs : Math.min(1.5 * agent.paceUs, MAX_IDLE_PACE_US);
      this.#schedule(agent);
    });
  }

  #poll(cq: DriverCq): number {
    check(!cq.overrun, () => 'a CQ overran');
    const completions = cq.poll(this.#random.between(1, 16));
    for (const completion of completions) this.#dispatch(cq, completion);
    return completions.length;
  }

  #dispatch(cq: DriverCq, completion: Completion): void {
    const agent = this.#byQpn.get(cq)?.get(completion.qpNum);
    check(agent !== undefined, () => `a completion for QP 0x${completion.qpNum.toString(16)}, which is not here`);
    // wr_ids of receives have a range of their own; opcodes mean nothing in an error.
    if (agent.receiver.owns(completion.wrId)) agent.receiver.take(completion);
    else agent.flow.take(completion);
  }

  #pollAll(): void {
    for (const cq of this.#byQpn.keys()) for (const completion of cq.poll()) this.#dispatch(cq, completion);
  }

  #checkAll(): void {
    for (const { flow, receiver } of this.#agents) {
      if (this.#dead.has(flow.end.qp.host)) flow.abandon();
      flow.checkMemory();
      receiver.checkMemory();
    }
    for (const memory of this.#memories) {
      const { host, source, sourceCopy, counter, additions, unknownAdditions } = memory;
      check(Buffer.compare(source.bytes, sourceCopy) === 0, () => `source memory of ${host.ip} was written to`);
      const value = Number(counter.view.getBigUint64(0, true));
      check(
        value >= additions && value <= additions + unknownAdditions,
        () => `the counter of ${host.ip} is ${String(value)} after ${String(additions)} additions`,
      );
      for (const event of host.events) {
        const doomed = this.#agents.some(
          ({ flow }) => flow.end.qp.qpn === event.qpn && flow.end.connection.doomedUs !== Infinity,
        );
        check(
          event.type === EventType.COMM_EST || (doomed && event.cqn === undefined),
          () => `unexpected event ${JSON.stringify(event)}`,
        );
      }
      for (const mr of host.regions) check(mr.canariesIntact, () => `bytes beside a region of ${host.ip} were touched`);
    }
  }

  #rest(): string {
    return this.#agents
      .filter(({ flow }) => !flow.finished && !this.#dead.has(flow.end.qp.host))
      .map(({ flow }) => flow.rest)
      .join('\n');
  }

  #figures(): RunFigures {
    let retransmitted = 0;
    for (const host of this.#hosts) retransmitted += host.nic.counters.snapshot()['retransmitted_pkts'] ?? 0;
    return {
      requests: this.#agents.reduce((sum, { flow }) => sum + flow.completed, 0),
      messages: this.#agents.reduce((sum, { receiver }) => sum + receiver.received, 0),
      packets: this.#network.counts.sent,
      retransmitted,
      virtualUs: this.#network.nowUs,
      network: this.#network.statistics(),
    };
  }
}

/**
 * Plays the run of a seed.
 *
 * @throws SimulationFailure when the NIC did something wrong, or whatever it threw
 */
export function runSeed(seed: number, options: RunOptions = {}): RunFigures {
  return new Run(planScenario(seed), options).execute();
}

export { SimulationFailure };
