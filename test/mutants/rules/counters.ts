import type { Mutant } from '../mutant.js';

/** What a NIC counts (`src/device/nic/counters.ts`): a counter that is wrong changes nothing else. */
export const counters: readonly Mutant[] = [
  {
    name: 'counts-repeats',
    rule: 'every request that was executed before is counted, also one that is only acknowledged again',
    source: 'duplicate_request, rdma-statistic(8)',
    in: 'Responder.onRequest',
    from: 'this.core.counters.duplicateRequest += 1;',
    to: 'if ((bits & ANSWERED) !== 0) this.core.counters.duplicateRequest += 1;',
    games: ['traffic'],
  },
  {
    name: 'counts-deferred',
    rule: 'an acknowledgement that a READ response or the answer to an atomic makes needless is counted as deferred',
    source: 'ack_deferred, rdma-statistic(8)',
    in: 'ResponseSender.#append',
    from: `this.#ackDue = false;
      this.core.counters.ackDeferred += 1;`,
    to: 'this.#ackDue = false;',
    games: ['traffic'],
  },
  {
    name: 'counts-marks',
    rule: 'every packet that comes marked is counted, also one of which the peer is not told',
    source: 'np_ecn_marked_roce_packets of mlx5',
    in: 'QueuePair.onMarked',
    from: `core.counters.npEcnMarkedRocePackets += 1;
    if ((bits & OpcodeBit.PAYLOAD) === 0) return;`,
    to: `if ((bits & OpcodeBit.PAYLOAD) === 0) return;
    core.counters.npEcnMarkedRocePackets += 1;`,
    games: ['traffic'],
  },
];
