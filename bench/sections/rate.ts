import { writeRate } from '../measure/rdma.js';
import { UCX, ucxRate } from '../measure/ucx.js';
import { type SectionMaker, WAYS } from './section.js';

const BYTES = 8;
const LIST = 64;
/** In a second, about. */
const OVER_TCP = 1e6;
const OVER_MEMORY = 1e7;

/** How many small WRITEs pass in a second. */
export const rate: SectionMaker = ({ effort, times, rounds }) => ({
  title: `Rate of WRITEs of ${BYTES} bytes, ours in lists of ${LIST}`,
  rows: [
    ...WAYS.map((way) => ({
      id: `rate.${BYTES}.${way.id}`,
      what: `RDMA WRITE, ${way.name}`,
      unit: '10^6/s' as const,
      measure: () => writeRate(way, LIST, effort),
    })),
    ...(
      [
        ['tcp', 'TCP'],
        ['posix', 'shared memory (posix)'],
        ['sysv', 'shared memory (sysv)'],
      ] as const
    ).map(([transport, name]) => ({
      id: `rate.${BYTES}.ucx.${transport}`,
      what: `UCX put, ${name}`,
      unit: '10^6/s' as const,
      measure: () => ucxRate(transport, BYTES, rounds(transport === 'tcp' ? OVER_TCP : OVER_MEMORY), times),
      needs: UCX,
    })),
  ],
});
