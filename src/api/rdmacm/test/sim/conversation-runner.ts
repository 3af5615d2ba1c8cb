import { CmEventType, PortSpace } from '../../../../device/ibta/index.js';
import { CmAttribute } from '../../../../device/wire/index.js';
import { QpState, QpType } from '../../../../entry/index.js';
import { SimulatedCluster } from '../../../../entry/sim.js';
import { check } from '../../../../../test/sim/failure.js';
import { type Behaviour, End } from './end.js';
import { attributeName, type Fault, Script, type Transmission } from './faults.js';
import type { Holdings } from './inside.js';
import { Machine } from './machine.js';

const PORT = 7471;
/** More than any conversation takes: 15 repeats, each after an MRA's minute. */
const MAX_VIRTUAL_US = 7200e6;
const NOTHING_HELD: Holdings = { identifiers: 0, connections: 0, timers: 0 };

export interface Conversation {
  readonly transport: 'RC' | 'UD';
  readonly client: Behaviour;
  readonly server?: Behaviour;
  /** Both are on the same host. */
  readonly self?: true;
}

export interface Result {
  readonly client: End;
  /** In the order of their requests; a request that came late may have made one more. */
  readonly servers: readonly End[];
  readonly transmissions: readonly Transmission[];
  /** A REJ, which nobody repeats, did not arrive as it was sent. */
  readonly refusalHarmed: boolean;
  readonly virtualUs: number;
}

/**
 * Two hosts on which one conversation after the other is played, each with identifiers and queue pairs of its own, so that what
 * one of them leaves behind is noticed.
 */
export class ConversationRunner {
  readonly cluster = new SimulatedCluster({ seed: 1 });
  readonly #machines: readonly Machine[];

  constructor(self = false) {
    this.#machines = (self ? ['10.0.0.1'] : ['10.0.0.1', '10.0.0.2']).map((ip) => new Machine(this.cluster, ip));
  }

