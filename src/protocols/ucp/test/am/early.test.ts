import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Callbacks } from '../../../../api/runtime/index.js';
import { simulate } from '../../../../entry/sim.js';
import { type AmHandler, Ams } from '../../am/ams.js';
import { Engine } from '../../../core/index.js';
import { AmHandlers, MemoryDomain, SelfEndpoint } from '../../uct/index.js';
import { AmId, Messages } from '../../wire/index.js';
import { EndpointParts } from '../../worker/endpoint-parts.js';
import { newCounters } from '../../worker/statistics.js';
import { Rendezvous } from '../../worker/rendezvous.js';
import { quiet } from '../support/log.js';
import { pattern } from '../support/transports.js';
import { Wakeup } from '../../worker/wakeup.js';

const HEADER = Uint8Array.of(1);
const THRESHOLDS = { bcopy: Infinity, zcopy: Infinity, rndv: Infinity, rndvScheme: 'auto' } as const;

/** Messages that come before the transport of their endpoint is there, and what becomes of them when it is. */
async function early(count: number, handler: (parts: EndpointParts) => AmHandler<EndpointParts>): Promise<number> {
  return simulate(async (sim) => {
    const { context } = sim.host('alone');
    const engine = new Engine(context, { name: 'a test' });
    const domain = new MemoryDomain(engine);
    const handlers = new AmHandlers();
    const worker = {
      engine,
      domain,
      nextNumber: () => 1,
      keepAliveMs: Infinity,
      wakeup: new Wakeup(engine, undefined),
      counters: newCounters(),
      log: quiet(),
    };
    const parts = new EndpointParts(worker, handlers, () => undefined);
    const ams = new Ams<EndpointParts>(engine, 100_000, THRESHOLDS);
    ams.attach(parts, parts.add(new Rendezvous(parts, 'auto')), () => parts);
    ams.set(1, handler(parts));
    const head = { amId: 1, flags: 0, headerBytes: HEADER.length };
    const bytes = new Uint8Array(100);
    const length = Messages.AM_SINGLE.encode(bytes, { head, userHeader: HEADER, payload: pattern(9), foot: {} });
    for (let i = 0; i < count; i += 1) handlers.deliver(AmId.AM_SINGLE, bytes.subarray(0, length));
    // They lay in a buffer of the transport's.
    bytes.fill(0);
    assert.ok(ams.kept.used >= count * 10);
    parts.begin(new SelfEndpoint(domain, handlers));
    await new Promise<void>((resolve) => new Callbacks().call(resolve));
    parts.close();
    engine.close();
    return ams.kept.used;
  });
}

describe('active messages that come before their endpoint is there', () => {
  it('are handled when it is, with what they came with', async () => {
    const got: number[][] = [];
    const left = await early(
      2,
      () =>
        ({ header, data }) =>
          got.push([...header, ...data]),
    );
    assert.deepEqual(got, [
      [1, ...pattern(9)],
      [1, ...pattern(9)],
    ]);
    assert.equal(left, 0);
  });

  it('are dropped behind one whose handler closes it', async () => {
    let handled = 0;
    const left = await early(3, (parts) => () => {
      handled += 1;
      parts.close();
    });
    assert.deepEqual([handled, left], [1, 0]);
  });
});
