import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Arrival,
  type Grant,
  ReplyCache,
  ServerMachine,
  type Session,
  Sessions,
  type Transfer,
  Transfers,
  type ValueBuffer,
} from '../protocol/index.js';
import { type Asked, encodeRequest, Operation, requestBytes, ResponseView, Status } from '../wire/index.js';
import { answersTo, Counting, EPOCH, SLOT_BYTES } from './support/machines.js';

const NO_BYTES = new Uint8Array(0);

class Memory {
  lent = 0;

  lend(bytes: number): ValueBuffer {
    this.lent += 1;
    return { bytes: new Uint8Array(bytes), addr: 0, lkey: 0, release: () => (this.lent -= 1) };
  }
}

function sessionOf(sessions: Sessions, window = 4): Session {
  const session = sessions.open(window, 1);
  assert.ok(session);
  return session;
}

function newSessions(): Sessions {
  let last = 0;
  return new Sessions({ maxSessions: 10, maxSilenceUs: 1e9 }, () => (last += 1));
}

describe('room for values on their way', () => {
  it('is so much for a client and for all, in their order, and one that is longer goes alone', () => {
    const memory = new Memory();
    const transfers = new Transfers({ maxBytes: 100, maxClientBytes: 60 }, (bytes) => memory.lend(bytes));
    const sessions = newSessions();
    const [one, two] = [sessionOf(sessions), sessionOf(sessions)];
    const granted: string[] = [];
    const grants: Grant[] = [];
    const ask = (session: Session, bytes: number, name: string): boolean =>
      transfers.ask(session, bytes, (grant) => {
        assert.ok(grant);
        granted.push(name);
        grants.push(grant);
      });
    assert.ok(ask(one, 50, 'a') && ask(one, 20, 'b') && ask(two, 40, 'c') && ask(two, 500, 'd'));
    assert.deepEqual([granted, transfers.bytes, transfers.waiting], [['a', 'c'], 90, 2]);
    grants.shift()?.release();
    assert.deepEqual(granted, ['a', 'c', 'b']);
    grants.shift()?.release();
    grants.shift()?.release();
    assert.deepEqual([granted, transfers.bytes], [['a', 'c', 'b', 'd'], 500]);
    assert.ok(ask(one, 1, 'e'));
    assert.equal(transfers.waiting, 1);
    grants.shift()?.release();
    grants.shift()?.release();
    assert.deepEqual([granted.at(-1), transfers.bytes, memory.lent], ['e', 0, 0]);
  });

  it('is asked for by a client as often at a time as it has slots, and not given to one that has gone', () => {
    const memory = new Memory();
    const transfers = new Transfers({ maxBytes: 10, maxClientBytes: 10 }, (bytes) => memory.lend(bytes));
    const sessions = newSessions();
    const session = sessionOf(sessions, 2);
    const grants: (Grant | undefined)[] = [];
    const use = (grant: Grant | undefined): void => void grants.push(grant);
    assert.deepEqual([transfers.ask(session, 10, use), transfers.ask(session, 10, use)], [true, true]);
    assert.equal(transfers.ask(session, 10, use), false);
    sessions.end(session);
    grants[0]?.release();
    assert.deepEqual([grants.length, transfers.waiting, session.transfers, memory.lent], [1, 0, 0, 0]);
  });

  it('is told to be none where there is no memory', () => {
    const transfers = new Transfers({ maxBytes: 10, maxClientBytes: 10 }, () => undefined);
    const session = sessionOf(newSessions());
    const grants: unknown[] = [];
    assert.ok(transfers.ask(session, 5, (grant) => grants.push(grant)));
    assert.deepEqual([grants, transfers.bytes, session.transfers], [[undefined], 0, 0]);
  });
});

describe('a slot whose value is on its way', () => {
  it('is under way until it was served, or abandoned: then the same is new, and what was before is old', () => {
    const slots = new ReplyCache(1);
    slots.served(0, 4, undefined);
    slots.begin(0, 5);
    assert.equal(slots.arrival(0, 5), Arrival.UNDER_WAY);
    slots.abandon(0, 5);
    assert.deepEqual(
      [slots.arrival(0, 5), slots.arrival(0, 4), slots.arrival(0, 6)],
      [Arrival.NEW, Arrival.OLD, Arrival.NEW],
    );
    slots.begin(0, 5);
    slots.begin(0, 6);
    slots.abandon(0, 5);
    assert.deepEqual([slots.isUnderWay(0, 5), slots.isUnderWay(0, 6)], [false, true]);
    slots.served(0, 6, undefined);
    slots.abandon(0, 6);
    assert.equal(slots.arrival(0, 6), Arrival.REPEAT);
  });
});

