import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import { AmHandlers, connectRc, MemoryDomain } from '../../uct/index.js';
import {
  encodeIntroduction,
  packWorkerAddress,
  UcsStatus,
  unpackWorkerAddress,
  type WorkerAddress,
} from '../../wire/index.js';
import { UcpWorker } from '../../worker/worker.js';
import { members } from '../support/by-address.js';
import { PORT, until } from '../support/transports.js';

function partsOf(bytes: Uint8Array): WorkerAddress {
  const address = unpackWorkerAddress(bytes);
  assert.ok(typeof address !== 'string');
  return address;
}

for (const transport of ['rc', 'ud'] as const)
  describe(`an address of a worker by ${transport}`, () => {
    const lies: Readonly<Record<string, readonly [(good: WorkerAddress) => Partial<WorkerAddress>, UcsStatus]>> = {
      'of a worker that is not there': [({ uuid }) => ({ uuid: uuid ^ 1n }), UcsStatus.UCS_ERR_UNREACHABLE],
      'at a port where nobody listens': [({ port }) => ({ port: port ^ 1 }), UcsStatus.UCS_ERR_UNREACHABLE],
      'at a port where others listen': [() => ({ port: PORT }), UcsStatus.UCS_ERR_UNREACHABLE],
      'at a host that is not there': [() => ({ host: '10.255.255.254' }), UcsStatus.UCS_ERR_UNREACHABLE],
      'that goes by something else': [
        () => ({ transport: transport === 'rc' ? 'ud' : 'rc' }),
        UcsStatus.UCS_ERR_UNREACHABLE,
      ],
    };
    for (const [what, [change, status]] of Object.entries(lies))
      it(`${what} leads nowhere, and says so`, () =>
        simulate(async (sim) => {
          const { all, close } = members(sim, 2, { transport });
          const [one, other] = all;
          other.worker.listen({ port: PORT }, () => assert.fail('nobody is connected'));
          const good = partsOf(other.worker.address);
          const bytes = packWorkerAddress({ ...good, ...change(good) });
          await assert.rejects(
            one.host.run(() => one.worker.connectByAddress(bytes, { timeoutMs: 600_000 })),
            { name: 'UcpError', status },
          );
          assert.deepEqual(await close(), []);
        }));

    it('with any byte changed, or cut, leads nowhere or there, and throws nothing else', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport, name: 'né' });
        const [one, other] = all;
        const good = other.worker.address;
        assert.equal(partsOf(good).name, 'né');
        const bad = [...good.keys()].flatMap((at) => [
          good.map((byte, i) => (i === at ? byte ^ 0xff : byte)),
          good.subarray(0, at),
        ]);
        const statuses: readonly number[] = [UcsStatus.UCS_ERR_INVALID_ADDR, UcsStatus.UCS_ERR_UNREACHABLE];
        const ended = await Promise.allSettled(
          bad.map((bytes) => one.host.run(() => one.worker.connectByAddress(bytes, { timeoutMs: 600_000 }))),
        );
        for (const [i, end] of ended.entries())
          if (end.status === 'fulfilled') end.value.close();
          else {
            const { status } = end.reason as { status?: number };
            assert.ok(status !== undefined && statuses.includes(status), `${i}: ${String(end.reason)}`);
          }
        assert.deepEqual(await close(), []);
      }));

    it('is not told whoever only finds the port', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        const [one, other] = all;
        const { host, port } = partsOf(other.worker.address);
        await assert.rejects(
          one.host.run(() => one.worker.connect({ host, port })),
          { status: UcsStatus.UCS_ERR_REJECTED },
        );
        assert.equal(other.worker.query().endpoints, 0);
        assert.deepEqual(await close(), []);
      }));

    it('of a worker that was closed, and of one made in its place, are different', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        const [one, other] = all;
        const { address } = other.worker;
        other.worker.close();
        await assert.rejects(
          one.host.run(() => one.worker.connectByAddress(address)),
          { status: UcsStatus.UCS_ERR_UNREACHABLE },
        );
        const later = new UcpWorker(other.host.context, { transport });
        assert.notEqual(partsOf(later.address).uuid, partsOf(address).uuid);
        later.close();
        assert.deepEqual(await close(), []);
      }));

    it('is bytes', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 1, { transport });
        // @ts-expect-error what JavaScript allows
        await assert.rejects(all[0].worker.connectByAddress('text'), { errno: 'EINVAL' });
        assert.deepEqual(await close(), []);
      }));

    it('is the program’s own copy', () =>
      simulate(async (sim) => {
        const { all, close } = members(sim, 2, { transport });
        all[1].worker.address.fill(0);
        assert.ok((await all[0].ask(all[1])).failure === undefined);
        assert.deepEqual(await close(), []);
      }));
  });

describe('somebody who says to be another worker', () => {
  it('is not taken for it, unless it asks from there', () =>
    simulate(async (sim) => {
      const { all, close } = members(sim, 2);
      const [hub, honest] = all;
      const [to, uuid] = [partsOf(hub.worker.address), partsOf(honest.worker.address).uuid];
      const thief = sim.host('thief');
      const engine = new Engine(thief.context, { name: 'a thief' });
      const say = encodeIntroduction({ meeting: { call: 7, uuid, toUuid: to.uuid } });
      const own = { domain: new MemoryDomain(engine), handlers: new AmHandlers(), words: { say } };
      const stolen = await thief.run(() => connectRc(own, { host: to.host, port: to.port }));
      await until(sim, () => hub.worker.query().unclaimedEndpoints === 1);
      const endpoint = await hub.ask(honest);
      assert.equal(endpoint.query().remoteAddress?.host, partsOf(honest.worker.address).host);
      assert.equal(hub.worker.query().unclaimedEndpoints, 1);
      stolen.close();
      await until(sim, () => hub.worker.query().endpoints === 1);
      assert.deepEqual(await close(), []);
      engine.close();
    }));
});
