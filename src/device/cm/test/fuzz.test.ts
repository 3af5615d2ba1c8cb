import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmError } from '../index.js';
import { CmEventType, gidsEqual, nameOf, PortSpace, QpType } from '../../ibta/index.js';
import { CmAttribute, type CmMessage, decodeCmMessage } from '../../wire/index.js';
import type { Choices } from '../../../../test/fuzz/random.js';
import { Attacker, goldenMessages, overhear, type Overheard, strangers, withSeed } from './support/fuzz.js';
import { dreq, mra, rep, req, rtu, sidrReq } from './support/messages.js';
import { RawPeer, TestNetwork } from './support/network.js';
import { PORT } from './support/two-devices.js';
import { NOTHING_HELD, PARAMETERS, CmDevice } from './support/cm-device.js';

const { CONNECT_REQUEST } = CmEventType;
const DATAGRAMS = Number(process.env['VERBENA_TEST_TIMES'] ?? 20_000);
const LIMITS = { maxBacklog: 40, maxPending: 60, maxAnswers: 50, maxIds: 2000 };

/** A device that listens in every port space. */
function victim() {
  const network = new TestNetwork();
  const b = new CmDevice(network, 'b', '10.0.0.2', { limits: LIMITS });
  const listeners = Object.values(PortSpace).map((portSpace) => b.listen(PORT, { portSpace }));
  return { network, b, listeners, rawPeer: new RawPeer(network, '10.0.0.9') };
}

/** Has a raw peer ask by a name and a queue pair of its own, and gives the identifier. */
function askedBy(b: CmDevice, rawPeer: RawPeer, localCommId: number): number {
  rawPeer.say(b, req({ from: rawPeer, to: b }, { localCommId, localQpn: localCommId }));
  return b.takeOnly(CONNECT_REQUEST).id;
}

/** What each identifier comes to once its peer says what it would have said anyway. */
interface Bystander {
  readonly state: string;
  readonly id: number;
  readonly goOn: () => void;
  readonly comesTo: string;
}

