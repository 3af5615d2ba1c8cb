import { WcStatus } from '../../src/device/ibta/index.js';
import { runLiesSeed } from '../fuzz/rsocket/run.js';
import { runWalkSeed } from '../walk/run.js';
import { planWalk } from '../walk/steps.js';
import { describePlan, planCm } from '../../src/api/rdmacm/test/sim/plan.js';
import { runCmSeed } from '../../src/api/rdmacm/test/sim/run.js';
import { describeDeviceMemory, planDeviceMemory } from './device-memory/plan.js';
import { runDeviceMemorySeed } from './device-memory/run.js';
import { type Figures, type Game, readable } from './game.js';
import { describeKv, planKv } from '../../src/protocols/kv/test/sim/plan.js';
import { runKvSeed } from '../../src/protocols/kv/test/sim/run.js';
import { describeMessages, planMessages } from '../../src/protocols/messages/test/sim/plan.js';
import { runMessagesSeed } from '../../src/protocols/messages/test/sim/run.js';
import { describeRsocket, planRsocket } from '../../src/protocols/rsocket/test/sim/plan.js';
import { runRsocketSeed } from '../../src/protocols/rsocket/test/sim/run.js';
import { runSeed } from './run.js';
import { describeRxe, planRxe, runRxeSeed } from './rxe-run.js';
import { describeStandIn, planStandIn, runStandInSeed } from './stand-in-run.js';
import { describeScenario, planScenario } from './scenario.js';
import { transports } from './transport.js';
import { describeUcp, planUcp } from '../../src/protocols/ucp/test/sim/plan.js';
import { runUcpSeed } from '../../src/protocols/ucp/test/sim/run.js';
import { describeXio, planXio } from '../../src/protocols/xio/test/sim/plan.js';
import { runXioSeed } from '../../src/protocols/xio/test/sim/run.js';

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

/** Two NICs whose programs stand still at times. */
const standInGame: Game = {
  replay: 'npm run sim -- --stand-in',
  play: runStandInSeed,
  describe: (seed) => describeStandIn(planStandIn(seed)),
  summarise: ({ counts, network }) =>
    `requests ${readable(counts, 'requests')}, packets ${readable(counts, 'packets')}, sent again ` +
    `${readable(counts, 'retransmitted')}, stalls ${readable(counts, 'stalls')}, RNR NAKs of stand-ins ` +
    `${readable(counts, 'rnr naks of stand-ins')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, reordered ${readable(network, 'reordered')}`,
};

