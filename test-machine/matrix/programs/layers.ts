import { LOCALHOST, type Meeting, type Places } from '../meeting.js';

/** What programs stand on that do not call verbs themselves. */

const UCP_TESTS = [
  ...['tag_lat', 'tag_bw', 'tag_sync_lat', 'tag_sync_bw', 'stream_lat', 'stream_bw', 'ucp_am_lat', 'ucp_am_bw'],
  ...['ucp_put_lat', 'ucp_put_bw', 'ucp_get', 'ucp_add', 'ucp_fadd', 'ucp_swap', 'ucp_cswap'],
];
/** Lengths beyond the shortest: in parts, and announced. */
const LONGER = [20_000, 1_048_576];
const LONGER_TESTS = ['tag_bw', 'ucp_am_bw'];
const UCX_TRANSPORTS = ['rc_v', 'ud_v'] as const;
/** By a transport alone. UCX's own refuse all else: ud has active messages, and adapters of RoCE have no swap. */
const UCT_TESTS = {
  rc_verbs: ['am_lat', 'am_bw', 'put_lat', 'put_bw', 'get', 'add_lat', 'add_mr', 'fadd', 'cswap'],
  ud_verbs: ['am_lat', 'am_bw'],
} as const;
/** Their gets are never short. */
const UCT_LAYOUT: Readonly<Record<string, string>> = { get: 'bcopy' };

function ucxEnvironment(transport: string): string[] {
  return [`UCX_TLS=${transport},self`, 'UCX_NET_DEVICES=rxe0:1', 'UCX_WARN_UNUSED_ENV_VARS=n'];
}

function perftest(test: string, size: number, more: readonly string[]): Meeting {
  const args = ({ port }: Places): string[] => [
    ...['-t', test, '-n', '20', '-w', '2', '-s', String(size), '-p', String(port)],
    ...more,
  ];
  return {
    program: 'ucx_perftest',
    variant: [`-t ${test} -s ${size}`, ...more].join(' '),
    packages: ['ucx-utils'],
    server: args,
    client: (places) => [...args(places), LOCALHOST],
    ours: false,
    says: /Final:\s+20/,
  };
}

function ucp(transport: string, test: string, size: number): Meeting {
  const meeting = perftest(test, size, []);
  const variant = `${meeting.variant}, UCX_TLS=${transport},self`;
  return { ...meeting, variant, environment: ucxEnvironment(transport) };
}

function uct(transport: string, test: string): Meeting {
  return perftest(test, 8, ['-d', 'rxe0:1', '-x', transport, '-D', UCT_LAYOUT[test] ?? 'short']);
}

function fabric(provider: string, endpoint: string): Meeting {
  const args =
    (at: string) =>
    ({ port }: Places): string[] => ['-p', provider, '-e', endpoint, '-I', '5', '-c', at, String(port)];
  return {
    program: 'fi_pingpong',
    variant: `-p '${provider}' -e ${endpoint} -c`,
    packages: ['libfabric-bin'],
    server: args('-B'),
    client: (places) => [...args('-P')(places), places.server],
    ours: false,
    says: /usec\/xfer[\s\S]*\n\S+ +5 /,
    // That of RxM sometimes crashes in libfabric when its client, who has checked all data, has left.
    serverEnds: provider !== 'verbs;ofi_rxm',
    awayFromLoopback: true,
  };
}

/** An allreduce, an all-to-all, and a ring of 1 MiB messages, whose results each rank checks. */
const MPI_PROGRAM = `
from mpi4py import MPI
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
ok = world.allreduce(rank + 1) == size * (size + 1) // 2
ok &= world.alltoall([rank * 100 + i for i in range(size)]) == [i * 100 + rank for i in range(size)]
sent, got, before = bytes((i * 7 + rank) & 255 for i in range(1 << 20)), bytearray(1 << 20), (rank - 1) % size
world.Sendrecv(sent, (rank + 1) % size, 0, got, before, 0)
ok &= got == bytes((i * 7 + before) & 255 for i in range(1 << 20))
right = world.allreduce(int(ok))
if rank == 0: print(f'{right} of {size} ranks are right')
`;

function mpi(transport: string): Meeting {
  const ranks = '4';
  return {
    program: 'mpirun',
    variant: `-np ${ranks}, UCX_TLS=${transport},self`,
    packages: ['openmpi-bin', 'python3-mpi4py'],
    probe: `/usr/bin/python3 -c 'import mpi4py'`,
    environment: [...ucxEnvironment(transport), 'OMPI_ALLOW_RUN_AS_ROOT=1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1'],
    client: () => [
      ...['--oversubscribe', '-np', ranks, '--mca', 'pml', 'ucx', '--mca', 'btl', 'self'],
      ...['/usr/bin/python3', '-c', MPI_PROGRAM],
    ],
    ours: false,
    says: /4 of 4 ranks are right/,
  };
}

/** TCP programs on RDMA: rsockets in place of the C library's. */
const rsockets: Meeting = {
  program: 'iperf3',
  variant: '-n 2M, LD_PRELOAD=librspreload.so',
  packages: ['iperf3', 'librdmacm1'],
  probe: 'ls /usr/lib/*/rsocket/librspreload.so',
  environment: [
    `LD_PRELOAD=/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/rsocket/librspreload.so`,
  ],
  server: ({ server, port }) => ['-s', '-1', '-B', server, '-p', String(port)],
  client: ({ server, port }) => ['-c', server, '-p', String(port), '-n', '2M'],
  ours: false,
  says: /iperf Done/,
};

export const layers: readonly Meeting[] = [
  ...UCX_TRANSPORTS.flatMap((transport) => UCP_TESTS.map((test) => ucp(transport, test, 8))),
  ...UCX_TRANSPORTS.flatMap((transport) =>
    LONGER_TESTS.flatMap((test) => LONGER.map((size) => ucp(transport, test, size))),
  ),
  ...Object.entries(UCT_TESTS).flatMap(([transport, tests]) => tests.map((test) => uct(transport, test))),
  ...UCX_TRANSPORTS.map(mpi),
  fabric('verbs', 'msg'),
  fabric('verbs', 'dgram'),
  fabric('verbs;ofi_rxm', 'rdm'),
  rsockets,
];
