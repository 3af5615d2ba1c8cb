import type { Context, OpenOptions } from '../verbs/index.js';

/** The machine that a program runs on, where that is not the one below it: a host of a simulation. */
export interface Machine {
  /** Opens a device of it. @throws VerbsError EADDRNOTAVAIL, EADDRINUSE */
  open(options: OpenOptions): Context;
  /** Those that rdma_cm may use: one at least. */
  devices(): readonly [Context, ...Context[]];
  /** Addresses of a host by its name; none for a name that nobody knows. */
  lookup(name: string): readonly string[];
}

let find: () => Machine | undefined = () => undefined;

/** The machine of whoever asks; undefined for the real one. */
export function currentMachine(): Machine | undefined {
  return find();
}

/** Says how the machine of whoever asks is found. */
export function setMachineFinder(finder: () => Machine | undefined): void {
  find = finder;
}
