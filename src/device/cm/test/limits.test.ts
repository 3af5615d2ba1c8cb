import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, Errno, type Gid, gidFromIp, PortSpace, RejectReason, SidrStatus } from '../../ibta/index.js';
import { SeededRandom } from '../../link/simulated/index.js';
import { CmAttribute, encodeCmMessage } from '../../wire/index.js';
import { GHOST_COMM_ID, GHOST_GUID, GHOST_QPN, guidInfo, rej, req, rtu, sidrReq } from './support/messages.js';
import type { RawPeer } from './support/network.js';
import { deviceAndRawPeer, PORT } from './support/two-devices.js';
import type { CmDevice } from './support/cm-device.js';

const { CONNECT_REQUEST, UNREACHABLE } = CmEventType;
const NOTHING = new Uint8Array(0);

/** Has the raw peer ask with the `i`th of its queue pairs. */
function askAs(rawPeer: RawPeer, b: CmDevice, i: number): void {
  rawPeer.say(b, req({ from: rawPeer, to: b }, { localCommId: GHOST_COMM_ID + i, localQpn: GHOST_QPN + i }));
}

function rejections(rawPeer: RawPeer): number[] {
  return rawPeer.inbox.flatMap((message) => (message.attribute === CmAttribute.REJ ? [message.reason] : []));
}

describe('a backlog', () => {
  const full = (backlog: number) => {
    const of = deviceAndRawPeer();
    of.b.destroy(of.listenId);
    const listenId = of.b.listen(PORT, { backlog });
    for (let i = 0; i < backlog; i += 1) askAs(of.rawPeer, of.b, i);
    of.network.settle();
    const ids = of.b.take().map(({ id }) => id);
    return { ...of, listenId, ids };
  };

  test('that is full has requests dropped, and counted', () => {
    const { network, b, rawPeer } = full(2);
    assert.deepEqual(rejections(rawPeer), []);
    askAs(rawPeer, b, 2);
    network.settle();
    assert.deepEqual(rejections(rawPeer), []);
    assert.deepEqual([b.takeNames(), b.manager.counters.rxOverflow], ['', 1]);
  });

  for (const [what, answer] of [
    ['taken', (b: CmDevice, id: number) => b.commands.cmTaken(id)],
    ['accepted', (b: CmDevice, id: number) => void b.accept(id)],
    ['rejected', (b: CmDevice, id: number) => b.commands.cmReject({ id, privateData: NOTHING })],
    ['dropped', (b: CmDevice, id: number) => b.destroy(id)],
  ] as const)
    test(`has room again when a request is ${what}`, () => {
      const { b, rawPeer, ids } = full(2);
      answer(b, ids[0]);
      askAs(rawPeer, b, 2);
      assert.equal(b.takeNames(), 'CONNECT_REQUEST');
    });

  test('that was full takes the repeat of a request once there is room', () => {
    const { b, rawPeer, ids } = full(2);
    askAs(rawPeer, b, 2);
    assert.equal(b.takeNames(), '');
    b.accept(ids[0]);
    askAs(rawPeer, b, 2);
    assert.equal(b.takeNames(), 'CONNECT_REQUEST');
  });

  test('has no room for more than one again', () => {
    const { b, rawPeer, ids } = full(2);
    b.commands.cmTaken(ids[0]);
    b.commands.cmTaken(ids[0]);
    b.accept(ids[0]);
    b.commands.cmTaken(ids[0]);
    b.destroy(ids[0]);
    for (const i of [2, 3]) askAs(rawPeer, b, i);
    assert.equal(b.takeNames(), 'CONNECT_REQUEST');
  });

  for (const [what, notice] of [
    ['taken it', (b: CmDevice, id: number) => b.commands.cmTaken(id)],
    ['dropped it', (b: CmDevice, id: number) => b.destroy(id)],
  ] as const)
    test(`has no room again when the asker takes its request back, until the program has ${what}`, () => {
      const { b, rawPeer, ids } = full(2);
      rawPeer.say(b, rej({ remoteCommId: 0 }, { reason: RejectReason.TIMEOUT, ...guidInfo(GHOST_GUID) }));
      assert.equal(b.takeNames(), 'REJECTED');
      askAs(rawPeer, b, 2);
      assert.equal(b.takeNames(), '');
      notice(b, ids[0]);
      askAs(rawPeer, b, 2);
      assert.equal(b.takeNames(), 'CONNECT_REQUEST');
    });

  test('is as large as there may be when none is named', () => {
    const { b, rawPeer } = deviceAndRawPeer({ limits: { maxBacklog: 5 } });
    for (let i = 0; i < 8; i += 1) askAs(rawPeer, b, i);
    assert.equal(b.take().length, 5);
  });

  test('that is full has questions for datagrams dropped, and takes their repeats', () => {
    const { network, b, rawPeer } = deviceAndRawPeer();
    b.listen(PORT, { portSpace: PortSpace.UDP, backlog: 1 });
    for (const requestId of [1, 2]) rawPeer.say(b, sidrReq({ from: rawPeer, to: b }, { requestId }));
    network.settle();
    const { id } = b.takeOnly(CONNECT_REQUEST);
    assert.equal(network.story(), '');
    b.commands.cmReject({ id, privateData: NOTHING });
    network.settle();
    assert.equal(rawPeer.heard(CmAttribute.SIDR_REP).status, SidrStatus.REJECT);
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }, { requestId: 2 }));
    b.commands.cmTaken(b.takeOnly(CONNECT_REQUEST).id);
    rawPeer.say(b, sidrReq({ from: rawPeer, to: b }, { requestId: 3 }));
    assert.equal(b.takeNames(), 'CONNECT_REQUEST');
  });
});