/** Connections with a raw peer in every state in which something is still to happen. */
function bystanders({ network, b, rawPeer }: ReturnType<typeof victim>): Bystander[] {
  const accept = (id: number) => {
    const qp = b.accept(id);
    network.settle();
    const { localCommId, remoteCommId } = rawPeer.heard(CmAttribute.REP);
    return { names: { localCommId: remoteCommId, remoteCommId: localCommId }, qp };
  };
  const establish = (id: number) => {
    const accepted = accept(id);
    rawPeer.say(b, rtu(accepted.names));
    b.take();
    return accepted;
  };
  const ask = (managed: boolean) => {
    const { id } = b.connect(rawPeer, PORT, { qp: b.qp({ managed }) });
    network.settle();
    return { id, remoteCommId: rawPeer.heard(CmAttribute.REQ).localCommId };
  };

  const reqRcvd = askedBy(b, rawPeer, 11);
  const repSent = askedBy(b, rawPeer, 12);
  const toRepSent = accept(repSent);
  const held = askedBy(b, rawPeer, 13);
  const toHeld = accept(held);
  rawPeer.say(b, mra(toHeld.names, 1, 24));
  const there = askedBy(b, rawPeer, 14);
  const toThere = establish(there);
  const left = askedBy(b, rawPeer, 15);
  const toLeft = establish(left);
  rawPeer.say(b, dreq(toLeft.names, toLeft.qp.qpNum));
  b.take();
  const leaving = askedBy(b, rawPeer, 16);
  establish(leaving);
  b.disconnect(leaving);
  network.settle();
  const { localCommId, remoteCommId, transactionId } = rawPeer.heard(CmAttribute.DREQ);
  const drep = { localCommId: remoteCommId, remoteCommId: localCommId, transactionId, privateData: new Uint8Array(0) };
  const asking = ask(true);
  const foreign = ask(false);
  rawPeer.say(b, rep({ localCommId: 31, remoteCommId: foreign.remoteCommId }, { localQpn: 31 }));
  b.take();
  const say = (message: CmMessage) => (): void => rawPeer.say(b, message);
  return [
    { state: 'REQ_RCVD', id: reqRcvd, goOn: () => rawPeer.say(b, rtu(accept(reqRcvd).names)), comesTo: 'ESTABLISHED' },
    { state: 'REP_SENT', id: repSent, goOn: say(rtu(toRepSent.names)), comesTo: 'ESTABLISHED' },
    { state: 'MRA_REP_RCVD', id: held, goOn: say(rtu(toHeld.names)), comesTo: 'ESTABLISHED' },
    { state: 'ESTABLISHED', id: there, goOn: say(dreq(toThere.names, toThere.qp.qpNum)), comesTo: 'DISCONNECTED' },
    {
      state: 'DREQ_RCVD',
      id: left,
      goOn: () => {
        b.disconnect(left);
        network.pass(1_000_000);
      },
      comesTo: 'TIMEWAIT_EXIT',
    },
    { state: 'DREQ_SENT', id: leaving, goOn: say({ attribute: CmAttribute.DREP, ...drep }), comesTo: 'DISCONNECTED' },
    {
      state: 'REQ_SENT',
      id: asking.id,
      goOn: say(rep({ localCommId: 32, remoteCommId: asking.remoteCommId }, { localQpn: 32 })),
      comesTo: 'ESTABLISHED',
    },
    {
      state: 'REP_RCVD',
      id: foreign.id,
      goOn: () => {
        b.commands.cmEstablish(foreign.id);
        rawPeer.say(b, dreq({ localCommId: 31, remoteCommId: foreign.remoteCommId }, 0));
        b.disconnect(foreign.id);
        network.settle();
        const { transactionId: tid } = rawPeer.heard(CmAttribute.DREQ);
        const names = { localCommId: 31, remoteCommId: foreign.remoteCommId, transactionId: tid };
        rawPeer.say(b, { attribute: CmAttribute.DREP, ...names, privateData: new Uint8Array(0) });
      },
      comesTo: 'DISCONNECTED',
    },
  ];
}

/** A program that does something or other with its identifiers, and expects nothing but refusals. */
class Program {
  readonly #ids: number[] = [];

  constructor(
    private readonly choices: Choices,
    private readonly b: CmDevice,
    private readonly rawPeer: RawPeer,
  ) {}

