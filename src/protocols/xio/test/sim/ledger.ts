import { XioStatus } from '../../wire/index.js';
import { check } from '../../../../../test/sim/failure.js';

export type Outcome = 'answered' | 'given up' | 'failed';

interface Entry {
  readonly isIdempotent: boolean;
  readonly bytes: number;
  executions: number;
  outcome: Outcome | undefined;
  /** It was told that it has not run, and never will. */
  cannotRun: boolean;
}

/** What a body of so many bytes holds, by the number of whatever it belongs to. */
export function bodyOf(id: number, bytes: number, salt: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, index) => (id * 31 + index * 7 + salt) & 0xff);
}

/** The model beside the machines: what was asked, what was executed, what was told. */
export class Ledger {
  readonly #entries: Entry[] = [];
  /** Whether a server has begun anew, or forgotten anybody. */
  mayForget = false;
  /** Whether a session has gone where it was sent: the memory that it uses stays where it is. */
  hasMoved = false;
  replays = 0;

  /** Whether memory may be at a server that is another now. */
  get mayLeave(): boolean {
    return this.mayForget || this.hasMoved;
  }

  /** Something is begun. @returns its number */
  begin(bytes: number, isIdempotent: boolean): number {
    this.#entries.push({ isIdempotent, bytes, executions: 0, outcome: undefined, cannotRun: false });
    return this.#entries.length - 1;
  }

  executed(id: number, body: Uint8Array): void {
    const entry = this.#entry(id);
    entry.executions += 1;
    check(!entry.cannotRun, () => `request ${id} is executed after its requester was told that it never will be`);
    check(entry.executions === 1 || entry.isIdempotent, () => `request ${id} is executed ${entry.executions} times`);
    check(same(body, bodyOf(id, entry.bytes, 0)), () => `request ${id} comes with other bytes than were sent`);
  }

  answered(id: number, body: Uint8Array): void {
    const entry = this.#settle(id, 'answered');
    check(entry.executions > 0, () => `request ${id} is answered, and was never executed`);
    check(same(body, bodyOf(id, entry.bytes, 1)), () => `the answer to request ${id} has other bytes than were sent`);
  }

  /** The peer's program has let go of a message. */
  received(id: number): void {
    const entry = this.#settle(id, 'answered');
    check(entry.executions > 0, () => `there is a receipt for message ${id}, which was never received`);
  }

  givenUp(id: number, mayHaveRun: boolean): void {
    const entry = this.#settle(id, 'given up');
    this.#cannotRun(id, entry, mayHaveRun);
  }

  failed(id: number, status: XioStatus, mayHaveRun: boolean): void {
    const entry = this.#settle(id, 'failed');
    this.#cannotRun(id, entry, mayHaveRun);
    check(
      status !== XioStatus.XIO_E_PEER_RESTARTED || this.mayForget,
      () => `request ${id} fails since a server has begun anew, which none has`,
    );
  }

  isSettled(id: number): boolean {
    return this.#entry(id).outcome !== undefined;
  }

  /** @returns how many there were of each outcome */
  close(): Readonly<Record<Outcome, number>> {
    const counts = { answered: 0, 'given up': 0, failed: 0 };
    this.#entries.forEach(({ outcome }, id) => {
      check(outcome !== undefined, () => `nobody was told what became of request ${id}`);
      counts[outcome] += 1;
    });
    return counts;
  }

  #cannotRun(id: number, entry: Entry, mayHaveRun: boolean): void {
    entry.cannotRun = !mayHaveRun;
    check(
      mayHaveRun || entry.executions === 0,
      () => `request ${id} was executed, and its requester told that it was not`,
    );
  }

  #settle(id: number, outcome: Outcome): Entry {
    const entry = this.#entry(id);
    check(entry.outcome === undefined, () => `request ${id} is ${outcome}, and was ${entry.outcome} before`);
    entry.outcome = outcome;
    return entry;
  }

  #entry(id: number): Entry {
    const entry = this.#entries.at(id);
    check(entry !== undefined, () => `nobody has begun request ${id}`);
    return entry;
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
