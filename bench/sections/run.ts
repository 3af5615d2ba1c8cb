import { repeat } from '../measure/measurement.js';
import {
  DEVICES,
  PERFTEST,
  perftest,
  type PerftestFigures,
  type Players,
  runProblem,
  startUp,
} from '../measure/run.js';
import { bytesName, type Extent, type Row, type Section, type Unit } from './section.js';

const KIB = 1024;
const PLAYERS: readonly (readonly [Players, string])[] = [
  ['one', 'C, one launcher'],
  ['two', 'C, two launchers'],
  ['ours', 'our own tools'],
];

interface Test {
  readonly id: string;
  readonly what: string;
  readonly unit: Unit;
  readonly program: string;
  readonly args: readonly string[];
  readonly figure: (figures: PerftestFigures) => number;
}

const latencyTest = (id: string, what: string, more: readonly string[]): Test => ({
  id,
  what,
  unit: 'µs',
  program: 'ib_send_lat',
  args: ['-s', '64', '-n', '3000', ...more],
  figure: ({ typicalUs }) => typicalUs,
});

const writeTest = (bytes: number, count: number): Test => ({
  id: `write.${bytes}`,
  what: `WRITE of ${bytesName(bytes)}`,
  unit: 'GB/s',
  program: 'ib_write_bw',
  args: ['-s', `${bytes}`, '-n', `${count}`],
  figure: ({ average }) => average,
});

/** What each pair of players plays. */
const TESTS: readonly Test[] = [
  latencyTest('latency.64', 'SEND of 64 B, polling', []),
  latencyTest('latency.64.events', 'SEND of 64 B, events', ['-e']),
  writeTest(64 * KIB, 10_000),
  writeTest(KIB * KIB, 1000),
  {
    id: 'rate.8',
    what: 'WRITEs of 8 B',
    unit: '10^6/s',
    program: 'ib_write_bw',
    args: ['-s', '8', '-n', '20000'],
    figure: ({ rate }) => rate,
  },
];

/** Programs written in C, by `verbena run`. */
export const run = ({ times }: Extent): Section => {
  const skipped = runProblem === undefined ? {} : { problem: runProblem };
  const row = (test: Test, players: Players, who: string): Row => ({
    id: `run.${test.id}.${players}`,
    what: `${test.what}, ${who}`,
    unit: test.unit,
    measure: async () => ({
      samples: await repeat(times, async () => test.figure(await perftest(players, test.program, test.args))),
    }),
    ...(players === 'ours' ? {} : { needs: PERFTEST, ...skipped }),
  });
  const start = (id: string, what: string, launched: boolean): Row => ({
    id: `run.${id}`,
    what,
    unit: 'ms',
    measure: async () => ({ samples: await repeat(2 * times + 1, () => startUp(launched)) }),
    needs: DEVICES,
    ...(launched ? skipped : {}),
  });
  return {
    // perftest issue 216; LNST pull request 311.
    title:
      'C programs by verbena run (published of Soft-RoCE: WRITE of 128 B in 2.4 µs; SENDs at 0.61 GB/s over 10 GbE)',
    rows: [
      ...TESTS.flatMap((test) => PLAYERS.map(([players, who]) => row(test, players, who))),
      start('start', 'ibv_devices by the launcher', true),
      start('start.alone', 'ibv_devices without', false),
    ],
  };
};
