import assert from 'node:assert/strict';
import { CmEventType, type Gid, gidFromIp, PortSpace, QpType } from '../../../ibta/index.js';
import { SeededRandom } from '../../../link/simulated/index.js';
import { CmAttribute, type CmMessage, type CmRep, encodeCmMessage } from '../../../wire/index.js';
import { dreq, mra, rej, rep, req, rtu, sidrReq } from './messages.js';
import type { TestNetwork } from './network.js';
import { PORT, type TwoDevices, twoDevices } from './two-devices.js';
import type { CmDevice } from './cm-device.js';

/** Messages of a flood, and how far apart they are. */
const FLOOD = 1200;
const APART_US = 1000;
/** After so many of them one of our own clients comes, which is to be connected before the next comes. */
const BETWEEN_CLIENTS = 50;
/** The longest time for which a peer can ask us to wait. */
const LONGEST_PATIENCE = 31;
/** `messageMraed` of our REP. */
const ABOUT_REP = 1;

const limits = { maxIds: 400, maxBacklog: 64, maxPending: 64, maxHalfOpen: 100, maxFarewells: 80, maxAnswers: 64 };
const OWN_CLIENTS = 10;
const strangers: readonly Gid[] = Array.from({ length: 997 }, (_, i) => gidFromIp(`10.2.${i >> 8}.${i & 0xff}`));

/** Somebody who speaks from many addresses, each message with names of its own. */
class Strangers {
  readonly u32: () => number;
  #count = 0;

  constructor(
    private readonly network: TestNetwork,
    readonly victim: CmDevice,
    seed: number,
  ) {
    this.u32 = new SeededRandom(seed).u32;
  }

  /** Names that nobody has had before. */
  names(): { readonly localCommId: number; readonly localQpn: number; readonly localCaGuid: bigint } {
    return { localCommId: this.u32() >>> 0, localQpn: this.u32() & 0xffffff, localCaGuid: BigInt(this.u32() >>> 0) };
  }

