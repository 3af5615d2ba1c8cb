import { EventType, gidFromIp, Mtu, mtuBytes, nameOf, QpState, QpType } from '../../src/device/ibta/index.js';
import { Nic, type NicAsyncEvent } from '../../src/device/nic/index.js';
import { completionQueueShape, doorbellPageShape, recvQueueShape } from '../../src/device/nic/rings/layout.js';
import { crc32, opcodeName } from '../../src/device/wire/index.js';
import { ahAttrTo } from '../../src/device/nic/test/qp.js';
import { Doorbell, DriverCq, DriverQueue } from '../../src/device/nic/test/rings.js';
import { Attack } from './attack.js';
import { FuzzMemory } from './memory.js';
import { isAllowedMove, isEntitled, mayTouchMemory } from './oracle.js';
import { Choices } from './random.js';
import { ListeningSink } from './sink.js';
import { Victim, VICTIM_MTU } from './victim.js';

const REGION_BYTES = 1024;
const SRQ_ENTRIES = 64;
/** Packets between two looks at all canaries; at the bytes of all memory, for packets that may not touch any. */
const CANARY_INTERVAL = 512;
const MEMORY_INTERVAL = 16;
/** Packets between two rounds that bring every QP back to the state in which it is to be attacked. */
const REVIVAL_INTERVAL = 256;

const TYPES_AND_STATES: readonly (readonly [QpType, readonly QpState[]])[] = (() => {
  const { RESET, INIT, RTR, RTS, SQD, SQE, ERR } = QpState;
  const states = [RESET, INIT, RTR, RTS, RTS, RTS, SQD, ERR];
  return [
    [QpType.RC, states],
    [QpType.UC, [...states, SQE]],
    [QpType.UD, [...states, SQE]],
    [QpType.XRC_SEND, states],
    [QpType.XRC_RECV, [RESET, INIT, RTR, RTS, RTS, ERR]],
    [QpType.RAW_PACKET, [INIT, RTR, RTS]],
  ];
})();

export interface FuzzFigures {
  packets: number;
  /** Packets that were entitled to an effect by the rules. */
  entitled: number;
  answers: number;
  completions: number;
  events: number;
  readonly counters: Record<string, number>;
}

/** A NIC with queue pairs of every type in every state, under hostile packets. */
export class Fuzz {
  readonly figures: FuzzFigures = { packets: 0, entitled: 0, answers: 0, completions: 0, events: 0, counters: {} };
  readonly #choices: Choices;
  readonly #nic: Nic;
  readonly #sink = new ListeningSink(mtuBytes(VICTIM_MTU));
  readonly #memory: FuzzMemory;
  readonly #victims: Victim[] = [];
  readonly #attack: Attack;
  readonly #states: QpState[] = [];
  readonly #entitled: boolean[] = [];
  readonly #srqs: { readonly queue: DriverQueue; readonly pdIndex: number }[] = [];
  readonly #xrcCq = new DriverCq(completionQueueShape(256));
  readonly #events: NicAsyncEvent[] = [];
  #nowUs = 0;

  constructor(seed: number) {
    const choices = new Choices(seed);
    this.#choices = choices;
    const own = gidFromIp('10.0.0.1');
    const peer = gidFromIp('10.0.0.2');
    const group = gidFromIp('239.1.2.3');
    const doorbells = new SharedArrayBuffer(doorbellPageShape().bytes);
    const nic = new Nic({
      sink: this.#sink,
      events: { completionEvent: () => undefined, asyncEvent: (event) => this.#events.push(event) },
      crc32,
      random: choices.u32,
      gids: [own],
      portMtu: Mtu.MTU_1024,
      doorbells,
      openFrames: () => () => 0,
    });
    this.#nic = nic;
    const { control } = nic;
    const pds = [control.allocPd(), control.allocPd()];
    this.#memory = new FuzzMemory(nic, pds, control.allocPd(), REGION_BYTES);
    const xrcd = control.openXrcd();
    this.#xrcCq.cqn = control.createCq({ entries: 256, memory: this.#xrcCq.memory });
    const shared = this.#createSrq(pds[0], 0);
    const xrcSrq = this.#createSrq(pds[0], 0, xrcd);
    const foreignSrq = this.#createSrq(pds[1], 1, control.openXrcd());
    const ground = {
      nic,
      sink: this.#sink,
      memory: this.#memory,
      doorbell: new Doorbell(doorbells),
      choices,
      pds,
      peerGid: peer,
      xrcd,
      srqn: xrcSrq,
      addressHandle: control.createAh(pds[0], ahAttrTo(peer)),
    };
    for (const [type, states] of TYPES_AND_STATES)
      for (const state of states) this.#victims.push(new Victim(ground, type, state, this.#victims.length + 1, 0));
    for (const type of [QpType.RC, QpType.UC, QpType.UD])
      this.#victims.push(new Victim(ground, type, QpState.RTS, this.#victims.length + 1, 0, shared));
    this.#victims.push(new Victim(ground, QpType.RC, QpState.RTS, this.#victims.length + 1, 1));
    for (const victim of this.#victims) if (victim.type === QpType.UD) control.attachMcast(victim.qpn, group);
    const bound = this.#victims.find(({ type, goal }) => type === QpType.RC && goal === QpState.RTS);
    if (bound !== undefined) this.#memory.addWindows(nic, pds[0], 0, bound.qpn);
    this.#attack = new Attack({
      victims: this.#victims,
      memory: this.#memory,
      sink: this.#sink,
      choices,
      own,
      peer,
      stranger: gidFromIp('10.0.0.66'),
      group,
      srqns: [xrcSrq, foreignSrq, shared, 0x123456],
    });
    this.#settle();
  }

