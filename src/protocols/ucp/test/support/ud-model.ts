import assert from 'node:assert/strict';
import { UdFlags } from '../../wire/index.js';
import { DEAD, IDLE, UdProtocol } from '../../uct/ud/protocol.js';
import { Arrival, MIN_WINDOW, psnAhead } from '../../uct/ud/windows.js';

/** A datagram on the network: without a number it brings nothing. */
export interface Datagram {
  readonly psn: number;
  readonly ackPsn: number;
  readonly flags: number;
  readonly number: number | undefined;
}

/** One end: it sends numbers, and takes note of those that it is given. */
export class Side {
  readonly got: number[] = [];
  /** What it has sent, and the network has not brought or lost. */
  readonly wire: Datagram[] = [];
  readonly protocol: UdProtocol<number>;
  sent = 0;
  resent = 0;
  isDead = false;
  /** Datagrams that it can hand to its adapter; none: it waits for room. */
  room = Infinity;
  readonly #numbers = new Map<number, number>();

  constructor(
    readonly most: number,
    readonly mostKept: number,
    timeoutMs = 1e9,
  ) {
    this.protocol = new UdProtocol(most, timeoutMs);
  }

  send(): boolean {
    if (this.protocol.sends.room <= 0 || this.room <= 0) return false;
    const psn = this.protocol.begin();
    this.#numbers.set(psn, this.sent);
    this.sent += 1;
    this.#put(psn, this.protocol.flagsOfNew(), this.#numbers.get(psn));
    this.protocol.acknowledgedBeside();
    return true;
  }

  /** A datagram of the peer's comes. */
  take({ psn, ackPsn, flags, number }: Datagram): void {
    const { protocol } = this;
    const before = protocol.sends.acked;
    const count = protocol.heard(ackPsn, flags);
    assert.ok(count >= 0, 'nobody acknowledges what was never sent');
    for (let i = 1; i <= count; i += 1) assert.ok(this.#numbers.delete((before + i) & 0xffff));
    if (number === undefined) assert.ok(protocol.heardLast(psn));
    else this.#arrived(psn, number);
    this.progress();
    this.#check();
  }

  progress(): boolean {
    return this.protocol.progress({
      resend: (psn, flags) => {
        if (this.room <= 0) return false;
        const number = this.#numbers.get(psn);
        assert.ok(number !== undefined, 'only what is under way is sent again');
        this.resent += 1;
        this.#put(psn, flags, number);
        return true;
      },
      sendBare: (flags) => {
        if (this.room <= 0) return false;
        this.#put(this.protocol.sends.last, flags, undefined);
        return true;
      },
    });
  }

  tick(): number {
    const next = this.protocol.tick();
    if (next === DEAD) this.isDead = true;
    else if (next !== IDLE) this.progress();
    return next;
  }

  #arrived(psn: number, number: number): void {
    const { protocol } = this;
    switch (protocol.arrived(psn)) {
      case Arrival.NEXT:
        this.got.push(number);
        for (let kept = protocol.receives.takeKept(); kept !== undefined; kept = protocol.receives.takeKept())
          this.got.push(kept);
        break;
      case Arrival.EARLY:
        if (protocol.receives.kept < this.mostKept) protocol.receives.keep(psn, number);
        break;
      case Arrival.AGAIN:
        break;
      case Arrival.BEYOND:
        assert.fail('no peer sends so far ahead');
    }
  }

  #put(psn: number, flags: number, number: number | undefined): void {
    this.room -= 1;
    this.wire.push({ psn, ackPsn: this.protocol.receives.last, flags, number });
  }

  #check(): void {
    const { size, underWay, acked, last } = this.protocol.sends;
    assert.ok(size >= MIN_WINDOW && size <= this.most);
    assert.ok(underWay <= this.most && underWay === psnAhead(last, acked));
    assert.equal(this.#numbers.size, underWay);
  }
}

/** Brings one that is on its way from one end to the other. */
export function bring(from: Side, to: Side, which = 0): boolean {
  if (from.wire.length === 0) return false;
  to.take(from.wire.splice(which % from.wire.length, 1)[0]);
  return true;
}

/** Lets all arrive, with as much time as it takes. */
export function settle(one: Side, two: Side): void {
  for (let rounds = 0; rounds < 200; rounds += 1) {
    while (bring(one, two) || bring(two, one));
    if (one.protocol.sends.underWay + two.protocol.sends.underWay === 0) return;
    for (const side of [one, two]) side.tick();
  }
  assert.fail('all arrives in the end');
}

export function asks({ flags }: Datagram): boolean {
  return (flags & UdFlags.ACK_REQ) !== 0;
}
