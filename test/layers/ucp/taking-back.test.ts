import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../src/sim.js';
import { pattern, until } from './support/transports.js';
import { WAYS } from './support/workers.js';

describe('a message that nobody has asked for', () => {
  for (const [way, made] of Object.entries(WAYS))
    for (const rndvScheme of ['auto', 'put_zcopy', 'am'] as const)
      it(`is gone at the receiver when its sender takes it back, on ${way} by ${rndvScheme}`, () =>
        simulate(async (sim) => {
          const { server, there, close } = await made(sim, { thresholds: { rndvScheme } });
          const abort = new AbortController();
          const sending = there.tagSend(pattern(9000), 7, { signal: abort.signal });
          await until(sim, () => server.tagProbe(7) !== undefined);
          abort.abort(new Error('no more'));
          await assert.rejects(sending, /no more/);
          await sim.sleep(5000);
          assert.equal(server.tagProbe(7), undefined);
          assert.equal(server.unexpectedBytes, 0);
          close();
        }));
});