describe('requests that wait', () => {
  test('are limited over all listeners', () => {
    const { b, rawPeer } = deviceAndRawPeer({ limits: { maxPending: 3 } });
    b.listen(PORT, { portSpace: PortSpace.UDP });
    for (let i = 0; i < 2; i += 1) askAs(rawPeer, b, i);
    for (const requestId of [1, 2]) rawPeer.say(b, sidrReq({ from: rawPeer, to: b }, { requestId }));
    assert.equal(b.take().length, 3);
  });

  test('are limited also when the program has taken them', () => {
    const { b, rawPeer } = deviceAndRawPeer({ limits: { maxPending: 2 } });
    for (let i = 0; i < 2; i += 1) askAs(rawPeer, b, i);
    const [first, second] = b.take().map(({ id }) => id);
    for (const id of [first, second]) b.commands.cmTaken(id);
    askAs(rawPeer, b, 2);
    assert.equal(b.takeNames(), '');
    b.accept(first);
    b.destroy(second);
    for (const i of [2, 3, 4]) askAs(rawPeer, b, i);
    assert.equal(b.take().length, 2);
  });

  test('of a listener that was destroyed give their places back one by one', () => {
    const { b, rawPeer, listenId } = deviceAndRawPeer({ limits: { maxPending: 2 } });
    for (let i = 0; i < 2; i += 1) askAs(rawPeer, b, i);
    const ids = b.take().map(({ id }) => id);
    b.destroy(listenId);
    b.listen(PORT);
    askAs(rawPeer, b, 2);
    assert.equal(b.takeNames(), '');
    for (const id of ids) b.destroy(id);
    for (const i of [2, 3, 4]) askAs(rawPeer, b, i);
    assert.equal(b.take().length, 2);
  });
});