  next(): Gid {
    return strangers[this.#count++ % strangers.length];
  }

  say(source: Gid, message: CmMessage): void {
    this.victim.receive({
      mad: encodeCmMessage(message),
      source,
      destination: this.victim.gid,
      trafficClass: 0,
    });
  }

  /** Asks for a connection. @returns the reply, as the program accepts at once */
  ask(source: Gid, serve: () => void): CmRep | undefined {
    const from = this.network.log.length;
    this.say(source, req({ from: { gid: source }, to: this.victim }, this.names()));
    serve();
    return this.network.log
      .slice(from)
      .map(({ message }) => message)
      .find((message): message is CmRep => message.attribute === CmAttribute.REP);
  }
}

export type Wave = (strangers: Strangers, serve: () => void) => void;

/** Has a stranger ask, and answer what it is told. */
const answering =
  (...answers: readonly ((rep: CmRep) => CmMessage)[]): Wave =>
  (of, serve) => {
    const source = of.next();
    const reply = of.ask(source, serve);
    assert.ok(reply, 'a request was not accepted');
    for (const answer of answers) of.say(source, answer(reply));
  };

/** How whoever got a reply names the two ends. */
const of = (reply: CmRep) => ({ localCommId: reply.remoteCommId, remoteCommId: reply.localCommId });

export const waves: Readonly<Record<string, Wave>> = {
  'requests, and no word after our reply': answering(),
  'requests, and patience asked for after our reply': answering((reply) => mra(of(reply), ABOUT_REP, LONGEST_PATIENCE)),
  'requests, and our reply refused': answering((reply) => rej(of(reply))),
  'connections that are parted at once': answering(
    (reply) => rtu(of(reply)),
    (reply) => dreq(of(reply), reply.localQpn),
  ),
  'partings without a connection before': answering((reply) => dreq(of(reply), reply.localQpn)),
  'connections that our program ends, and no word after that': (all, serve) => {
    const source = all.next();
    const reply = all.ask(source, serve);
    assert.ok(reply, 'a request was not accepted');
    all.say(source, rtu(of(reply)));
    for (const { type, id } of all.victim.take()) {
      if (type === CmEventType.ESTABLISHED) all.victim.disconnect(id);
      all.victim.destroy(id);
    }
  },
  'requests for nobody': (all) => {
    const source = all.next();
    const way = { from: { gid: source }, to: all.victim };
    all.say(source, req(way, { ...all.names(), serviceId: BigInt(all.u32() >>> 0) }));
  },
  'questions for datagrams': (all, serve) => {
    const source = all.next();
    all.say(source, sidrReq({ from: { gid: source }, to: all.victim }, { requestId: all.u32() >>> 0 }));
    serve();
  },
  'replies that nobody waits for': (all) => {
    const { localCommId, localQpn } = all.names();
    all.say(all.next(), rep({ localCommId, remoteCommId: all.u32() >>> 0 }, { localQpn }));
  },
  'partings from nobody': (all) => {
    const { localCommId, localQpn } = all.names();
    all.say(all.next(), dreq({ localCommId, remoteCommId: all.u32() >>> 0 }, localQpn));
  },
};

/** What the program of the victim does with what it hears: it takes whoever comes, and clears up after whoever goes. */
function serve(b: CmDevice): void {
  for (const { id, type, request } of b.take()) {
    if (type === CmEventType.CONNECT_REQUEST) {
      const qp = b.qp({ qpType: request?.qpType ?? QpType.RC });
      b.accept(id, { qp });
      if (qp.qpType === QpType.UD) b.destroy(id);
    } else if (type === CmEventType.DISCONNECTED) {
      b.disconnect(id);
      b.destroy(id);
    } else if (type !== CmEventType.ESTABLISHED) b.destroy(id);
  }
}

/** Has one of the own clients connect, while the oldest goes. */
function visit({ network, a, b }: TwoDevices, clients: number[]): void {
  const { id } = a.connect(b, PORT);
  network.settle();
  serve(b);
  network.settle();
  serve(b);
  assert.equal(a.takeNames(), 'ESTABLISHED');
  clients.push(id);
  if (clients.length <= OWN_CLIENTS) return;
  const leaving = clients.shift() ?? 0;
  a.disconnect(leaving);
  network.settle();
  serve(b);
  network.settle();
  assert.equal(a.takeNames(), 'DISCONNECTED');
  a.destroy(leaving);
}

function assertBounded({ a, b }: TwoDevices): void {
  const { connections, timers, identifiers } = b.holdings;
  const strange = limits.maxHalfOpen + limits.maxFarewells;
  assert.ok(connections <= strange + OWN_CLIENTS + 1, `${connections} connections`);
  assert.ok(timers <= connections, `${timers} timers`);
  const { names } = b.manager.directory;
  assert.ok(names <= 4 * connections, `${names} names of ${connections} connections`);
  assert.ok(identifiers <= 2 + limits.maxHalfOpen + OWN_CLIENTS + 1, `${identifiers} identifiers`);
  assert.ok(b.manager.answered.size <= limits.maxAnswers, `${b.manager.answered.size} answers`);
  assert.ok(a.holdings.connections <= limits.maxFarewells + OWN_CLIENTS + 1);
}

/**
 * Plays a flood, of which each message is one of those by chance, and a program that takes whoever comes.
 *
 * @throws AssertionError when something grows beyond its limit, one of our own clients is not served, or anything is left
 */
export function playFlood(kinds: readonly Wave[], seed: number): void {
  const of = twoDevices({ a: { limits }, b: { limits } });
  const { network, a, b } = of;
  b.listen(PORT, { portSpace: PortSpace.UDP });
  const all = new Strangers(network, b, seed);
  const clients: number[] = [];
  let sent = 0;
  for (let i = 0; i < FLOOD; i += 1) {
    kinds[(all.u32() >>> 0) % kinds.length](all, () => serve(b));
    serve(b);
    network.pass(APART_US);
    if (i % BETWEEN_CLIENTS === 0) visit(of, clients);
    sent += network.log.length;
    network.log.length = 0;
    assertBounded(of);
  }
  // An answer each, and few repeats: nobody makes us speak much more than he does.
  assert.ok(sent < 4 * FLOOD, `${sent} messages sent`);
  for (const id of clients) a.destroy(id);
  while (b.holdings.connections > 0) {
    network.passAll();
    serve(b);
  }
  assert.deepEqual(b.holdings, { identifiers: 2, connections: 0, timers: 0 });
  assert.equal(b.manager.directory.names, 0);
  assert.deepEqual(a.holdings, { identifiers: 0, connections: 0, timers: 0 });
}
