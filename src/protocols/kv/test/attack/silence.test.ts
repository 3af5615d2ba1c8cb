import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import type { TransportName } from '../../index.js';
import { served } from '../support/served.js';

const LEAST_SILENCE_MS = 15_000;
const TRANSPORTS: readonly TransportName[] = ['rc', 'uc', 'ud'];

describe('a client that asks nothing', () => {
  for (const transport of TRANSPORTS)
    it(`by ${transport} is not forgotten by the least patient server, whenever it asked last`, () =>
      simulate(async (sim) => {
        const { client: connected, server } = served(sim, { maxSilenceMs: LEAST_SILENCE_MS }, { transport });
        using early = await connected('early');
        await sim.sleep(3e6);
        await early.set('a', '1');
        using late = await connected('late');
        await sim.sleep(9e6);
        await late.get('a');
        await sim.sleep(120e6);
        assert.deepEqual([early.failure, late.failure, server.statistics.clients], [undefined, undefined, 2]);
      }));
});
