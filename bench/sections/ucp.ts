import { MPI, mpiAllreduce, mpiProblem, ownAllreduce, type Reduction } from '../measure/allreduce.js';
import { sendLatency } from '../measure/rdma.js';
import { type OwnUcp, type Rounds, UCX, ucxBandwidth, ucxLatency, type UcxPlayer, ucxRate } from '../measure/ucx.js';
import { bytesName, type Extent, LINKS, type NamedWay, type Row, type Section, type Unit, WAYS } from './section.js';

const KIB = 1024;
const SHORT = 8;
const LONG = [64 * KIB, KIB * KIB] as const;
/** What is short, is told by how long it takes. */
const REDUCED = [
  { bytes: SHORT, unit: 'µs' },
  { bytes: 8 * KIB, unit: 'GB/s' },
  { bytes: 64 * KIB, unit: 'GB/s' },
  { bytes: KIB * KIB, unit: 'GB/s' },
] as const;
const RANKS = 8;
/** What V8 needs until it has compiled what is measured. */
const WARM_UP = 100_000;
const WARM_UP_BYTES = 1 << 28;

/** In a second, about; by UCX's tools over TCP and over memory, and by ours. */
const EXPECTED = {
  messages: { tcp: 100_000, posix: 1_000_000, own: 20_000 },
  rate: { tcp: 500_000, posix: 2_000_000, own: 200_000 },
  bytes: { tcp: 1.5e9, posix: 4e9, own: 2e9 },
} as const;

interface Player {
  readonly id: string;
  readonly name: string;
  readonly player: UcxPlayer;
  readonly kind: 'tcp' | 'posix' | 'own';
}

function ownPlayer({ id, name, host, link }: NamedWay, transport: OwnUcp['transport']): Player {
  const player: OwnUcp = { host, link, transport };
  return { id: `${transport}.${id}`, name: `ours, ${transport}, ${name}`, player, kind: 'own' };
}

const UCX_PLAYERS: readonly Player[] = [
  { id: 'ucx.tcp', name: 'UCX, TCP', player: 'tcp', kind: 'tcp' },
  { id: 'ucx.posix', name: 'UCX, shared memory (posix)', player: 'posix', kind: 'posix' },
];
const INLINE = WAYS.filter(({ host }) => host === 'inline');
const PLAYERS: readonly Player[] = [
  ...WAYS.map((way) => ownPlayer(way, 'rc')),
  ...INLINE.map((way) => ownPlayer(way, 'ud')),
  ...UCX_PLAYERS,
];
/** By ud, puts and gets are messages. */
const DEVICE_PLAYERS: readonly Player[] = [...WAYS.map((way) => ownPlayer(way, 'rc')), ...UCX_PLAYERS];

/** UCP, by its tools: both have the same tests and words. */
export const ucp = ({ effort, times, rounds }: Extent): Section => {
  const roundsFor = ({ kind }: Player, perSecond: Readonly<Record<Player['kind'], number>>, bytes = 1): Rounds => {
    const wanted = rounds(perSecond[kind] / bytes);
    const warmUp = Math.max(16, Math.min(WARM_UP, Math.ceil(WARM_UP_BYTES / bytes)));
    return kind === 'own' ? { ...wanted, warmUp } : wanted;
  };
  const row = (test: string, what: string, unit: Unit, one: Player, measure: Row['measure']): Row => ({
    id: `ucp.${test}.${one.id}`,
    what: `${what}, ${one.name}`,
    unit,
    measure,
    ...(one.kind !== 'own' && { needs: UCX }),
  });
  const reduction = (bytes: number): Reduction => ({
    ranks: RANKS,
    bytes,
    rounds: Math.max(8, Math.min(200, (2 * KIB * KIB) / bytes)),
  });
  return {
    title: 'UCP',
    rows: [
      ...INLINE.map((way) => ({
        id: `ucp.send.${SHORT}.${way.id}`,
        what: `SEND of ${bytesName(SHORT)}, ${way.name}`,
        unit: 'µs' as const,
        measure: () => sendLatency(way, SHORT, effort),
      })),
      ...(
        [
          ['tag', 'tag_lat'],
          ['am', 'ucp_am_lat'],
        ] as const
      ).flatMap(([name, test]) =>
        PLAYERS.map((one) =>
          row(
            `${name}.${SHORT}`,
            `${name === 'tag' ? 'tag' : 'active message'} of ${bytesName(SHORT)}`,
            'µs',
            one,
            () => ucxLatency(one.player, SHORT, roundsFor(one, EXPECTED.messages), times, test),
          ),
        ),
      ),
      ...(
        [
          ['put', 'ucp_put_bw'],
          ['get', 'ucp_get'],
        ] as const
      ).flatMap(([name, test]) =>
        LONG.flatMap((bytes) =>
          DEVICE_PLAYERS.map((one) =>
            row(`${name}.${bytes}`, `${name} of ${bytesName(bytes)}`, 'GB/s', one, () =>
              ucxBandwidth(one.player, test, bytes, roundsFor(one, EXPECTED.bytes, bytes), times),
            ),
          ),
        ),
      ),
      ...PLAYERS.map((one) =>
        row(`am-rate.${SHORT}`, `active messages of ${bytesName(SHORT)}`, '10^6/s', one, () =>
          ucxRate(one.player, SHORT, roundsFor(one, EXPECTED.rate), times, 'ucp_am_bw'),
        ),
      ),
      ...REDUCED.flatMap(({ bytes, unit }): Row[] => [
        ...LINKS.map((link) => ({
          id: `ucp.allreduce.${bytes}.${link}`,
          what: `allreduce of ${bytesName(bytes)} by ${RANKS} processes${unit === 'µs' ? '' : ' (bus)'}, ours, ${link === 'udp' ? 'UDP' : 'shared memory'}`,
          unit,
          measure: () => ownAllreduce(reduction(bytes), unit, link, times),
        })),
        {
          id: `ucp.allreduce.${bytes}.mpi`,
          what: `allreduce of ${bytesName(bytes)} by ${RANKS} processes${unit === 'µs' ? '' : ' (bus)'}, OpenMPI, TCP`,
          unit,
          measure: () => mpiAllreduce(reduction(bytes), unit, times),
          needs: MPI,
          ...(mpiProblem !== undefined && { problem: mpiProblem }),
        },
      ]),
    ],
  };
};
