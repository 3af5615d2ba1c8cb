import { bareStream } from '../measure/bare-udp.js';
import { fabricPingPongBandwidth, PINGPONG } from '../measure/libfabric.js';
import { netBandwidth } from '../measure/net.js';
import { QPERF, qperfBandwidth } from '../measure/qperf.js';
import { bandwidth } from '../measure/rdma.js';
import { type Rounds, UCX, ucxBandwidth } from '../measure/ucx.js';
import { bytesName, type Extent, type Row, type Section, WAYS } from './section.js';

/** Bytes in a second that are about right, for the number of rounds. */
const OVER_TCP = 1.5e9;
const OVER_MEMORY = 8e9;
/** Of the ping-pongs, where one message is under way. */
const PING_PONG = 1e9;
const QPERF_SECONDS = 1;

type RowMaker = (id: string, what: string, measure: Row['measure'], needs?: Row['needs']) => Row;

const rowsFor =
  (kind: string, bytes: number): RowMaker =>
  (id, what, measure, needs) => ({
    id: `${kind}.${bytes}.${id}`,
    what,
    unit: 'GB/s',
    measure,
    ...(needs && { needs }),
  });

const UCX_MEMORY = [
  ['posix', 'shared memory (posix)'],
  ['sysv', 'shared memory (sysv)'],
] as const;

const FABRICS = [
  ['tcp', 'TCP'],
  ['shm', 'shared memory'],
] as const;

/** What a stream of UDP datagrams reaches, which is the limit of all that goes over UDP. */
export const stream = ({ effort }: Extent): Section => ({
  title: 'The limit: a stream of UDP datagrams, cut and joined by the kernel',
  rows: [
    {
      id: 'stream.bare-udp',
      what: 'bare UDP through koffi, received',
      unit: 'GB/s',
      measure: () => bareStream(effort),
    },
  ],
});

/** How many bytes a second WRITEs of `bytes` move, and others' puts. */
export const write = (bytes: number, { effort, times, rounds }: Extent): Section => {
  const row = rowsFor('write', bytes);
  const tcp: Rounds = rounds(OVER_TCP / bytes);
  const memory: Rounds = rounds(OVER_MEMORY / bytes);
  const pingPong: Rounds = rounds(PING_PONG / bytes);
  return {
    title: `Bandwidth of ${bytesName(bytes)}, one way`,
    rows: [
      ...WAYS.map((way) => row(way.id, `RDMA WRITE, ${way.name}`, () => bandwidth(way, 'write', bytes, effort))),
      row('net', 'node:net', () => netBandwidth(bytes, effort)),
      row('ucx.tcp', 'UCX put, TCP', () => ucxBandwidth('tcp', 'ucp_put_bw', bytes, tcp, times), UCX),
      ...UCX_MEMORY.map(([transport, name]) =>
        row(
          `ucx.${transport}`,
          `UCX put, ${name}`,
          () => ucxBandwidth(transport, 'ucp_put_bw', bytes, memory, times),
          UCX,
        ),
      ),
      ...FABRICS.map(([provider, name]) =>
        row(
          `libfabric.${provider}`,
          `libfabric, ${name} (ping-pong)`,
          () => fabricPingPongBandwidth(provider, bytes, pingPong.count, times),
          PINGPONG,
        ),
      ),
      row('qperf.tcp', 'TCP sockets in C, qperf', () => qperfBandwidth(bytes, QPERF_SECONDS, 1), QPERF),
    ],
  };
};

/** The same of READs and gets. */
export const read = (bytes: number, { effort, times, rounds }: Extent): Section => {
  const row = rowsFor('read', bytes);
  const tcp = rounds(OVER_TCP / bytes);
  const memory = rounds(OVER_MEMORY / bytes);
  return {
    title: `Bandwidth of READs of ${bytesName(bytes)}`,
    rows: [
      ...WAYS.map((way) => row(way.id, `RDMA READ, ${way.name}`, () => bandwidth(way, 'read', bytes, effort))),
      row('ucx.tcp', 'UCX get, TCP', () => ucxBandwidth('tcp', 'ucp_get', bytes, tcp, times), UCX),
      ...UCX_MEMORY.map(([transport, name]) =>
        row(
          `ucx.${transport}`,
          `UCX get, ${name}`,
          () => ucxBandwidth(transport, 'ucp_get', bytes, memory, times),
          UCX,
        ),
      ),
    ],
  };
};
