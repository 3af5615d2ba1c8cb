import type { Plan } from './plan.js';
import type { Play } from './plays/play.js';

/** One side of a test, whatever its messages go by. */
export interface Half {
  readonly plan: Plan;
  /** What it does; undefined where it only holds out its memory. */
  readonly play: Play | undefined;
  /** All that was handed over has arrived. */
  flush(): Promise<unknown>;
  /** How messages go. */
  explain(): string;
  close(): void;
}
