/** The process of `measure/gpu.ts`, which has two NICs and memory of a GPU: `gpu-peer NETWORK`, then orders. */
import { type GpuBuffer, gpuDevices, openGpu } from '../../src/entry/gpu.js';
import { alloc } from '../../src/entry/index.js';
import { type Effort, measure } from '../measure/measurement.js';
import { Endpoint } from './endpoint.js';
import { openOwnCopies } from './gpu-api.js';

/** From where to where: into the device, out of it, or from one of its buffers to another. */
export type GpuWay = 'into' | 'within' | 'outOf';

export interface GpuOrder {
  readonly kind: 'copies';
  readonly way: GpuWay;
  readonly bytes: number;
  readonly effort: Effort;
}

/** WRITEs under way at a time. */
const OUTSTANDING = 2;

const [network] = process.argv.slice(2);

/** By RDMA WRITEs. @returns 10^9 bytes a second, for each stretch */
function byWrites({ way, bytes, effort }: GpuOrder): readonly number[] {
  using gpu = openGpu();
  const buffers: GpuBuffer[] = [];
  const onDevice = (lengthBytes: number): GpuBuffer => {
    const buffer = gpu.alloc(lengthBytes);
    buffer.fill(1);
    buffers.push(buffer);
    return buffer;
  };
  try {
    using from = new Endpoint('thread', `${network}.1`, 1, bytes, way === 'into' ? alloc : onDevice);
    using to = new Endpoint('thread', `${network}.2`, 1, bytes, way === 'outOf' ? alloc : onDevice);
    from.connect(to.info);
    to.connect(from.info);
    return from.bandwidth('write', bytes, OUTSTANDING, effort).samples;
  } finally {
    for (const buffer of buffers) buffer.free();
  }
}

/** By the device's own calls, one copy at a time. @returns as {@link byWrites} */
function byItself({ way, bytes, effort }: GpuOrder): readonly number[] {
  const [{ kind, index }] = gpuDevices();
  using copies = openOwnCopies(kind, index, bytes);
  const work = (): number => {
    copies.copy(way);
    return 1;
  };
  return measure(effort, work, (milliseconds, count) => (count * bytes) / milliseconds / 1e6);
}

// `measure/gpu.ts` sends nothing else.
process.on('message', (order: GpuOrder) => process.send?.({ rows: [byWrites(order), byItself(order)] }));
