import { type Effort, once } from '../measure/measurement.js';
import type { Way } from '../measure/rdma.js';
import { requestFigures } from '../measure/requests.js';
import type { RequestWayName } from '../peers/requesters/index.js';
import { bytesName, type Row, type SectionMaker, WAYS } from './section.js';

const DEPTHS = [1, 64] as const;

/** A way for requests, and how its NICs are hosted, where it has any. */
interface Player {
  readonly id: string;
  readonly name: string;
  readonly way: RequestWayName;
  readonly nic: Way;
}

const NONE: Way = { host: 'inline', link: 'udp' };
const PLAYERS: readonly Player[] = [
  ...WAYS.map((nic): Player => ({ id: nic.id, name: `verbena/xio, ${nic.name}`, way: 'rdma', nic })),
  { id: 'tcp', name: 'verbena/xio, TCP', way: 'tcp', nic: NONE },
  { id: 'net', name: 'node:net, lengths before bodies', way: 'net', nic: NONE },
  { id: 'http2', name: 'node:http2', way: 'http2', nic: NONE },
  { id: 'grpc', name: 'gRPC (@grpc/grpc-js)', way: 'grpc', nic: NONE },
];

/** Answers to many long requests come in bursts, of which a stretch has to have several. */
const STRETCHES_LONGER = 4;

const longer = (effort: Effort): Effort => ({ ...effort, stretchMs: STRETCHES_LONGER * effort.stretchMs });

/** Requests with bodies, and answers with as many bytes. */
export const xio: SectionMaker = ({ effort, requestBytes }) => ({
  title: 'Requests and answers of verbena/xio and others: time until the answer, and how many a second',
  rows: requestBytes.flatMap((bytes) =>
    DEPTHS.flatMap((depth) =>
      PLAYERS.flatMap(({ id, name, way, nic }): Row[] => {
        const figures = once(() => requestFigures(way, nic, { bytes, depth }, longer(effort)));
        const what = `${bytesName(bytes)}, ${depth} at a time, ${name}`;
        return [
          {
            id: `xio.latency.${bytes}.${depth}.${id}`,
            what,
            unit: 'µs',
            measure: async () => (await figures()).latency,
          },
          { id: `xio.rate.${bytes}.${depth}.${id}`, what, unit: '1/s', measure: async () => (await figures()).rate },
        ];
      }),
    ),
  ),
});
