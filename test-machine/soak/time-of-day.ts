/**
 * A time of day that can be turned, on and back, while programs run under it. No namespace has such a clock of its own: the
 * library of `faketime` stands between them and the machine's. Monotonic clocks, and the times of files, stay what they are.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Seconds after which it looks at the file again. */
const LOOK_SECONDS = '1';

export class TimeOfDay {
  readonly environment: Readonly<Record<string, string>>;

  private constructor(
    library: string,
    /** How far it is from the machine's. */
    private readonly file: string,
  ) {
    this.environment = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: LOOK_SECONDS,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
    this.turn(0);
  }

  /** @returns undefined where `faketime` is not installed */
  static make(file: string): TimeOfDay | undefined {
    const { error, status, stdout } = spawnSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], {
      encoding: 'utf8',
    });
    return error === undefined && status === 0 ? new TimeOfDay(stdout.trim(), file) : undefined;
  }

  /** So many seconds on from the machine's, or back where they are negative. */
  turn(seconds: number): void {
    writeFileSync(this.file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  }
}
