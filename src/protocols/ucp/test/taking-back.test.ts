import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import type { WaitOptions } from '../../core/index.js';
import type { UcpEndpoint } from '../worker/endpoint.js';
import { pattern, until } from './support/transports.js';
import { ALL_WAYS, WAYS } from './support/workers.js';

describe('a message that nobody has asked for', () => {
  for (const [way, made] of Object.entries(WAYS))
    for (const rndvScheme of ['auto', 'put_zcopy', 'am'] as const)
      it(`is gone at the receiver when its sender takes it back, on ${way} by ${rndvScheme}`, () =>
        simulate(async (sim) => {
          const { server, there, close } = await made(sim, { thresholds: { rndv: 0, rndvScheme } });
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

describe('a message that is taken back before it could be announced', () => {
  const ways = {
    'by its tag': (there: UcpEndpoint, options: WaitOptions) => there.tagSend(pattern(9000), 7, options),
    'to a handler': (there: UcpEndpoint, options: WaitOptions) =>
      there.amSend(1, pattern(4), pattern(9), { ...options, protocol: 'rendezvous' }),
  };
  for (const [way, made] of Object.entries(ALL_WAYS))
    for (const [what, send] of Object.entries(ways))
      it(`ends with the reason of its program, ${what} on ${way}`, () =>
        simulate(async (sim) => {
          const { there, close } = await made(sim, { window: 1, thresholds: { rndv: 0 } });
          const before = Array.from({ length: 300 }, () => there.streamSend(pattern(10)));
          const abort = new AbortController();
          const sending = send(there, { signal: abort.signal });
          abort.abort(new Error('no more'));
          await assert.rejects(sending, /no more/);
          await Promise.all(before);
          await close();
        }));
});
