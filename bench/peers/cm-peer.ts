/** One of the two processes of `measure/cm.ts`: `cm-peer server|client inline|thread ADDRESS`, then orders. */
import { CmTimeRun } from '../../src/cli/rdmacm/cmtime/run.js';
import { CmTimeServer } from '../../src/cli/rdmacm/cmtime/server.js';
import { openDevice } from '../../src/entry/index.js';

/** What a peer can be told to do. */
export type CmOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'measure'; readonly destination: string; readonly connections: number; readonly runs: number };

const PORT = 7471;
const US_PER_SECOND = 1e6;

const [role, host, address] = process.argv.slice(2);
const context = openDevice({ host: host === 'inline' ? 'inline' : 'thread', address });
const devices = { contexts: [context] };

/** Connections made and ended in a second, once for each run. */
async function measure(destination: string, connections: number, runs: number): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < runs; i += 1) {
    const run = new CmTimeRun({
      destination: { host: destination, port: PORT },
      source: { host: address },
      connections,
      retries: 2,
      timeoutMs: 2000,
      devices,
    });
    const { steps, failures } = await run.measure();
    run.close();
    if (failures.length > 0) throw new Error(`${failures.length} connections failed: ${failures[0]}`);
    const totalUs = steps.reduce((sum, step) => sum + step.totalUs, 0);
    samples.push((connections * US_PER_SECOND) / totalUs);
  }
  return samples;
}

if (role === 'server') {
  const server = new CmTimeServer({ address: { host: address, port: PORT }, devices, warn: console.error });
  void server.serve();
}

// `measure/cm.ts` sends nothing else.
process.on('message', (order: CmOrder) => {
  if (order.kind === 'hello') process.send?.({});
  else {
    const { destination, connections, runs } = order;
    void measure(destination, connections, runs).then((samples) => process.send?.({ samples }));
  }
});
