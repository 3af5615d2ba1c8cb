import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BareInterface, UcsStatus } from '../../bare/index.js';
import { simulate } from '../../../../entry/sim.js';

const NONE = new Uint8Array(0);

for (const transport of ['rc', 'ud', 'self'] as const)
  describe(`an interface of ${transport}`, () => {
    it('leads to itself, both ways', () =>
      simulate(async (sim) => {
        const host = sim.host('alone');
        const own = new BareInterface(host.context, transport);
        const ends = await host.run(() => own.toItself());
        const told = [1, 2].map(
          (id) => new Promise<number>((resolve) => own.handlers.set(id, (bytes) => resolve(bytes[0]))),
        );
        for (const [i, end] of ends.entries())
          assert.equal(end.amShort(i + 1, NONE, Uint8Array.of(i + 1)), UcsStatus.UCS_OK);
        assert.deepEqual(await Promise.all(told), [1, 2]);
        own.close();
      }));

    it('ends its endpoints when it is closed', () =>
      simulate(async (sim) => {
        const host = sim.host('alone');
        const own = new BareInterface(host.context, transport);
        const ends = await host.run(() => own.toItself());
        own.close();
        own.close();
        const failures = ends.map(({ failure }) => failure);
        assert.deepEqual(failures, [UcsStatus.UCS_ERR_CANCELED, UcsStatus.UCS_ERR_CANCELED]);
      }));
  });
