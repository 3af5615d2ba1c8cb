import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Journal, Refusal } from '../persistence/index.js';
import { ServerMachine, type Session, Sessions } from '../protocol/index.js';
import { Operation, ResponseView, Status } from '../wire/index.js';
import { newStore } from './support/served.js';
import { answersTo, Counting, EPOCH, encodeFor, SLOT_BYTES } from './support/machines.js';

/** A journal that keeps, or does not, as a test says. */
class Scripted implements Journal {
  readonly store = newStore();
  hasChanges = false;
  refusal: Refusal | undefined;
  readonly waitMs = undefined;
  fate: Refusal | undefined;
  commits = 0;

  commit(): Refusal | undefined {
    this.hasChanges = false;
    this.commits += 1;
    return this.fate;
  }

  work(): void {
    throw new Error('there is nothing to do');
  }

  timeMs(nowUs: number): number {
    return nowUs / 1000;
  }
}

class Server {
  readonly journal = new Scripted();
  readonly store = new Counting();
  readonly machine = new ServerMachine(EPOCH, this.store, SLOT_BYTES, this.journal);
  readonly session: Session;
  readonly settled: Status[] = [];
  readonly #view = new ResponseView();

  constructor() {
    const session = new Sessions({ maxSessions: 1, maxSilenceUs: 1e9 }, () => 7).open(8, 1);
    if (session === undefined) throw new Error('no room for the first session');
    this.session = session;
  }

  /** @returns the status of the answer that comes at once */
  ask(operation: Operation, slot: number, sequence = 1): Status | undefined {
    const bytes = encodeFor(this.session, operation, slot, sequence);
    const isChange = operation === Operation.INCR;
    if (isChange && this.journal.refusal === undefined) this.journal.hasChanges = true;
    return answersTo(this.machine, this.session, bytes)
      .map((answer) => this.#statusOf(answer))
      .at(0);
  }

  settle(): readonly Status[] {
    this.machine.settle((_, answer) => this.settled.push(this.#statusOf(answer)));
    return this.settled.splice(0);
  }

  #statusOf(answer: Uint8Array): Status {
    equal(this.#view.look(answer), undefined);
    return this.#view.status;
  }
}

describe('a server whose changes are kept', () => {
  it('answers what changes nothing at once', () => {
    const server = new Server();
    equal(server.ask(Operation.GET, 0), Status.OK);
    equal(server.machine.isHolding, false);
  });

  it('holds the answer to a change until it is kept, and those that may tell of it', () => {
    const server = new Server();
    equal(server.ask(Operation.INCR, 0), undefined);
    equal(server.ask(Operation.INCR, 1), undefined);
    equal(server.ask(Operation.GET, 2), undefined);
    deepEqual(server.settle(), [Status.OK, Status.OK, Status.OK]);
    equal(server.journal.commits, 1);
    equal(server.ask(Operation.GET, 2, 2), Status.OK);
  });

  it('says of changes that they failed where they could not be kept, and nothing of what was read after them', () => {
    const server = new Server();
    server.ask(Operation.INCR, 0);
    server.ask(Operation.GET, 1);
    server.journal.fate = 'full';
    deepEqual(server.settle(), [Status.DISK_FULL]);
    equal(server.machine.counters.unlogged, 1);
  });

  it('answers the repeat of a change that failed with that, and does not carry it out', () => {
    const server = new Server();
    server.ask(Operation.INCR, 0);
    server.journal.fate = 'failed';
    server.settle();
    const { executed } = server.store;
    server.journal.hasChanges = false;
    const bytes = encodeFor(server.session, Operation.INCR, 0, 1);
    const view = new ResponseView();
    equal(view.look(answersTo(server.machine, server.session, bytes)[0]), undefined);
    equal(view.status, Status.DISK_FAILED);
    equal(server.store.executed, executed);
  });

  it('does not answer the repeat of a change that is held', () => {
    const server = new Server();
    server.ask(Operation.INCR, 0);
    equal(server.ask(Operation.INCR, 0), undefined);
    deepEqual(server.settle(), [Status.OK]);
    equal(server.store.executed, 1);
  });

  it('answers the repeat of a change that was kept before, whatever becomes of others', () => {
    const server = new Server();
    server.ask(Operation.INCR, 0);
    server.settle();
    server.ask(Operation.INCR, 1);
    equal(server.ask(Operation.INCR, 0), Status.OK);
    server.journal.fate = 'full';
    deepEqual(server.settle(), [Status.DISK_FULL]);
  });

  it('refuses changes while the disk fails, before they are carried out, and goes on reading', () => {
    const server = new Server();
    server.journal.refusal = 'full';
    equal(server.ask(Operation.INCR, 0), Status.DISK_FULL);
    equal(server.ask(Operation.GET, 1), Status.OK);
    equal(server.store.executed, 1);
    equal(server.machine.counters.unlogged, 1);
  });
});