/** Programs on the engine: connections that send messages, use each other's memory, and take back what they asked for. */
const messagesGame: Game = {
  replay: 'npm run sim -- --messages',
  play: runMessagesSeed,
  describe: (seed) => describeMessages(planMessages(seed)),
  summarise: ({ counts, network }) =>
    `connections ${readable(counts, 'established')} of ${readable(counts, 'connections')}, messages received ` +
    `${readable(counts, 'messages')}, taken back ${readable(counts, 'taken back')}, failed ${readable(counts, 'failed')}, ` +
    `accesses ${readable(counts, 'accesses')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
    `reordered ${readable(network, 'reordered')}, damaged ${readable(network, 'corrupted')}, ` +
    `cut off ${readable(network, 'partitioned', 'unroutable')}`,
};

/** Programs that use a key-value store. */
const kvGame: Game = {
  replay: 'npm run sim -- --kv',
  play: runKvSeed,
  describe: (seed) => describeKv(planKv(seed)),
  summarise: ({ counts, network }) =>
    `clients ${readable(counts, 'clients')}, calls ${readable(counts, 'calls')}, sessions that went on ` +
    `${readable(counts, 'resumptions')}, requests repeated ${readable(counts, 'repeats')}, ` +
    `lives of servers ${readable(counts, 'servers')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
    `reordered ${readable(network, 'reordered')}, damaged ${readable(network, 'corrupted')}, ` +
    `cut off ${readable(network, 'partitioned', 'unroutable')}`,
};

/** Workers of UCP, whose programs use all families of its calls, with each other and with themselves. */
const ucpGame: Game = {
  replay: 'npm run sim -- --ucp',
  play: runUcpSeed,
  describe: (seed) => describeUcp(planUcp(seed)),
  summarise: ({ counts, network }) =>
    `runs by rc ${readable(counts, 'runs by rc')}, by ud ${readable(counts, 'runs by ud')}, workers ${readable(counts, 'workers')}, ` +
    `requests given up ${readable(counts, 'canceled')}, failed ${readable(counts, 'failed')}\n` +
    `tags: messages sent ${readable(counts, 'sent')}, received ${readable(counts, 'received')}, too long ${readable(counts, 'truncated')}\n` +
    `memory: puts ${readable(counts, 'puts')}, gets ${readable(counts, 'gets')}, atomics ${readable(counts, 'atomics')}, ` +
    `flushes ${readable(counts, 'flushes')}, fences ${readable(counts, 'fences')}\n` +
    `by address: asked ${readable(counts, 'asked by address')}, met ${readable(counts, 'met by address')}\n` +
    `active messages: sent ${readable(counts, 'ams sent')}, handled ${readable(counts, 'ams handled')}, fetched ` +
    `${readable(counts, 'ams fetched')}, too long ${readable(counts, 'ams too long')}, replies ${readable(counts, 'ams replied')}\n` +
    `streams: sends ${readable(counts, 'stream sends')}, bytes received ${readable(counts, 'stream bytes')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
    `reordered ${readable(network, 'reordered')}, damaged ${readable(network, 'corrupted')}, ` +
    `cut off ${readable(network, 'partitioned', 'unroutable')}`,
};

/** Streams of rsockets between hosts, and owners of all kinds. */
const rsocketGame: Game = {
  replay: 'npm run sim -- --rsocket',
  play: runRsocketSeed,
  describe: (seed) => describeRsocket(planRsocket(seed)),
  summarise: ({ counts, network }) =>
    `streams ${readable(counts, 'connected')} of ${readable(counts, 'streams')}, bytes written ${readable(counts, 'written')}, read ` +
    `${readable(counts, 'read')}, ends that failed ${readable(counts, 'ends that failed')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, ` +
    `reordered ${readable(network, 'reordered')}, damaged ${readable(network, 'corrupted')}, ` +
    `cut off ${readable(network, 'partitioned', 'unroutable')}`,
};

/** A stream to a peer made of raw verbs, which keeps to the protocol only now and then. */
const rsocketLiesGame: Game = {
  replay: 'npm run sim -- --rsocket-lies',
  play: runLiesSeed,
  describe: (seed) => `seed ${seed}`,
  summarise: ({ counts }) =>
    `streams to liars ${readable(counts, 'ends')}, ended by a lie ${readable(counts, 'ends by a lie')}`,
};

/** Sessions of xio: its machines, on links that are cut, with servers that go and come. */
const xioGame: Game = {
  replay: 'npm run sim -- --xio',
  play: runXioSeed,
  describe: (seed) => describeXio(planXio(seed)),
  summarise: ({ counts }) =>
    `clients ${readable(counts, 'clients')}, their connections ${readable(counts, 'connections')}, calls answered ${readable(counts, 'answered')}, given up ` +
    `${readable(counts, 'given up')}, failed ${readable(counts, 'failed')}\n` +
    `links cut ${readable(counts, 'cuts')}, sessions that went on ${readable(counts, 'reconnects')}, of which anew ` +
    `${readable(counts, 'restarts')}, sent again ${readable(counts, 'replayed')}\n` +
    `sent on ${readable(counts, 'moves')}, rejected ${readable(counts, 'rejections')}, reads and writes of shared memory ` +
    readable(counts, 'accesses'),
};

/** Programs whose memory is that of devices, which are late and fail. */
const deviceMemoryGame: Game = {
  replay: 'npm run sim -- --device-memory',
  play: runDeviceMemorySeed,
  describe: (seed) => describeDeviceMemory(planDeviceMemory(seed)),
  summarise: ({ counts, network }) =>
    `queue pairs ${readable(counts, 'lives')}, requests ${readable(counts, 'requests')}; ended by a device in LOC_PROT_ERR ` +
    `${readable(counts, 'LOC_PROT_ERR')}, in REM_OP_ERR ${readable(counts, 'REM_OP_ERR')}\n` +
    `misfortunes of devices: ${Object.keys(counts)
      .filter((name) => name.startsWith('misfortunes at '))
      .map((name) => `${name.slice('misfortunes at '.length)} ${readable(counts, name)}`)
      .join(', ')}\n` +
    `regions and queue pairs that ended with copies under way ${readable(counts, 'interventions over copies')}, others ` +
    `${readable(counts, 'other interventions')}\n` +
    `lost ${readable(network, 'lost')}, doubled ${readable(network, 'duplicated')}, reordered ${readable(network, 'reordered')}`,
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

export type GameName =
  | 'traffic'
  | 'device-memory'
  | 'cm'
  | 'walk'
  | 'rxe'
  | 'stand-in'
  | 'messages'
  | 'kv'
  | 'ucp'
  | 'rsocket'
  | 'rsocket-lies'
  | 'xio';

/** The game of a name; `only` are the steps of walks to take. */
export function gameOf(name: GameName, only?: readonly number[]): Game {
  if (name === 'walk') return walkGame(only);
  return {
    traffic: trafficGame,
    'device-memory': deviceMemoryGame,
    cm: cmGame,
    rxe: rxeGame,
    'stand-in': standInGame,
    messages: messagesGame,
    kv: kvGame,
    ucp: ucpGame,
    rsocket: rsocketGame,
    'rsocket-lies': rsocketLiesGame,
    xio: xioGame,
  }[name];
}
