import { once } from '../measure/measurement.js';
import { queuePairCost } from '../measure/queue-pairs.js';
import { writeInTurn } from '../measure/rdma.js';
import type { Row, SectionMaker } from './section.js';

export const inTurn: SectionMaker = ({ effort, qpCounts }) => ({
  title: 'An RDMA WRITE of 64 bytes, one after the other, each on the next queue pair (inline, UDP)',
  rows: qpCounts.map((count) => ({
    id: `qps.${count}`,
    what: `of ${count.toLocaleString('en')}`,
    unit: 'µs',
    measure: () => writeInTurn({ host: 'inline', link: 'udp' }, count, effort),
  })),
});

export const queuePairs: SectionMaker = ({ times, qpCostCounts }) => ({
  title: 'A queue pair with 128 send and 128 receive requests',
  rows: qpCostCounts.flatMap((count): Row[] => {
    const cost = once(() => queuePairCost(count, times));
    const of = count.toLocaleString('en');
    return [
      {
        id: `qp.time.${count}`,
        what: `time to create, of ${of}`,
        unit: 'µs',
        measure: async () => (await cost()).time,
      },
      { id: `qp.memory.${count}`, what: `memory, of ${of}`, unit: 'KiB', measure: async () => (await cost()).memory },
    ];
  }),
});
