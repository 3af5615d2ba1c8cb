/** A server of a crash run: serves a store that is kept on disk, until it is killed. */
import { writeSync } from 'node:fs';
import { createStore, serve } from '../../src/entry/kv.js';
import { persist } from '../../src/protocols/kv/persistence/index.js';
import { Partition } from '../../src/protocols/kv/store/index.js';
import type { ServerOrders, ServerReady } from './orders.js';

/** Little, so that there are snapshots all the time. */
const LEAST_LOG_BYTES = 1 << 17;

const { directory, host, port, sync } = JSON.parse(process.argv[2]) as ServerOrders; // our supervisor's
const store = createStore({ mode: 'store', memoryBytes: 32 << 20 });
if (!(store instanceof Partition)) throw new Error('a store is a partition');
const persistence = persist(store, directory, {
  sync,
  wallMs: () => Date.now(),
  random: () => crypto.getRandomValues(new Uint32Array(1))[0],
  leastLogBytes: LEAST_LOG_BYTES,
  repair: false,
});
serve({ store, persistence, host, port });
const { recoveredKeys, lostBytes } = persistence.statistics;
const ready: ServerReady = { recoveredKeys, lostBytes };
writeSync(1, `${JSON.stringify(ready)}\n`);
