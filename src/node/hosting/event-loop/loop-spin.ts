import { ownTurn } from '../../../api/runtime/index.js';
import { inRootContext, leaveProcessor, nowUs, yieldProcessor } from '../../system/index.js';
import { Crowding, type Processor } from './crowding.js';
import { CommandError } from '../../../device/nic/index.js';

/** Below that a look more or less makes no difference. */
const LEAST_US = 10;

/**
 * How long it is worth to look again and again for what is awaited before one sleeps. Learned, as a hypervisor learns it of its
 * guests (KVM's halt polling): who was woken soon would have done better to look a little longer, and who slept for long has
 * looked in vain.
 */
export class SpinTime {
  #us: number;

  /** @param mostUs it is never longer; 0 for not at all */
  constructor(private readonly mostUs: number) {
    this.#us = mostUs;
  }

  /** For so long after the last thing that happened. */
  get us(): number {
    return this.#us;
  }

  /** What came has ended a sleep, so long after the last thing that had happened. */
  woken(afterUs: number): void {
    if (afterUs <= this.mostUs) this.#us = Math.min(this.mostUs, Math.max(this.#us, 2 * afterUs));
    else this.#us = this.#us < LEAST_US ? 0 : this.#us / 2;
  }
}

const DEFAULT_US = 200;
/** A second: whoever looks for longer polls. */
const MOST_US = 1_000_000;

/**
 * The longest time that those who await look for it before they sleep.
 *
 * @throws CommandError EINVAL when `VERBENA_SPIN` is no such time
 */
function spinSettingUs(): number {
  const asked = process.env['VERBENA_SPIN'];
  if (asked === undefined || asked === '') return DEFAULT_US;
  const us = Number(asked);
  if (us >= 0 && us <= MOST_US) return us;
  throw new CommandError('EINVAL', `VERBENA_SPIN is '${asked}'; it is a number of µs, 0 to ${MOST_US}`);
}

/** What is done while somebody waits in the event loop. */
export interface Waited {
  /** Looks for what is awaited. @returns whether something was there */
  look(nowUs: number): boolean;
  wakeUp(): void;
  /** Nobody looks any more: what comes has to say so from now on. */
  fallAsleep(): void;
}

export interface Rounds extends Processor {
  /** Calls `round` when everybody else in the event loop has had a turn. */
  next(round: () => void): void;
}

/** Those who test programs may put other timers into the place of the real ones. */
const { setImmediate } = globalThis;

/** Looks in one turn of the loop, while nobody finds anything: a turn takes longer than a look, and what comes meanwhile waits for its end. */
const LOOKS_PER_ROUND = 4;
/** Rounds in a row in which nobody found anything, after which the processor is offered to others, the peer perhaps. */
const ROUNDS_PER_YIELD = 2;

/** All that spin in one event loop take one turn of it together, so that others have every second one. */
export class SpinRounds {
  readonly #spins: LoopSpin[] = [];
  readonly #crowding: Crowding;
  #isScheduled = false;
  #vain = 0;

  constructor(private readonly rounds: Rounds) {
    this.#crowding = new Crowding(rounds);
  }

  /** Whether others want the processor, so that nobody is to look. */
  isCrowded(nowUs: number): boolean {
    return this.#crowding.isCrowded(nowUs);
  }

  add(spin: LoopSpin): void {
    this.#spins.push(spin);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#crowding.looks(this.rounds.nowUs());
    this.rounds.next(this.#round);
  }

  remove(spin: LoopSpin): void {
    const at = this.#spins.indexOf(spin);
    if (at >= 0) this.#spins.splice(at, 1);
  }

  readonly #round = (): void => ownTurn(this.#ownRound);

  readonly #ownRound = (): void => {
    const spins = this.#spins;
    let found = false;
    try {
      for (let looks = 0; looks < LOOKS_PER_ROUND && spins.length > 0 && !found; looks += 1) found = this.#look();
    } finally {
      this.#isScheduled = spins.length > 0;
      if (this.#isScheduled) this.rounds.next(this.#round);
    }
    this.#vain = found ? 0 : this.#vain + 1;
    if (this.#vain < ROUNDS_PER_YIELD || !this.#isScheduled) return;
    this.#vain = 0;
    this.#crowding.offer();
  };

  /** One look of each. @returns whether something was there */
  #look(): boolean {
    const spins = this.#spins;
    const now = this.rounds.nowUs();
    let found = false;
    // One that is removed meanwhile may have another skipped, which has its turn in the next look.
    for (let i = 0; i < spins.length; i += 1) if (spins[i].round(now)) found = true;
    return found;
  }
}

const thisLoop = new SpinRounds({
  nowUs,
  next: (round) => void inRootContext(setImmediate, round),
  yield: yieldProcessor,
  leave: leaveProcessor,
});

/**
 * How one waits in the event loop: by looking again and again, a look for each turn of the loop, for as long as that pays; then
 * by sleeping until something says that it came. Waking from sleep takes some 50 µs, a turn of an otherwise idle loop 1.
 */
export class LoopSpin {
  readonly #time: SpinTime;
  #isAwake = false;
  #sinceUs = 0;

  /** @throws CommandError EINVAL when the time that is set makes no sense */
  constructor(
    private readonly waited: Waited,
    private readonly all: SpinRounds = thisLoop,
    time = new SpinTime(spinSettingUs()),
  ) {
    this.#time = time;
  }

  get isAwake(): boolean {
    return this.#isAwake;
  }

  /** Something has happened upon which more may come soon: looks from now on, if that pays. */
  stir(now: number): void {
    this.#sinceUs = now;
    if (this.#isAwake || this.#time.us === 0 || this.all.isCrowded(now)) return;
    this.#isAwake = true;
    this.waited.wakeUp();
    this.all.add(this);
  }

  /** Something has come which had to say so. */
  woken(now: number): void {
    if (this.#isAwake) return;
    this.#time.woken(now - this.#sinceUs);
    this.stir(now);
  }

  /** Looks no more; does not fall asleep either. */
  end(): void {
    if (!this.#isAwake) return;
    this.#isAwake = false;
    this.all.remove(this);
  }

  /** One look. @returns whether something was there */
  round(now: number): boolean {
    if (this.waited.look(now)) {
      this.#sinceUs = now;
      return true;
    }
    // To look may have ended all waits.
    if (!this.#isAwake) return false;
    if (now - this.#sinceUs >= this.#time.us || this.all.isCrowded(now)) {
      this.end();
      this.waited.fallAsleep();
    }
    return false;
  }
}