  act(): void {
    const { choices, b, rawPeer } = this;
    for (const { type, id } of b.take()) if (type === CONNECT_REQUEST) this.#ids.push(id);
    if (this.#ids.length < 60 && choices.chance(40)) this.#ids.push(this.#begin());
    if (this.#ids.length === 0) return;
    const id = choices.of(this.#ids);
    const qp = b.qp({ qpType: choices.chance(80) ? QpType.RC : QpType.UD, managed: choices.chance(70) });
    const commands: readonly (() => unknown)[] = [
      () => b.commands.cmTaken(id),
      () => b.accept(id, { qp }),
      () => b.accept(id, { qp }),
      () => b.commands.cmReject({ id, privateData: new Uint8Array(3) }),
      () => b.disconnect(id),
      () => b.commands.cmEstablish(id),
      () => b.commands.cmNotify(id),
      () => b.connect(rawPeer, PORT, { id }),
      () => this.#end(id),
    ];
    try {
      choices.of(commands)();
    } catch (error) {
      if (!(error instanceof CmError)) throw error;
    }
  }

  endAll(): void {
    this.act();
    for (const id of [...this.#ids]) this.#end(id);
  }

  #begin(): number {
    const portSpace = this.choices.chance(80) ? PortSpace.TCP : PortSpace.UDP;
    return this.b.connect(this.rawPeer, PORT, { portSpace, qp: this.b.qp({ managed: this.choices.chance(70) }) }).id;
  }

  #end(id: number): void {
    this.#ids.splice(this.#ids.indexOf(id), 1);
    this.b.destroy(id);
  }
}

test('the golden messages are of every kind that Linux sends', () => {
  assert.deepEqual(goldenMessages.map(({ attribute }) => nameOf(CmAttribute, attribute)).sort(), [
    'DREP',
    'DREQ',
    'REJ',
    'REP',
    'REQ',
    'RTU',
    'SIDR_REP',
    'SIDR_REQ',
  ]);
});

describe('hostile datagrams', () => {
  test('from strangers who know every name do nothing to anybody’s connection', () => {
    withSeed((choices) => {
      const of = victim();
      const { network, b } = of;
      const rest = bystanders(of);
      assert.equal(b.takeNames(), '');
      const overheard = overhear(network.log.map(({ message }) => message));
      const attacker = new Attacker(choices, () => overheard);
      for (let i = 0; i < DATAGRAMS; i += 1) {
        const source = choices.of(strangers);
        const destination = choices.chance(95) ? b.gid : choices.of(strangers);
        b.receive({ mad: attacker.next(source, destination), source, destination, trafficClass: choices.below(256) });
      }
      for (const { id, type } of b.take()) {
        assert.equal(nameOf(CmEventType, type), 'CONNECT_REQUEST');
        b.destroy(id);
      }
      network.settle();
      for (const { state, id, goOn, comesTo } of rest) {
        goOn();
        const events = b.take().filter((event) => event.id === id);
        assert.deepEqual([state, events.map(({ type }) => nameOf(CmEventType, type))], [state, [comesTo]]);
      }
    });
  });

  test('from a peer, to a program that does what it likes, leave nothing behind', () => {
    withSeed((choices) => {
      const { network, b, rawPeer, listeners } = victim();
      let overheard: Overheard[] = [];
      const attacker = new Attacker(choices, () => overheard);
      const program = new Program(choices, b, rawPeer);
      for (let i = 0; i < DATAGRAMS; i += 1) {
        if (i % 10 === 0) overheard = overhear(network.log.map(({ message }) => message));
        network.log.splice(0, Math.max(0, network.log.length - 40));
        const mad = attacker.next(rawPeer.gid, b.gid);
        b.receive({ mad, source: rawPeer.gid, destination: b.gid, trafficClass: 0 });
        if (choices.chance(20)) program.act();
        if (choices.chance(10)) network.pass(choices.below(3_000_000));
      }
      program.endAll();
      network.passAll();
      assert.equal(b.takeNames(), '');
      assert.deepEqual(b.holdings, { ...NOTHING_HELD, identifiers: listeners.length });
      // The backlogs are as large as they were.
      const id = listeners[Object.values(PortSpace).indexOf(PortSpace.TCP)];
      for (let i = 0; i < LIMITS.maxBacklog; i += 1) {
        rawPeer.say(b, req({ from: rawPeer, to: b }, { localCommId: 1_000_000 + i, localQpn: 0x800000 + i }));
      }
      assert.equal(b.take().filter(({ request }) => request?.listenId === id).length, LIMITS.maxBacklog);
    });
  });

  test('are told apart: what is none of ours, and what is for nobody', () => {
    withSeed((choices) => {
      const { b } = victim();
      const attacker = new Attacker(choices, () => []);
      let malformed = 0;
      for (let i = 0; i < 2000; i += 1) {
        const source = choices.of(strangers);
        const mad = attacker.next(source, b.gid);
        if (decodeCmMessage(mad) === undefined) malformed += 1;
        b.receive({ mad, source, destination: b.gid, trafficClass: 0 });
      }
      assert.equal(b.manager.counters.rxMalformed, malformed);
      assert.ok(b.manager.counters.rxDropped > 0);
    });
  });
});

test('a question for datagrams is taken after all that', () => {
  const { b, rawPeer } = victim();
  rawPeer.say(b, sidrReq({ from: rawPeer, to: b }));
  const event = b.takeOnly(CONNECT_REQUEST);
  assert.ok(event.request && gidsEqual(event.request.remoteGid, rawPeer.gid));
  b.commands.cmAccept({ ...PARAMETERS, id: event.id, qp: b.qp({ qpType: QpType.UD }) });
});
