/** An allreduce by processes on UCP, which is an example, and what OpenMPI makes of the same. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Measurement, repeat } from './measurement.js';
import type { LinkKind } from './rdma.js';
import { isInstalled, outputOf, type Tool } from './tool.js';

const ADVICE = 'apt-get install libopenmpi-dev openmpi-bin';
export const MPI: Tool = { program: 'mpicc', advice: ADVICE };

/** Why programs of MPI cannot be compiled, though there is mpicc: it comes without the headers. undefined where they can. */
export const mpiProblem: string | undefined =
  isInstalled(MPI) && !hasHeaders() ? `there is no mpi.h; ${ADVICE}` : undefined;

function hasHeaders(): boolean {
  const { stdout } = spawnSync(MPI.program, ['--showme:incdirs'], { encoding: 'utf8' });
  return stdout
    .trim()
    .split(' ')
    .some((folder) => folder !== '' && existsSync(join(folder, 'mpi.h')));
}

export interface Reduction {
  readonly ranks: number;
  readonly bytes: number;
  readonly rounds: number;
}

const EXAMPLE = fileURLToPath(new URL('../../examples/allreduce.js', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../../bench/peers/mpi-allreduce.c', import.meta.url));

/** What each process sends of its array, in 10^9 bytes a second. */
function busRate({ ranks, bytes }: Reduction, us: number): number {
  return (2 * bytes * (ranks - 1)) / ranks / us / 1000;
}

/** What comes of it: how long one takes, in µs, or bus bandwidth, in 10^9 bytes a second. */
export type ReductionUnit = 'µs' | 'GB/s';

function figureOf(reduction: Reduction, unit: ReductionUnit, us: number): number {
  return unit === 'µs' ? us : busRate(reduction, us);
}

/** Until V8 has compiled what is measured, as far as the bytes of an array allow. */
const WARM_UP_ROUNDS = 1000;

export async function ownAllreduce(
  reduction: Reduction,
  unit: ReductionUnit,
  link: LinkKind,
  times: number,
): Promise<Measurement> {
  const { ranks, bytes, rounds } = reduction;
  const size = ['--ranks', `${ranks}`, '--sizes', `${bytes}`, '--rounds', `${rounds}`];
  const words = [...size, '--warm-up', `${WARM_UP_ROUNDS}`, '--cells', '8', '--steps', '1'];
  const samples = await repeat(times, async () => {
    const output = await outputOf(process.execPath, [EXAMPLE, ...words, '--json'], {
      ...process.env,
      VERBENA_LINK: link,
    });
    // It is a program of ours that says so.
    const { allreduce } = JSON.parse(output) as { readonly allreduce: readonly { readonly us: number }[] };
    return figureOf(reduction, unit, allreduce[0].us);
  });
  return { samples };
}

/** What OpenMPI makes of it over TCP, by whatever algorithm it chooses. */
export async function mpiAllreduce(reduction: Reduction, unit: ReductionUnit, times: number): Promise<Measurement> {
  const { ranks, bytes, rounds } = reduction;
  const folder = mkdtempSync(join(tmpdir(), 'verbena-mpi-'));
  try {
    const program = join(folder, 'allreduce');
    await outputOf(MPI.program, ['-O2', '-o', program, SOURCE]);
    // Also where root runs the bench, and with fewer processors than processes.
    const how = ['--allow-run-as-root', '--oversubscribe', '-np', `${ranks}`];
    const tcp = ['pml', 'ob1', 'btl', 'tcp,self', 'btl_tcp_if_include', 'lo'];
    const over = tcp.flatMap((word, i) => (i % 2 === 0 ? ['--mca', word] : [word]));
    const samples = await repeat(times, async () =>
      figureOf(reduction, unit, Number(await outputOf('mpirun', [...how, ...over, program, `${bytes}`, `${rounds}`]))),
    );
    return { samples };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
