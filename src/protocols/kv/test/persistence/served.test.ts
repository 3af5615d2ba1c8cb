import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../../device/link/index.js';
import { simulate } from '../../../../entry/sim.js';
import { KvError } from '../../index.js';
import { type Persistence, persistIn, type SyncPolicy } from '../../persistence/index.js';
import { newStore, served, text } from '../support/served.js';
import { SimulatedDisk } from './disk.js';

const LONG = 20_000;
const SECOND_US = 1_000_000;

function persistOn(disk: SimulatedDisk, sync: SyncPolicy = 'always'): Persistence {
  const random = new SeededRandom(9);
  const settings = { sync, wallMs: () => 1e12, random: () => random.u32(), leastLogBytes: 1 << 20, repair: false };
  return persistIn(() => disk.openAgain(), disk.path, newStore(), settings);
}

const failsWith =
  (errno: string, outcome: string) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof KvError);
    assert.deepEqual({ errno: error.errno, outcome: error.outcome }, { errno, outcome });
    return true;
  };

describe('a server whose store is kept', () => {
  for (const transport of ['rc', 'uc', 'ud'] as const)
    it(`has what it had answered by ${transport} when the machine begins anew, short values and long ones`, () =>
      simulate(async (sim) => {
        const disk = new SimulatedDisk(new SeededRandom(1));
        const persistence = persistOn(disk);
        const { client, server } = served(sim, { persistence, store: persistence.store }, { transport });
        const one = await client();
        await Promise.all(['a', 'b', 'c'].map((key) => one.set(key, `${key} is here`)));
        await one.set('long', 'x'.repeat(LONG));
        await one.incr('count', 5n);
        await one.delete('b');
        one.close();
        server.close();
        disk.crash();
        const again = persistOn(disk);
        assert.equal(again.statistics.recoveredKeys, 4);
        assert.equal(again.statistics.lostBytes, 0);
      }));

  it('waits for the disk once for all changes that come together', () =>
    simulate(async (sim) => {
      const persistence = persistOn(new SimulatedDisk(new SeededRandom(1)));
      const { client } = served(sim, { persistence, store: persistence.store });
      using one = await client();
      await Promise.all(Array.from({ length: 12 }, (_, i) => one.set(`k${i}`, 'v')));
      const { records, syncs } = persistence.statistics;
      assert.equal(records, 12);
      assert.ok(syncs < 12, `${syncs} syncs`);
    }));

  it('refuses changes while the disk is full, reads on, and takes them again when there is room', () =>
    simulate(async (sim) => {
      const disk = new SimulatedDisk(new SeededRandom(1));
      const persistence = persistOn(disk);
      const { client, server } = served(sim, { persistence, store: persistence.store });
      using one = await client();
      using other = await client('other');
      await one.set('a', 'before');
      disk.faults.room = 100;
      await assert.rejects(one.set('a', 'after'), failsWith('ENOSPC', 'refused'));
      await assert.rejects(one.incr('count'), failsWith('ENOSPC', 'refused'));
      await assert.rejects(one.set('long', 'x'.repeat(LONG)), failsWith('ENOSPC', 'refused'));
      assert.equal(text(await other.get('a')), 'before');
      assert.equal(await other.has('count'), false);
      assert.equal(server.statistics.unlogged, 3);
      disk.faults.room = Infinity;
      await sim.sleep(2 * SECOND_US);
      await one.set('a', 'after');
      assert.equal(text(await other.get('a')), 'after');
    }));

  it('says EIO of a disk that fails, and goes on once a snapshot is there', () =>
    simulate(async (sim) => {
      const disk = new SimulatedDisk(new SeededRandom(1));
      const persistence = persistOn(disk);
      const { client } = served(sim, { persistence, store: persistence.store });
      using one = await client();
      await one.set('a', 'before');
      disk.faults.failingSyncs = 2;
      await assert.rejects(one.set('a', 'after'), failsWith('EIO', 'unknown'));
      assert.equal(text(await one.get('a')), 'before');
      await sim.sleep(4 * SECOND_US);
      await one.set('b', 'later');
      assert.equal(persistence.statistics.snapshots, 1);
      disk.crash();
      assert.equal(persistOn(disk).statistics.recoveredKeys, 2);
    }));

  it('has the disk keep what was changed as late as it was told', () =>
    simulate(async (sim) => {
      const disk = new SimulatedDisk(new SeededRandom(1));
      const persistence = persistOn(disk, { everyMs: 500 });
      const { client } = served(sim, { persistence, store: persistence.store });
      using one = await client();
      await one.set('a', 'v');
      assert.equal(persistence.statistics.syncs, 0);
      await sim.sleep(SECOND_US);
      await one.get('a');
      assert.equal(persistence.statistics.syncs, 1);
      await sim.sleep(5 * SECOND_US);
      assert.equal(persistence.statistics.syncs, 1);
    }));
});
