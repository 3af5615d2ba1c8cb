import { bareLatency } from '../measure/bare-udp.js';
import { dgramLatency } from '../measure/dgram.js';
import { fabricLatency, PINGPONG } from '../measure/libfabric.js';
import { netLatency } from '../measure/net.js';
import { QPERF, qperfLatency } from '../measure/qperf.js';
import { sendLatency } from '../measure/rdma.js';
import { UCX, ucxLatency } from '../measure/ucx.js';
import { bytesName, type Extent, type Row, type Section, WAYS } from './section.js';

/** Round trips in a second that are about right. */
const OVER_TCP = 100_000;
const OVER_MEMORY = 1_000_000;
const QPERF_SECONDS = 1;

/** How long a message of `bytes` takes one way. */
export const latency = (bytes: number, { effort, times, rounds }: Extent): Section => {
  const row = (id: string, what: string, measure: Row['measure'], needs?: Row['needs']): Row => ({
    id: `latency.${bytes}.${id}`,
    what,
    unit: 'µs',
    measure,
    ...(needs && { needs }),
  });
  const tcp = rounds(OVER_TCP);
  const memory = rounds(OVER_MEMORY);
  return {
    title: `Latency of ${bytesName(bytes)}, one way`,
    rows: [
      row('bare-udp', 'bare UDP through koffi, spinning', () => bareLatency(bytes, effort)),
      ...WAYS.map((way) => row(way.id, `RC SEND, ${way.name}`, () => sendLatency(way, bytes, effort))),
      row('dgram', 'node:dgram', () => dgramLatency(bytes, effort)),
      row('net', 'node:net', () => netLatency(bytes, effort)),
      row('ucx.tcp', 'UCX tag, TCP', () => ucxLatency('tcp', bytes, tcp, times), UCX),
      row('ucx.posix', 'UCX tag, shared memory (posix)', () => ucxLatency('posix', bytes, memory, times), UCX),
      row('ucx.sysv', 'UCX tag, shared memory (sysv)', () => ucxLatency('sysv', bytes, memory, times), UCX),
      row('libfabric.tcp', 'libfabric, TCP (mean)', () => fabricLatency('tcp', bytes, tcp.count, times), PINGPONG),
      row(
        'libfabric.shm',
        'libfabric, shared memory (mean)',
        () => fabricLatency('shm', bytes, memory.count, times),
        PINGPONG,
      ),
      row('qperf.udp', 'UDP sockets in C, qperf (mean)', () => qperfLatency('udp_lat', bytes, QPERF_SECONDS, 1), QPERF),
      row('qperf.tcp', 'TCP sockets in C, qperf (mean)', () => qperfLatency('tcp_lat', bytes, QPERF_SECONDS, 1), QPERF),
    ],
  };
};
