import { once } from '../measure/measurement.js';
import { crowd as measureCrowd } from '../measure/rdma.js';
import { bytesName, type Row, type SectionMaker, WAYS } from './section.js';

const QUEUE_PAIRS = 32;
const BYTES = 1 << 20;
/** What is under way at a time would take a good part of a stretch. */
const LONGER = 5;

/** What many queue pairs between two devices reach together, and how it is shared. */
export const crowd: SectionMaker = ({ effort: { stretches, stretchMs, warmUpMs } }) => ({
  title: `${QUEUE_PAIRS} queue pairs between two devices, each with four RDMA WRITEs of ${bytesName(BYTES)} under way`,
  rows: WAYS.flatMap((way): Row[] => {
    const effort = { stretches, stretchMs: LONGER * stretchMs, warmUpMs };
    const run = once(() => measureCrowd(way, QUEUE_PAIRS, BYTES, effort));
    const id = `crowd.${QUEUE_PAIRS}.${way.id}`;
    return [
      { id, what: `together, ${way.name}`, unit: 'GB/s', measure: async () => (await run()).goodput },
      {
        id: `${id}.least`,
        what: `the least of them, ${way.name}`,
        unit: 'of a fair share',
        measure: async () => (await run()).leastShare,
      },
    ];
  }),
});
