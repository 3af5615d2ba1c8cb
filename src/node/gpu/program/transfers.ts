import { VerbsError } from '../../../api/verbs/index.js';
import type { Copy } from '../../../device/nic/index.js';
import { CopyMachine } from '../copies/copy-machine.js';
import { SLOT_BYTES } from '../copies/staging-pool.js';
import type { GpuSession } from '../driver/gpu-driver.js';

/** Rounds of the event loop in which copies are looked at before it is left to itself for a while. */
const EAGER_ROUNDS = 200;
const LATER_MS = 1;

/** One copy of a call. */
export interface Step {
  readonly lengthBytes: number;
  /** False when it cannot be begun. */
  readonly begin: (machine: CopyMachine, copy: Copy) => boolean;
}

/** One call of a program: it ends when all of its copies have. */
class Transfer {
  #left = 0;
  #failed = false;
  #ended: (() => void) | undefined;

  begin(machine: CopyMachine, steps: readonly Step[]): void {
    this.#left = steps.length;
    for (const { lengthBytes, begin } of steps) {
      const finish = (copiedBytes: number): void => {
        this.#left -= 1;
        if (copiedBytes < lengthBytes) this.#failed = true;
        if (this.#left === 0) this.#ended?.();
      };
      if (!begin(machine, { finish })) finish(0);
    }
  }

  get hasFailed(): boolean {
    return this.#failed;
  }

  async whenEnded(): Promise<void> {
    if (this.#left === 0) return;
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
  }
}

export function* pieces(lengthBytes: number): Generator<{ readonly at: number; readonly lengthBytes: number }> {
  for (let at = 0; at < lengthBytes; at += SLOT_BYTES)
    yield { at, lengthBytes: Math.min(SLOT_BYTES, lengthBytes - at) };
}

/** The copies that a program has its device make. */
export class Transfers {
  readonly #machine: CopyMachine;
  readonly #underWay = new Set<Transfer>();
  #isLooking = false;

  constructor(session: GpuSession) {
    this.#machine = new CopyMachine(session);
  }

  /** How many calls are under way. */
  get count(): number {
    return this.#underWay.size;
  }

  /** Carries out a call in the event loop. @throws VerbsError EIO when the device fails */
  async run(call: string, steps: readonly Step[]): Promise<void> {
    const transfer = new Transfer();
    this.#underWay.add(transfer);
    try {
      transfer.begin(this.#machine, steps);
      this.#machine.submit();
      this.#look(0);
      await transfer.whenEnded();
    } finally {
      this.#underWay.delete(transfer);
    }
    this.#conclude(call, transfer);
  }

  /** Carries out a call, and blocks meanwhile. @throws VerbsError EIO when the device fails */
  runSync(call: string, steps: readonly Step[]): void {
    const transfer = new Transfer();
    transfer.begin(this.#machine, steps);
    this.#machine.finish();
    this.#conclude(call, transfer);
  }

  /** No call is under way. */
  close(): void {
    this.#machine.close();
  }

  #conclude(call: string, { hasFailed }: Transfer): void {
    if (!hasFailed) return;
    const why = this.#machine.failure?.message ?? 'nobody says why';
    throw new VerbsError(
      call,
      { errno: 'EIO', message: `the device has failed: ${why}`, advice: '' },
      { cause: this.#machine.failure },
    );
  }

  /** Looks again and again as long as something is under way. */
  #look(round: number): void {
    if (round === 0 && this.#isLooking) return;
    this.#isLooking = true;
    this.#machine.poll();
    if (!this.#machine.needsPolling) {
      this.#isLooking = false;
      return;
    }
    const again = (): void => this.#look(round + 1);
    if (round < EAGER_ROUNDS) setImmediate(again);
    else setTimeout(again, LATER_MS);
  }
}
