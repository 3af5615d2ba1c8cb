import { WcStatus } from '../../src/device/ibta/index.js';
import { runWalkSeed } from '../walk/run.js';
import { planWalk } from '../walk/steps.js';
import { describePlan, planCm } from './cm/plan.js';
import { runCmSeed } from './cm/run.js';
import { type Figures, type Game, readable } from './game.js';
import { runSeed } from './run.js';
import { describeRxe, planRxe, runRxeSeed } from './rxe-run.js';
import { describeScenario, planScenario } from './scenario.js';
import { transports } from './transport.js';

/** A line for each transport that there was. */
function transportLines(counts: Figures['counts']): string {
  const names = Object.keys(transports).filter((name) => `ends of ${name}` in counts);
  const parts = (name: string): string =>
    `${name}: ends ${readable(counts, `ends of ${name}`)}, requests ${readable(counts, `requests over ${name}`)}, ` +
    `messages ${readable(counts, `messages over ${name}`)} of ${readable(counts, `messages to ${name}`)}\n`;
  return names.map(parts).join('');
}

/** Random traffic over connections that are there from the beginning. */
const trafficGame: Game = {
  replay: 'npm run sim --',
  play: (seed, trace) => {
    const { virtualUs, network, byTransport, ...counts } = runSeed(seed, trace && { trace });
    return { counts: { ...counts, ...byTransport }, network, virtualUs };
  },
  describe: (seed) => describeScenario(planScenario(seed)),
  summarise: ({ counts, network }) =>
    `${transportLines(counts)}requests ${readable(counts, 'requests')}, messages received ${readable(counts, 'messages')}, ` +
    `packets ${readable(counts, 'packets')}, sent again ${readable(counts, 'retransmitted')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
    `reordered ${readable(network, 'reordered')}, damaged ${readable(network, 'corrupted')}, ` +
    `dropped by full queues ${readable(network, 'queueDropped', 'inboxDropped')}`,
};

/** Programs that connect and part by rdma_cm, on hosts that come and go. */
const cmGame: Game = {
  replay: 'npm run sim -- --cm',
  play: (seed, trace) => {
    const { virtualUs, network, ...counts } = runCmSeed(seed, trace && { trace });
    return { counts, network, virtualUs };
  },
  describe: (seed) => describePlan(planCm(seed)),
  summarise: ({ counts, network }) =>
    `clients ${readable(counts, 'clients')}, ends that came up ${readable(counts, 'established')}, ` +
    `events ${readable(counts, 'events')}, packets ${readable(counts, 'packets')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
    `reordered ${readable(network, 'reordered')}, cut off ${readable(network, 'partitioned', 'unroutable')}`,
};

/** One requester, and a responder that answers as Soft-RoCE does. */
const rxeGame: Game = {
  replay: 'npm run sim -- --rxe',
  play: runRxeSeed,
  describe: (seed) => describeRxe(planRxe(seed)),
  summarise: ({ counts, network }) =>
    `requests ${readable(counts, 'requests')}, packets ${readable(counts, 'packets')}, sent again ` +
    `${readable(counts, 'retransmitted')}, probes ${readable(counts, 'probes')}, duplicates that the responder dropped ` +
    `${readable(counts, 'duplicates dropped')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
    `reordered ${readable(network, 'reordered')}, damaged ${readable(network, 'corrupted')}, ` +
    `cut off ${readable(network, 'partitioned')}`,
};

/** How often each status of completions was read. */
function statusesIn(counts: Figures['counts']): string {
  const there = Object.keys(WcStatus).filter((name) => name in counts);
  return there.map((name) => `${name} ${readable(counts, name)}`).join(', ');
}

/** Random calls of the verbs, right and wrong, on hosts and links that fail; `only` are the steps to take. */
function walkGame(only: readonly number[] | undefined): Game {
  return {
    replay: 'npm run sim -- --walk',
    play: (seed, trace) => runWalkSeed(seed, { ...(trace && { trace }), ...(only && { only }) }),
    describe: (seed) => {
      const { steps } = planWalk(seed);
      return `seed ${seed}: ${steps.length} steps, ${steps.filter(({ kind }) => kind === 'host').length} hosts`;
    },
    summarise: ({ counts, network }) =>
      `steps ${readable(counts, 'steps')}, calls ${readable(counts, 'calls')}, refused ${readable(counts, 'refused')}, ` +
      `looks ${readable(counts, 'looks')}, changes of memory ${readable(counts, 'changes')}\n` +
      `requests ${readable(counts, 'requests')}, completions ${readable(counts, 'completions')}, in error ` +
      `${readable(counts, 'errors')}, messages ${readable(counts, 'messages')}, packets ${readable(counts, 'packets')}\n` +
      `statuses: ${statusesIn(counts)}\n` +
      `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
      `reordered ${readable(network, 'reordered')}, damaged ${readable(network, 'corrupted')}, ` +
      `cut off ${readable(network, 'partitioned', 'unroutable')}`,
  };
}

export type GameName = 'traffic' | 'cm' | 'walk' | 'rxe';

/** The game of a name; `only` are the steps of walks to take. */
export function gameOf(name: GameName, only?: readonly number[]): Game {
  if (name === 'walk') return walkGame(only);
  return { traffic: trafficGame, cm: cmGame, rxe: rxeGame }[name];
}
