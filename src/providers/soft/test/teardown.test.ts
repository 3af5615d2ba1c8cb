import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SimulatedCluster } from '../../../entry/sim.js';
import { holdingsOf } from '../../../../test/support/holdings.js';
import { type Life, LIVES, PRIVILEGED_LIVES, type Room } from './support/lives.js';

const TIMES = 2;

describe('once it is ended, a device keeps nothing of', () => {
  for (const [name, live] of Object.entries<Life>({ ...LIVES, ...PRIVILEGED_LIVES }))
    test(name, () => {
      const cluster = new SimulatedCluster({ seed: 1 });
      const [context, other] = [cluster.open('10.0.0.1'), cluster.open('10.0.0.2')];
      const fresh = holdingsOf(context);
      const room: Room = { context, other, pd: context.allocPd(), cq: context.createCq({ cqe: 16 }) };
      const before = holdingsOf(context);
      for (let i = 0; i < TIMES; i += 1) {
        live(room, () => assert.notDeepEqual(holdingsOf(context), before, 'it shows while it is there'));
        assert.deepEqual(holdingsOf(context), before);
      }
      room.cq.destroy();
      room.pd.dealloc();
      assert.deepEqual(holdingsOf(context), fresh);
    });
});
