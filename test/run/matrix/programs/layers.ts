import { LOCALHOST, type Meeting, type Places } from '../meeting.js';

/** What programs stand on that do not call verbs themselves. */

const UCX_TESTS = ['tag_lat', 'tag_bw', 'ucp_put_bw', 'ucp_get', 'ucp_am_lat', 'stream_bw'] as const;
const UCX_TRANSPORTS = ['rc_v', 'ud_v'] as const;

function ucxEnvironment(transport: string): string[] {
  return [`UCX_TLS=${transport},self`, 'UCX_NET_DEVICES=rxe0:1', 'UCX_WARN_UNUSED_ENV_VARS=n'];
}

function ucx(transport: string, test: string, size: number): Meeting {
  const args = ({ port }: Places): string[] => [
    '-t',
    test,
    '-n',
    '20',
    '-w',
    '2',
    '-s',
    String(size),
    '-p',
    String(port),
  ];
  return {
    program: 'ucx_perftest',
    variant: `-t ${test} -s ${size}, UCX_TLS=${transport},self`,
    packages: ['ucx-utils'],
    environment: ucxEnvironment(transport),
    server: args,
    client: (places) => [...args(places), LOCALHOST],
    ours: false,
    says: /Final:\s+20/,
  };
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
  ...UCX_TRANSPORTS.flatMap((transport) => UCX_TESTS.map((test) => ucx(transport, test, 8))),
  ...UCX_TRANSPORTS.map((transport) => ucx(transport, 'tag_bw', 1_048_576)),
  ...UCX_TRANSPORTS.map(mpi),
  fabric('verbs', 'msg'),
  fabric('verbs', 'dgram'),
  fabric('verbs;ofi_rxm', 'rdm'),
  rsockets,
];
