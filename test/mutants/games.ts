import assert from 'node:assert/strict';
import type { GameName } from './mutant.js';
import { FILES, KV_FILES, UCP_FILES, XIO_FILES, loadNamedTests, playNamedTest } from './named-tests.js';

/** What a process plays until something is wrong. */
export interface MutantGame {
  /** Seeds are whole numbers from 1 up to this. */
  readonly seeds: number;
  replay(seed: number): string;
  /** Loads the game, and with it the NIC: a mutant has to be in its place by then. @returns what throws when something is wrong */
  load(): Promise<(seed: number) => void | Promise<void>>;
}

const FUZZ_PACKETS = 20_000;
const FUZZ_COMMANDS = 6000;
const MOST_TESTS = 1000;

export const games: Readonly<Record<GameName, MutantGame>> = {
  traffic: {
    seeds: 2000,
    replay: (seed) => `npm run sim -- --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('traffic').play(seed, undefined);
      };
    },
  },
  'device-memory': {
    seeds: 400,
    replay: (seed) => `npm run sim -- --device-memory --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('device-memory').play(seed, undefined);
      };
    },
  },
  walk: {
    seeds: 60,
    replay: (seed) => `npm run sim -- --walk --seeds 1 --start ${seed}`,
    load: async () => {
      const { runWalkSeed } = await import('../walk/run.js');
      // A walk that is traced is not made shorter when it fails.
      return (seed) => void runWalkSeed(seed, { trace: () => undefined });
    },
  },
  cm: {
    seeds: 500,
    replay: (seed) => `npm run sim -- --cm --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('cm').play(seed, undefined);
      };
    },
  },
  rxe: {
    seeds: 500,
    replay: (seed) => `npm run sim -- --rxe --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('rxe').play(seed, undefined);
      };
    },
  },
  'stand-in': {
    seeds: 500,
    replay: (seed) => `npm run sim -- --stand-in --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('stand-in').play(seed, undefined);
      };
    },
  },
  messages: {
    seeds: 400,
    replay: (seed) => `npm run sim -- --messages --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('messages').play(seed, undefined);
      };
    },
  },
  'kv-sim': {
    seeds: 400,
    replay: (seed) => `npm run sim -- --kv --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('kv').play(seed, undefined);
      };
    },
  },
  rsocket: {
    seeds: 400,
    replay: (seed) => `npm run sim -- --rsocket --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('rsocket').play(seed, undefined);
      };
    },
  },
  // A seed is the number of a conversation.
  'cm-faults': {
    seeds: 40,
    replay: () => 'npm run sim -- --cm-faults 1',
    load: async () => {
      const { rows } = await import('../../src/api/rdmacm/test/sim/conversations.js');
      const { explore, SINGLE } = await import('../../src/api/rdmacm/test/sim/explore.js');
      return (seed) => {
        if (seed <= rows.length) explore(rows[seed - 1], SINGLE);
      };
    },
  },
  'cm-floods': {
    seeds: 3,
    replay: () => 'npm test -- cm/floods',
    load: async () => {
      const { playFlood, waves } = await import('../../src/device/cm/test/support/floods.js');
      return (seed) => playFlood(Object.values(waves), seed);
    },
  },
  fuzz: {
    seeds: 30,
    replay: (seed) => `npm run fuzz -- --seed ${seed} --packets ${FUZZ_PACKETS}`,
    load: async () => {
      const { Fuzz } = await import('../fuzz/fuzz.js');
      return (seed) => new Fuzz(seed).run(FUZZ_PACKETS);
    },
  },
  'fuzz-run': {
    seeds: 10,
    replay: (seed) => `npm run fuzz:run -- --seed ${seed} --commands ${FUZZ_COMMANDS}`,
    load: async () => {
      const { CommandFuzz } = await import('../../src/run/test/fuzz/fuzz.js');
      return (seed) => {
        const fuzz = new CommandFuzz(seed);
        fuzz.run(FUZZ_COMMANDS);
        fuzz.end();
      };
    },
  },
  tests: namedTests(FILES),
  kv: namedTests(KV_FILES),
  'ucp-sim': {
    seeds: 400,
    replay: (seed) => `npm run sim -- --ucp --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('ucp').play(seed, undefined);
      };
    },
  },
  ucp: namedTests(UCP_FILES),
  'xio-sim': {
    seeds: 10_000,
    replay: (seed) => `npm run sim -- --xio --seeds 1 --start ${seed}`,
    load: async () => {
      const { gameOf } = await import('../sim/games.js');
      return async (seed) => {
        await gameOf('xio').play(seed, undefined);
      };
    },
  },
  xio: namedTests(XIO_FILES),
};

function namedTests(files: readonly string[]): MutantGame {
  return {
    seeds: MOST_TESTS,
    replay: () => `npm test -- ${files.join(' ')}`,
    load: async () => {
      const tests = await loadNamedTests(files);
      assert.ok(tests.length <= MOST_TESTS, `there are ${tests.length} tests, of which ${MOST_TESTS} are played`);
      return async (seed) => {
        if (seed <= tests.length) await playNamedTest(tests[seed - 1]);
      };
    },
  };
}