describe('identifiers', () => {
  test('are limited: ENOMEM for programs, and requests of peers are dropped', () => {
    const { network, b, rawPeer } = deviceAndRawPeer({ limits: { maxIds: 2 } });
    b.newId();
    assert.throws(() => b.newId(), { errno: 'ENOMEM' });
    askAs(rawPeer, b, 0);
    network.settle();
    assert.deepEqual(rejections(rawPeer), []);
    assert.equal(b.manager.counters.rxOverflow, 1);
  });

  test('that there was no room for cost the backlog nothing', () => {
    const { b, rawPeer } = deviceAndRawPeer({ limits: { maxIds: 2, maxBacklog: 1 } });
    const id = b.newId();
    for (let i = 0; i < 5; i += 1) askAs(rawPeer, b, i);
    b.destroy(id);
    askAs(rawPeer, b, 0);
    assert.equal(b.takeNames(), 'CONNECT_REQUEST');
  });
});

/** Has the raw peer ask with the `i`th of its queue pairs, and the program accept. Gives its identifier. */
function acceptAs({ network, b, rawPeer }: ReturnType<typeof deviceAndRawPeer>, i: number): number {
  askAs(rawPeer, b, i);
  const { id } = b.takeOnly(CONNECT_REQUEST);
  b.accept(id);
  network.settle();
  return id;
}

/** Has the raw peer say that it is ready, as whoever asked last. */
function beReady(rawPeer: RawPeer, b: CmDevice): void {
  const { localCommId, remoteCommId } = rawPeer.heard(CmAttribute.REP);
  rawPeer.say(b, rtu({ localCommId: remoteCommId, remoteCommId: localCommId }));
}

describe('connections that were accepted, and whose peers say nothing', () => {
  test('are limited: the oldest comes to nothing, and its peer is told', () => {
    const of = deviceAndRawPeer({ limits: { maxHalfOpen: 2 } });
    const { network, b, rawPeer } = of;
    const first = acceptAs(of, 0);
    acceptAs(of, 1);
    assert.equal(b.takeNames(), '');
    acceptAs(of, 2);
    const { id, status, type } = b.takeOnly(UNREACHABLE);
    assert.deepEqual([id, status, type], [first, -Errno.ETIMEDOUT, UNREACHABLE]);
    network.settle();
    assert.equal(rawPeer.heard(CmAttribute.REJ).reason, RejectReason.TIMEOUT);
  });

  test('do not stand in the way of those whose peers answer, however many there are', () => {
    const of = deviceAndRawPeer({ limits: { maxHalfOpen: 2, maxIds: 20 } });
    const { b, rawPeer } = of;
    for (let i = 0; i < 1000; i += 1) {
      askAs(rawPeer, b, i);
      for (const { id, type } of b.take()) {
        if (type === CONNECT_REQUEST) b.accept(id);
        else b.destroy(id);
      }
    }
    b.take();
    acceptAs(of, 5000);
    b.take();
    beReady(rawPeer, b);
    assert.equal(b.takeNames(), 'ESTABLISHED');
    assert.ok(b.holdings.connections <= 3);
  });

  test('count no longer once they are there, have been refused, or were left', () => {
    const of = deviceAndRawPeer({ limits: { maxHalfOpen: 2 } });
    const { b, rawPeer } = of;
    acceptAs(of, 0);
    beReady(rawPeer, b);
    assert.equal(b.takeNames(), 'ESTABLISHED');
    acceptAs(of, 1);
    const { localCommId, remoteCommId } = rawPeer.heard(CmAttribute.REP);
    rawPeer.say(b, rej({ localCommId: remoteCommId, remoteCommId: localCommId }));
    assert.equal(b.takeNames(), 'REJECTED');
    b.destroy(acceptAs(of, 2));
    acceptAs(of, 3);
    acceptAs(of, 4);
    assert.equal(b.takeNames(), '');
  });
});

