import { describePlan, planCm } from './cm/plan.js';
import { runCmSeed } from './cm/run.js';
import { type Game, readable } from './game.js';
import { runSeed } from './run.js';
import { describeScenario, planScenario } from './scenario.js';

/** Random RC traffic over connections that are there from the beginning. */
export const trafficGame: Game = {
  replay: 'npm run sim --',
  play: (seed, trace) => {
    const { virtualUs, network, requests, messages, packets, retransmitted } = runSeed(seed, trace && { trace });
    return { counts: { requests, messages, packets, retransmitted }, network, virtualUs };
  },
  describe: (seed) => describeScenario(planScenario(seed)),
  summarise: ({ counts, network }) =>
    `requests ${readable(counts, 'requests')}, messages received ${readable(counts, 'messages')}, ` +
    `packets ${readable(counts, 'packets')}, sent again ${readable(counts, 'retransmitted')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
    `reordered ${readable(network, 'reordered')}, damaged ${readable(network, 'corrupted')}, ` +
    `dropped by full queues ${readable(network, 'queueDropped', 'inboxDropped')}`,
};

/** Programs that connect and part by rdma_cm, on hosts that come and go. */
export const cmGame: Game = {
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
