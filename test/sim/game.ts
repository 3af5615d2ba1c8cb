export interface Game {
  /** How a failure is played again, but for the seed. */
  readonly replay: string;
  play(seed: number, trace: ((line: string) => void) | undefined): Figures | Promise<Figures>;
  describe(seed: number): string;
  /** What all runs came to, in a few lines. */
  summarise(total: Figures): string;
}

/** What a run came to; of several, the sum. */
export interface Figures {
  readonly counts: Readonly<Record<string, number>>;
  readonly network: Readonly<Record<string, number>>;
  readonly virtualUs: number;
}

export const NOTHING_YET: Figures = { counts: {}, network: {}, virtualUs: 0 };

export function sumOf(a: Figures, b: Figures): Figures {
  return {
    counts: addedUp(a.counts, b.counts),
    network: addedUp(a.network, b.network),
    virtualUs: a.virtualUs + b.virtualUs,
  };
}

function addedUp(a: Figures['counts'], b: Figures['counts']): Record<string, number> {
  const sum = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** A count as a person reads it; 0 where there is none. */
export function readable(counts: Figures['counts'], ...names: readonly string[]): string {
  return names.reduce((total, name) => total + (counts[name] ?? 0), 0).toLocaleString('en');
}
