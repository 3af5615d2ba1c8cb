import type { Mutant } from '../mutant.js';

/** How packets go to a NIC of the same machine through shared memory, which holds so many and no more (docs/decisions/0037). */
export const neighbours: readonly Mutant[] = [
  {
    name: 'ring-loses',
    rule: 'packets of a queue pair wait for room in a ring that is full, and none is lost',
    source: 'docs/decisions/0038',
    in: 'LocalSink.reserve',
    from: 'if (waits && neighbour.awaitRoom(nowUs()) !== Infinity) {',
    to: 'if (false) {',
    games: ['tests'],
  },
  {
    name: 'ring-waits-for-ever',
    rule: 'nobody waits for room in the ring of a NIC that stands still',
    source: 'docs/decisions/0038',
    in: 'Neighbour.awaitRoom',
    from: 'const standsStill = nowUs >= this.standstillUs;',
    to: 'const standsStill = false;',
    games: ['tests'],
  },
  {
    name: 'ring-wakes-nobody',
    rule: 'who takes packets out of a ring wakes the sender that waits for room there',
    source: 'docs/decisions/0038',
    in: 'Neighbour.awaitRoom',
    from: 'Atomics.store(control, waiting, 1);',
    to: '',
    games: ['tests'],
  },
  {
    name: 'held-pass',
    rule: 'a queue pair whose way is full waits behind those that wait for the same way',
    source: 'docs/decisions/0038',
    in: 'Nic.#transmit',
    from: 'if (qp.way !== 0 && this.#held.isBehind(qp)) {',
    to: 'if (false) {',
    games: ['tests'],
  },
  {
    name: 'held-hold-up-others',
    rule: 'a queue pair whose way is full holds up nobody who goes elsewhere',
    source: 'docs/decisions/0038',
    in: 'Nic.#transmit',
    from: 'if (way !== 0) {\n          this.#hold(qp, way);\n          continue;\n        }',
    to: '',
    games: ['tests'],
  },
  {
    name: 'held-after-reset',
    rule: 'a queue pair that was RESET waits for no way any more',
    source: 'protocol/reliable.md 2.9',
    in: 'Nic.unhold',
    from: `this.#held.remove(qp);
      this.#enqueue(qp);`,
    to: '',
    games: ['tests'],
  },
  {
    name: 'ring-keeps-room',
    rule: 'in a ring that is full of data there is room for acknowledgements',
    source: 'src/node/links/local/local-neighbour.ts',
    in: 'Neighbour.reserve',
    from: 'packetBytes > SHORT_BYTES ? KEPT_BYTES : 0',
    to: '0',
    games: ['tests'],
  },
];
