import { type GpuCopies, gpuCopies, whyNoGpu } from '../measure/gpu.js';
import { type Effort, once } from '../measure/measurement.js';
import type { GpuWay } from '../peers/gpu-peer.js';
import { bytesName, type Row, type SectionMaker } from './section.js';

const KIB = 1024;
const MIB = KIB * KIB;
const LENGTHS = [64 * KIB, MIB, 64 * MIB];
const LONG_BYTES = 8 * MIB;
/** NICs in threads come in bursts where there are few processors, and of the longest a stretch has to have some as well. */
const [STRETCHES_LONGER, LONG_STRETCHES_LONGER] = [4, 12];

const DIRECTIONS: readonly (readonly [GpuWay, string])[] = [
  ['into', 'host to device'],
  ['within', 'device to device'],
  ['outOf', 'device to host'],
];

const COPIERS: readonly (readonly [keyof GpuCopies, string])[] = [
  ['write', 'RDMA WRITE, thread'],
  ['api', "the device's own API"],
];

const effortFor = (bytes: number, effort: Effort): Effort => ({
  ...effort,
  stretchMs: effort.stretchMs * (bytes > LONG_BYTES ? LONG_STRETCHES_LONGER : STRETCHES_LONGER),
});

/** WRITEs between memory of a GPU, and of the program, beside what its own calls copy. */
export const gpu: SectionMaker = ({ effort }) => ({
  title: 'Memory of a GPU: WRITEs between two NICs of a process, and copies of the same bytes by its own API',
  rows: LENGTHS.flatMap((bytes) =>
    DIRECTIONS.flatMap(([way, direction]) => {
      const both = once(() => gpuCopies(way, bytes, effortFor(bytes, effort)));
      return COPIERS.map(([copier, name]): Row => ({
        id: `gpu.${bytes}.${way}.${copier}`,
        what: `${bytesName(bytes)} ${direction}, ${name}`,
        unit: 'GB/s',
        measure: async () => (await both())[copier],
        // Drivers are loaded by whoever wants to know.
        get problem() {
          return whyNoGpu();
        },
      }));
    }),
  ),
});