  /** @throws SimulationFailure when something happens that no rule allows, or nothing ends it */
  play(conversation: Conversation, faults: readonly Fault[]): Result {
    const conversationRun = new ConversationRun(this.cluster, this.#machines, conversation, faults);
    return conversationRun.play();
  }

  /** Which messages have met which states of connections so far. */
  get met(): readonly string[] {
    return this.#machines.flatMap(({ met }) => [...met]);
  }

  close(): void {
    for (const machine of this.#machines) machine.close();
  }
}

class ConversationRun {
  readonly #client: Machine;
  readonly #server: Machine;
  readonly #ends = new Map<string, End>();
  readonly #servers: End[] = [];
  readonly #qpType: QpType;
  readonly #portSpace: PortSpace;
  readonly #before: readonly Record<string, number>[];

  constructor(
    private readonly cluster: SimulatedCluster,
    private readonly machines: readonly Machine[],
    private readonly conversation: Conversation,
    private readonly faults: readonly Fault[],
  ) {
    const [client] = machines;
    this.#client = client;
    this.#server = machines[machines.length - 1];
    const datagrams = conversation.transport === 'UD';
    this.#qpType = datagrams ? QpType.UD : QpType.RC;
    this.#portSpace = datagrams ? PortSpace.UDP : PortSpace.TCP;
    this.#before = machines.map(({ counters }) => counters);
  }

  play(): Result {
    const { nowUs: beganUs, network } = this.cluster;
    const script = new Script(network, this.faults);
    const listenId = this.conversation.server === undefined ? undefined : this.#listen();
    const client = this.#ask();
    this.#run();
    const ends = [client, ...this.#servers];
    for (const end of ends) checkQp(end);
    const result = {
      client,
      servers: this.#servers,
      transmissions: [...script.transmissions],
      refusalHarmed: script.harmed.has(CmAttribute.REJ),
      virtualUs: this.cluster.nowUs - beganUs,
    };
    for (const end of ends) end.final = end.state;
    for (const end of ends) end.destroy();
    if (listenId !== undefined) this.#server.command('cmDestroyId', listenId);
    this.#run();
    for (const machine of this.machines) machine.drain();
    for (const { qp } of ends) qp?.destroy();
    this.#checkRest(script);
    return result;
  }

  #listen(): number {
    const { machine, id } = { machine: this.#server, id: this.#createId(this.#server) };
    machine.command('cmBind', { id, port: PORT, reuseAddr: false });
    machine.command('cmListen', { id, backlog: 0 });
    return id;
  }

  #ask(): End {
    const client = this.#newEnd(this.#client, this.#createId(this.#client), 'client', this.conversation.client);
    client.ask(this.#server.cm.gid, PORT);
    return client;
  }

  #createId(machine: Machine): number {
    return machine.command('cmCreateId', { portSpace: this.#portSpace });
  }

  #newEnd(machine: Machine, id: number, role: 'client' | 'server', behaviour: Behaviour): End {
    const { cluster } = this;
    const end = new End(machine, id, role, this.#qpType, behaviour, (afterUs, action) =>
      cluster.network.at(cluster.nowUs + afterUs, action),
    );
    this.#ends.set(`${machine.address} ${id}`, end);
    return end;
  }

  #run(): void {
    const { cluster } = this;
    const untilUs = cluster.nowUs + MAX_VIRTUAL_US;
    while (cluster.step()) {
      check(cluster.nowUs < untilUs, () => `it goes on after ${MAX_VIRTUAL_US} us`);
      this.#takeEvents();
    }
    this.#takeEvents();
  }

  #takeEvents(): void {
    for (const machine of this.machines) {
      for (const event of machine.cm.takeEvents()) {
        if (event.type === CmEventType.CONNECT_REQUEST) {
          const end = this.#newEnd(machine, event.id, 'server', this.conversation.server ?? {});
          this.#servers.push(end);
          end.asked(event);
          continue;
        }
        const end = this.#ends.get(`${machine.address} ${event.id}`);
        check(end !== undefined, () => `an event for identifier ${event.id}, which nobody has`);
        end.take(event);
      }
    }
  }

  /** Nothing is left, and everything that arrived was counted. */
  #checkRest(script: Script): void {
    for (const { holdings, address } of this.machines)
      check(
        JSON.stringify(holdings) === JSON.stringify(NOTHING_HELD),
        () => `${address} still holds ${JSON.stringify(holdings)}`,
      );
    const after = this.machines.map(({ counters }) => counters);
    const grown = (name: string): number =>
      after.reduce((sum, counters, i) => sum + counters[name] - this.#before[i][name], 0);
    for (const attribute of Object.values(CmAttribute)) {
      const name = attributeName(attribute).toLowerCase();
      const sent = script.transmissions.filter((one) => one.attribute === attribute).length;
      const counted = grown(`cm_tx_msgs_${name}`) + grown(`cm_tx_retries_${name}`);
      check(counted === sent, () => `${sent} ${name} were sent, ${counted} were counted`);
      const arrived = script.arrivals.get(attribute) ?? 0;
      const received = grown(`cm_rx_msgs_${name}`);
      check(received === arrived, () => `${arrived} ${name} arrived, ${received} were counted`);
    }
  }
}

/** The queue pair of a connection is in RTS as long as that is up, and in ERR afterwards. */
function checkQp({ qp, state, qpType, role, external }: End): void {
  if (qp === undefined || qpType === QpType.UD || external) return;
  const { qpState } = qp.query().attr;
  const live = state === 'up' || state === 'left' || state === 'accepted';
  const expected = state === 'destroyed' ? undefined : live ? QpState.RTS : QpState.ERR;
  check(
    expected === undefined ? qpState !== QpState.RTR : qpState === expected,
    () => `the queue pair of a ${role} that is ${state} is in state ${qpState}`,
  );
}
