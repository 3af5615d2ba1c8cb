import { incast as measureIncast } from '../measure/incast.js';
import { once } from '../measure/measurement.js';
import { bytesName, type Row, type SectionMaker } from './section.js';

const BYTES = 64 * 1024;
/**
 * Five processes share what processors there are: each takes several times as long until its code is quick, and what one gets
 * within a time slice or two says nothing of its share.
 */
const LONGER = 5;

/** What many senders to one receiver reach, and how it is shared. */
export const incast: SectionMaker = ({ effort: { stretches, stretchMs, warmUpMs }, senders }) => ({
  title: `Many senders, one receiver: RDMA WRITEs of ${bytesName(BYTES)} (inline, UDP)`,
  rows: senders.flatMap((count): Row[] => {
    const effort = { stretches, stretchMs: LONGER * stretchMs, warmUpMs: LONGER * warmUpMs };
    const run = once(() => measureIncast(count, BYTES, effort));
    const who = count === 1 ? '1 sender' : `${count} senders`;
    const goodput: Row = {
      id: `incast.${count}`,
      what: `${who}, together`,
      unit: 'GB/s',
      measure: async () => (await run()).goodput,
    };
    if (count === 1) return [goodput];
    const unit = 'of a fair share';
    return [
      goodput,
      { id: `incast.${count}.least`, what: `${who}, the least`, unit, measure: async () => (await run()).leastShare },
      { id: `incast.${count}.most`, what: `${who}, the most`, unit, measure: async () => (await run()).largestShare },
    ];
  }),
});
