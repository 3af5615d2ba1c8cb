import { once } from '../measure/measurement.js';
import { eagerAndRendezvous } from '../measure/rendezvous.js';
import { bytesName, type Row, type SectionMaker, WAYS } from './section.js';

const KIB = 1024;
const LENGTHS = [2, 4, 8, 16, 32, 64, 128].map((kib) => kib * KIB);

const PROTOCOLS = [
  ['eager', 'sent before it is asked for'],
  ['rendezvous', 'by rendezvous'],
] as const;

/** Without threads, so that the costs of both ends add up. */
const INLINE = WAYS.filter(({ host }) => host === 'inline');

/** From which length on a message of UCP had better wait until it is asked for. */
export const rendezvous: SectionMaker = ({ effort }) => ({
  title: 'Processor time of both ends for a message of UCP by its tag, one way',
  rows: INLINE.flatMap((way) =>
    LENGTHS.flatMap((bytes) => {
      const both = once(() => eagerAndRendezvous(way, bytes, effort));
      return PROTOCOLS.map(([id, name]): Row => ({
        id: `rendezvous.${bytes}.${id}.${way.link}`,
        what: `${bytesName(bytes)}, ${name}, ${way.name}`,
        unit: 'µs',
        measure: async () => (await both())[id],
      }));
    }),
  ),
});