  get done(): number {
    return this.figures.packets;
  }

  /** Sends `packets` hostile packets. @throws Error when the NIC does what the rules do not allow */
  run(packets: number): void {
    const { figures } = this;
    const before = figures.packets;
    for (let i = 0; i < packets; i += 1) {
      if (figures.packets % REVIVAL_INTERVAL === 0) this.#revive();
      this.#step();
      if (figures.packets % CANARY_INTERVAL === 0) this.#memory.check();
    }
    this.#memory.check();
    Object.assign(figures.counters, this.#nic.counters.snapshot());
    if (figures.packets - before !== packets) throw new Error('packets were not counted');
  }

  #step(): void {
    const attack = this.#attack;
    const { figures } = this;
    attack.next();
    figures.packets += 1;
    let entitled = false;
    for (let i = 0; i < this.#victims.length; i += 1) {
      const victim = this.#victims[i];
      this.#states[i] = victim.state;
      this.#entitled[i] = isEntitled(attack, victim);
      entitled ||= this.#entitled[i];
    }
    const watched = !mayTouchMemory(attack, entitled) && (entitled || figures.packets % MEMORY_INTERVAL === 0);
    if (watched) this.#memory.remember();
    const { counters } = this.#nic;
    const packetsBefore = this.#sink.packets;
    const completionsBefore = counters.completions;
    const eventsBefore = this.#events.length;
    this.#nic.receive(attack.bytes, 0, attack.length, attack.meta);
    if (!entitled) {
      if (counters.completions !== completionsBefore) this.#accuse('completed a request');
      if (this.#events.length !== eventsBefore) this.#accuse('raised an event');
    }
    if (watched && this.#memory.changed) this.#accuse('changed memory');
    for (let i = 0; i < this.#victims.length; i += 1) {
      const victim = this.#victims[i];
      const from = this.#states[i];
      const to = victim.state;
      if (from === to) continue;
      if (!this.#entitled[i] || !isAllowedMove(victim, from, to))
        this.#accuse(
          `moved a QP of type ${nameOf(QpType, victim.type)} from ${nameOf(QpState, from)} to ${nameOf(QpState, to)}`,
        );
    }
    if (entitled) figures.entitled += 1;
    else if (this.#sink.packets !== packetsBefore) this.#accuse('was answered');
    this.#pump();
    figures.answers += this.#sink.packets - packetsBefore;
  }

  /** Lets the NIC do what is due, and time pass. */
  #pump(): void {
    const choices = this.#choices;
    this.#nowUs += choices.chance(2) ? choices.below(200_000) : choices.below(20);
    const nic = this.#nic;
    nic.advanceTo(this.#nowUs);
    nic.ringDoorbells();
    while (nic.transmit());
  }

  #revive(): void {
    for (const victim of this.#victims) {
      this.figures.completions += victim.drain();
      if (victim.state !== victim.goal) victim.revive();
      else victim.refill();
    }
    this.#settle();
  }

  #settle(): void {
    const { figures } = this;
    this.#pump();
    this.#memory.rebind(this.#nic);
    figures.completions += this.#xrcCq.poll().length;
    for (const { queue, pdIndex } of this.#srqs) {
      const { iova, bytes, lkey } = this.#memory.scratch(this.#choices, pdIndex);
      while (queue.room > 0)
        queue.writeReceive({ sgList: [{ addr: iova, length: this.#choices.of([40, 300, bytes.length]), lkey }] });
    }
    for (const { type } of this.#events)
      if (type === EventType.CQ_ERR) throw new Error('a completion queue was overrun: the fuzzer polls too seldom');
    figures.events += this.#events.length;
    this.#events.length = 0;
  }

  #createSrq(pd: number, pdIndex: number, xrcd?: number): number {
    const queue = new DriverQueue(recvQueueShape(SRQ_ENTRIES, 2));
    this.#srqs.push({ queue, pdIndex });
    const cq = xrcd === undefined ? undefined : this.#xrcCq.cqn;
    return this.#nic.control.createSrq({ pd, maxWr: SRQ_ENTRIES, maxSge: 2, limit: 0, memory: queue.memory, xrcd, cq })
      .srqn;
  }

  #accuse(what: string): never {
    const { opcode, destQp, fromPeer, sound, pkey, length } = this.#attack;
    throw new Error(
      `packet ${this.figures.packets} ${what} that it may not: ${opcodeName(opcode)} of ${length} bytes to QP ` +
        `0x${destQp.toString(16)}, P_Key 0x${pkey.toString(16)}, ${fromPeer ? 'from its peer' : 'from a stranger'}, ${sound ? 'sound' : 'damaged'}`,
    );
  }
}