describe('connections that programs have left, and peers do not end,', () => {
  test("are limited, and stand in nobody's way", () => {
    const of = deviceAndRawPeer({ limits: { maxIds: 50, maxFarewells: 20 } });
    const { network, b, rawPeer } = of;
    for (let i = 0; i < 200; i += 1) {
      const id = acceptAs(of, i);
      beReady(rawPeer, b);
      b.take();
      b.destroy(id);
      assert.ok(b.holdings.connections <= 20);
    }
    assert.equal(b.holdings.connections, 20);
    network.passAll();
    assert.deepEqual([b.holdings.connections, b.holdings.timers], [0, 0]);
  });

  test('are limited as well when the program was told of the end first', () => {
    const of = deviceAndRawPeer({ limits: { maxFarewells: 3 } });
    const { b, rawPeer } = of;
    for (let i = 0; i < 10; i += 1) {
      const id = acceptAs(of, i);
      beReady(rawPeer, b);
      b.commands.cmDisconnect(id);
      b.take();
      b.destroy(id);
    }
    assert.equal(b.holdings.connections, 3);
  });
});

describe('a flood of requests', () => {
  const FLOOD = 100_000;
  const limits = { maxBacklog: 100, maxPending: 150, maxAnswers: 64 };

  /** 10^5 requests by random names from many addresses, each different from all others. */
  function* flood(b: CmDevice): Generator<{ mad: Uint8Array; source: Gid }> {
    const { u32 } = new SeededRandom(99);
    const sources = Array.from({ length: 200 }, (_, i) => gidFromIp(`10.1.${i}.1`));
    for (let i = 0; i < FLOOD; i += 1) {
      const source = sources[u32() % sources.length];
      const way = { from: { gid: source }, to: b };
      const names = { localCommId: u32() >>> 0, localQpn: u32() & 0xffffff, localCaGuid: BigInt(u32() >>> 0) };
      const message = i % 4 === 3 ? sidrReq(way, { requestId: u32() >>> 0 }) : req(way, names);
      yield { mad: encodeCmMessage(message), source };
    }
  }

  test('leaves no more behind than the limits say, and the program its identifiers', () => {
    const { b, rawPeer } = deviceAndRawPeer({ limits });
    b.listen(PORT, { portSpace: PortSpace.UDP });
    const destination = b.gid;
    const before = process.memoryUsage().heapUsed;
    for (const { mad, source } of flood(b)) b.receive({ mad, source, destination, trafficClass: 0 });
    assert.equal(b.take().length, limits.maxPending);
    assert.equal(b.holdings.identifiers, 2 + limits.maxPending);
    assert.ok(b.holdings.connections <= limits.maxPending && b.holdings.timers <= limits.maxPending);
    assert.ok(b.manager.answered.size <= limits.maxPending + limits.maxAnswers);
    // Coarse: what each of them leaves behind would be a hundred times as much.
    const logged = 2000 * FLOOD;
    assert.ok(process.memoryUsage().heapUsed - before < logged, 'the heap grows with every request');
    b.newId();
    assert.equal(rawPeer.inbox.length, 0);
  });

  test('and of those who take them back leaves no more behind either', () => {
    const { network, b, rawPeer } = deviceAndRawPeer({ limits });
    for (let i = 0; i < 1000; i += 1) {
      askAs(rawPeer, b, i);
      const back = { reason: RejectReason.TIMEOUT, ...guidInfo(GHOST_GUID) };
      rawPeer.say(b, rej({ localCommId: GHOST_COMM_ID + i, remoteCommId: 0 }, back));
    }
    network.settle();
    assert.equal(b.holdings.identifiers, 1 + limits.maxBacklog);
    assert.equal(b.take().length, 2 * limits.maxBacklog);
    assert.equal(b.holdings.connections, 0);
  });

  test('that is over leaves room for a request', () => {
    const { network, b, rawPeer } = deviceAndRawPeer({ limits });
    for (let i = 0; i < 1000; i += 1) askAs(rawPeer, b, i);
    network.settle();
    for (const { id } of b.take()) b.destroy(id);
    askAs(rawPeer, b, 5000);
    b.accept(b.takeOnly(CONNECT_REQUEST).id);
  });
});
