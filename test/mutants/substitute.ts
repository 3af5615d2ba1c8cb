/** A module to be loaded in place of the one that was compiled. */
export interface Substitute {
  readonly url: string;
  readonly source: string;
}

/** Set by a substitute when it runs, so that nobody takes a mutant for surviving that was never loaded. */
export const LOADED = 'verbena: a mutant is loaded';
