import type { Mutant } from '../mutant.js';

/** What becomes of a simulated host (docs/guide/sim.md). */
export const hosts: readonly Mutant[] = [
  {
    name: 'crash-leaves-waiters',
    rule: 'a host that crashes takes along whoever waits on it in the event loop: no time passes for them',
    source: 'docs/guide/sim.md, Hosts',
    in: 'SimulatedHost.crashed',
    from: 'this.#listeners.clear();',
    to: '',
    games: ['tests'],
  },
];
