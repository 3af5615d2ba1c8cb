import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../../device/link/index.js';
import { type Acceptance, type Neighbour, Neighbours, type OpenCall } from '../../wireup/neighbours.js';

/** A connection between both ends, open until either has closed it. */
interface Line {
  isOpen: boolean;
}

interface Call extends OpenCall {
  got: Line | undefined;
}

const HOSTS = ['192.0.2.1', '192.0.2.2'] as const;

/** One of two ends, whose messages to the other take any time and come in any order. */
class End {
  readonly calls: Call[] = [];
  readonly machine: Neighbours<Call, Line>;
  readonly own: Neighbour;

  constructor(
    number: 0 | 1,
    private readonly later: (action: () => void) => void,
    most = Infinity,
  ) {
    this.own = { uuid: BigInt(number), host: HOSTS[number] };
    this.machine = new Neighbours(() => this.own, most);
  }

  ask(other: End): void {
    const call: Call = { id: 100 * Number(this.own.uuid + 1n) + this.calls.length, to: other.own, got: undefined };
    this.calls.push(call);
    const claimed = this.machine.claim(other.own);
    if (claimed !== undefined) call.got = claimed;
    else if (this.machine.begin(call)) this.#dial(call, other);
  }

  #dial(call: Call, other: End): void {
    if (call.got === undefined) this.later(() => other.#asked(call, this));
  }

  #asked(theirs: Call, from: End): void {
    const verdict = this.machine.asked({ from: from.own, call: theirs.id });
    if (verdict.kind === 'full') return;
    if (verdict.kind === 'crossed') {
      this.later(() => from.#dial(theirs, this));
      return;
    }
    const { acceptance } = verdict;
    const line = { isOpen: true };
    const own = acceptance.call?.id ?? 0;
    this.later(() => from.#answered(theirs, own, line, () => this.later(() => this.#accepted(acceptance, line, from))));
  }

  #answered(call: Call, theirs: number, line: Line, tell: () => void): void {
    if (call.got !== undefined) line.isOpen = false;
    else {
      this.machine.reached(call, theirs, line);
      this.#settle(call, line);
    }
    tell();
  }

  #accepted(acceptance: Acceptance<Call>, line: Line, from: End): void {
    if (!line.isOpen) {
      const call = this.machine.failed(acceptance);
      if (call !== undefined) this.#dial(call, from);
      return;
    }
    const call = this.machine.accepted(acceptance, line);
    if (call !== undefined) this.#settle(call, line);
  }

  #settle(call: Call, line: Line): void {
    call.got = line;
    this.machine.end(call);
  }
}

/** Plays calls of both ends in a random order. @returns both ends, once nothing is under way */
function played(seed: number, counts: readonly [number, number]): readonly [End, End] {
  const random = new SeededRandom(seed);
  const underWay: (() => void)[] = [];
  const later = (action: () => void): void => void underWay.push(action);
  const ends = [new End(0, later), new End(1, later)] as const;
  const begins = counts.flatMap((count, i) => Array.from({ length: count }, () => () => ends[i].ask(ends[1 - i])));
  underWay.push(...begins);
  for (let step = 0; underWay.length > 0; step += 1) {
    assert.ok(step < 5000, 'it does not come to an end');
    underWay.splice(random.below(underWay.length), 1)[0]();
  }
  return ends;
}

describe('calls of two workers that ask for each other', () => {
  for (const counts of [
    [1, 0],
    [1, 1],
    [2, 1],
    [1, 2],
    [3, 3],
    [5, 2],
  ] as const)
    it(`come to connections of which all ends are had, ${counts[0]} of one and ${counts[1]} of the other in any order`, () => {
      // Where both have several, more connections than that may be made.
      const isSimple = Math.min(...counts) < 2;
      for (let seed = 1; seed <= 400; seed += 1) {
        const ends = played(seed, counts);
        const lines = new Set<Line>();
        let spare = 0;
        for (const [i, { calls, machine }] of ends.entries()) {
          for (const { got } of calls) {
            assert.ok(got?.isOpen, `seed ${seed}: a call has nothing`);
            lines.add(got);
          }
          assert.equal(
            new Set(calls.map(({ got }) => got)).size,
            calls.length,
            `seed ${seed}: two calls have the same`,
          );
          if (isSimple)
            assert.equal(machine.spare, Math.max(0, counts[1 - i] - counts[i]), `seed ${seed}: connections for nobody`);
          spare += machine.spare;
        }
        if (isSimple) assert.equal(lines.size, Math.max(...counts), `seed ${seed}`);
        // Each connection has two ends, which somebody has or nobody yet.
        assert.equal(counts[0] + counts[1] + spare, 2 * lines.size, `seed ${seed}: an end is lost`);
      }
    });

  it('refuse each other’s where they cross, at one end and not at both', () => {
    const ends = [0, 1].map((number) => new End(number === 0 ? 0 : 1, () => undefined));
    ends[0].ask(ends[1]);
    ends[1].ask(ends[0]);
    const kinds = ends.map(({ machine }, i) => {
      const { own, calls } = ends[1 - i];
      return machine.asked({ from: own, call: calls[0].id }).kind;
    });
    assert.deepEqual(kinds, ['crossed', 'accept']);
  });

  it('that were answered by a connection of the other end are refused when they come later', () => {
    const [own, other] = [new End(0, () => undefined), new End(1, () => undefined)];
    own.ask(other);
    const [call] = own.calls;
    const line = { isOpen: true };
    own.machine.reached(call, 77, line);
    own.machine.end(call);
    assert.equal(own.machine.asked({ from: other.own, call: 77 }).kind, 'crossed');
    assert.equal(own.machine.asked({ from: { ...other.own, host: '192.0.2.3' }, call: 77 }).kind, 'accept');
    own.machine.forget(line);
    assert.equal(own.machine.asked({ from: other.own, call: 77 }).kind, 'accept');
  });
});

describe('endpoints that nobody has asked for', () => {
  it('are as many as they may be, those included that are being accepted', () => {
    const [own, other] = [new End(0, () => undefined, 2), new End(1, () => undefined)];
    const ask = (call: number) => own.machine.asked({ from: other.own, call });
    const first = ask(1);
    assert.equal(ask(2).kind, 'accept');
    assert.equal(ask(3).kind, 'full');
    assert.ok(first.kind === 'accept');
    const line = { isOpen: true };
    assert.equal(own.machine.accepted(first.acceptance, line), undefined);
    assert.equal(ask(4).kind, 'full');
    own.machine.forget(line);
    assert.equal(own.machine.spare, 0);
    assert.equal(ask(5).kind, 'accept');
  });
});
