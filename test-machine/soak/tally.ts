/** What a soak has come to so far. */
import type { FaultKind } from './plan.js';
import { type Figures, noFigures } from './protocol.js';

export interface Violation {
  readonly atSeconds: number;
  readonly who: string;
  readonly text: string;
}

export class Tally {
  readonly figures: Figures = noFigures();
  readonly faults = new Map<FaultKind | `die in ${string}`, number>();
  readonly errors = new Map<string, number>();
  readonly violations: Violation[] = [];
  /** Breaks for which the machine, and nothing of ours, can be blamed. */
  excused = 0;
  longestCrowdMs = 0;
  longestTerminationMs = 0;
  capturesEnded = 0;
  readonly notes: string[] = [];

  count(map: Map<string, number>, name: string): void {
    map.set(name, (map.get(name) ?? 0) + 1);
  }

  add(figures: Figures): void {
    for (const name of Object.keys(this.figures) as (keyof Figures)[]) this.figures[name] += figures[name]; // those of a literal
  }
}
