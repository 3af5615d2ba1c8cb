/** What WRITEs reach whose memory is that of a GPU, and what its own calls do. */
import { gpuDevices, GpuKind, gpuProblem } from '../../src/entry/gpu.js';
import type { GpuOrder, GpuWay } from '../peers/gpu-peer.js';
import type { Effort, Measurement } from './measurement.js';
import { Peer } from './peer.js';

const NETWORK = `127.90.${process.pid % 256}`;

export type GpuCopies = Readonly<Record<'write' | 'api', Measurement>>;

let problem: string | undefined;

/** Why there is no GPU here, or undefined where there is one. */
export function whyNoGpu(): string | undefined {
  problem ??= gpuDevices().length > 0 ? '' : Object.values(GpuKind).map(gpuProblem).join('; ');
  return problem === '' ? undefined : problem;
}

/** 10^9 bytes a second of both, one after the other in the same process, on the first device that there is. */
export async function gpuCopies(way: GpuWay, bytes: number, effort: Effort): Promise<GpuCopies> {
  await using peer = new Peer('gpu-peer', [NETWORK]);
  const { rows: [write, api] = [[], []] } = await peer.order({ kind: 'copies', way, bytes, effort } satisfies GpuOrder);
  return { write: { samples: write }, api: { samples: api } };
}