/** A machine whose transfers end when a test says so. */
class Bench {
  readonly store = new Counting();
  readonly memory = new Memory();
  readonly moving: Transfer[] = [];
  readonly sent: Uint8Array[] = [];
  readonly session = sessionOf(newSessions());
  readonly machine = new ServerMachine(
    EPOCH,
    this.store,
    SLOT_BYTES,
    undefined,
    new Transfers({ maxBytes: 1e9, maxClientBytes: 1e9 }, (bytes) => this.memory.lend(bytes)),
  );
  readonly #view = new ResponseView();

  constructor() {
    this.session.way = {
      send: (answer) => this.sent.push(answer.slice()),
      move: (transfer) => this.moving.push(transfer) > 0,
    };
  }

  ask(sequence: number, operation: Operation, length: number): Status | undefined {
    const remote = { addr: 0n, rkey: 1, length };
    const asked: Asked = { operation, key: Uint8Array.of(1), value: NO_BYTES, remote, ttlMs: 0, operand: 0n };
    const bytes = new Uint8Array(requestBytes(asked));
    encodeRequest(bytes, { session: this.session.id, epoch: EPOCH, slot: 0, sequence }, asked);
    return this.statusOf(answersTo(this.machine, this.session, bytes).at(0));
  }

  statusOf(answer: Uint8Array | undefined): Status | undefined {
    if (answer === undefined) return undefined;
    assert.equal(this.#view.look(answer), undefined);
    return this.#view.status;
  }
}

describe('a server to which a value is named', () => {
  it('reads it once, tells repeats that it is about it, and carries the request out once', () => {
    const bench = new Bench();
    assert.equal(bench.ask(1, Operation.SET, 5000), undefined);
    assert.equal(bench.ask(1, Operation.SET, 5000), Status.UNDER_WAY);
    assert.deepEqual([bench.moving.length, bench.store.executed], [1, 0]);
    bench.moving[0].done(true);
    assert.deepEqual([bench.store.executed, bench.sent.length, bench.memory.lent], [1, 1, 0]);
    assert.equal(bench.ask(1, Operation.SET, 5000), Status.OK);
    assert.deepEqual([bench.moving.length, bench.store.executed], [1, 1]);
  });

  it('carries nothing out when it did not come, and begins anew when it is asked again', () => {
    const bench = new Bench();
    bench.ask(1, Operation.SET, 5000);
    bench.moving[0].done(false);
    assert.deepEqual([bench.store.executed, bench.sent.length, bench.memory.lent], [0, 0, 0]);
    bench.ask(1, Operation.SET, 5000);
    bench.moving[1].done(true);
    assert.deepEqual([bench.store.executed, bench.sent.length], [1, 1]);
    const { transfers, brokenTransfers } = bench.machine.counters;
    assert.deepEqual([transfers, brokenTransfers], [1, 1]);
  });

  it('carries nothing out that was given up for a later request of the slot', () => {
    const bench = new Bench();
    bench.ask(1, Operation.SET, 5000);
    bench.ask(2, Operation.SET, 6000);
    bench.moving[0].done(true);
    assert.deepEqual([bench.store.executed, bench.sent.length], [0, 0]);
    bench.moving[1].done(true);
    assert.deepEqual([bench.store.executed, bench.sent.length, bench.memory.lent], [1, 1, 0]);
  });

  it('refuses what its store does not take without reading it', () => {
    const bench = new Bench();
    assert.equal(bench.ask(1, Operation.SET, (1 << 20) + 1), Status.TOO_LARGE);
    assert.equal(bench.moving.length, 0);
  });

  it('answers a repeated GET that had named memory without writing there again', () => {
    const bench = new Bench();
    assert.equal(bench.ask(1, Operation.GET, 5000), Status.OK);
    assert.equal(bench.ask(1, Operation.GET, 5000), Status.OK);
    assert.deepEqual([bench.store.executed, bench.moving.length], [1, 0]);
  });
});
