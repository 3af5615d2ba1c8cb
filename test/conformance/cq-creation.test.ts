import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CreateCqAttrFlags, WcExFlags } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { CQ_KINDS } from './sides.js';
import { assertErrno, useDevices } from './support.js';

const CQE = 10;

for (const [title, fields] of CQ_KINDS) {
  conformance(title, (provider) => {
    const devices = useDevices(provider, 1);

    test('belong to their context, have no channel unless they are given one, and hold what was asked for', () => {
      const [context] = devices;
      const cqContext = { anything: true };
      using cq = context.createCq({ ...fields, cqe: CQE, cqContext });
      assert.equal(cq.context, context);
      assert.equal(cq.channel, undefined);
      assert.equal(cq.cqContext, cqContext);
      assert.ok(cq.cqe >= CQE);
    });

    test('that were ended can be neither ended again nor used', () => {
      const [context] = devices;
      using channel = context.createCompChannel();
      const cq = context.createCq({ ...fields, cqe: CQE, channel });
      cq.destroy();
      assertErrno('EINVAL', () => cq.destroy());
      assertErrno('EINVAL', () => cq.poll());
      assertErrno('EINVAL', () => cq.startPoll());
      assertErrno('EINVAL', () => cq.reqNotify());
      assertErrno('EINVAL', () => cq.resize(CQE));
    });

    for (const cqe of [-1, 0]) {
      test(`of ${cqe} entries are refused`, () => {
        assertErrno('EINVAL', () => devices[0].createCq({ ...fields, cqe }));
      });
    }

    test('are of any size up to the device’s largest', () => {
      const [context] = devices;
      const { maxCqe } = context.queryDevice();
      for (const cqe of [1, maxCqe >> 1, maxCqe]) {
        using cq = context.createCq({ ...fields, cqe });
        assert.ok(cq.cqe >= cqe);
      }
    });

    test('larger than the device’s largest are refused', () => {
      const [context] = devices;
      const { maxCqe } = context.queryDevice();
      assertErrno('EINVAL', () => context.createCq({ ...fields, cqe: maxCqe + 1 }));
    });

    test('of any size can have a channel', () => {
      const [context] = devices;
      const { maxCqe } = context.queryDevice();
      for (const cqe of [1, maxCqe >> 1, maxCqe]) {
        using channel = context.createCompChannel();
        using cq = context.createCq({ ...fields, cqe, channel });
        assert.equal(cq.channel, channel);
      }
    });

    test('can share a channel, which outlives each of them', () => {
      const [context] = devices;
      using channel = context.createCompChannel();
      const first = context.createCq({ ...fields, cqe: CQE, channel });
      const second = context.createCq({ ...fields, cqe: CQE, channel });
      assert.deepEqual([first.channel, second.channel], [channel, channel]);
      first.destroy();
      second.destroy();
    });

    test('can be on every completion vector of the context', () => {
      const [context] = devices;
      assert.ok(context.numCompVectors >= 1);
      for (const compVector of [0, context.numCompVectors - 1]) {
        using cq = context.createCq({ ...fields, cqe: CQE, compVector });
        assert.ok(cq.cqe >= CQE);
      }
    });

    test('on a completion vector that the context does not have are refused', () => {
      const [context] = devices;
      for (const compVector of [-1, context.numCompVectors, context.numCompVectors + 1])
        assertErrno('EINVAL', () => context.createCq({ ...fields, cqe: CQE, compVector }));
    });
  });
}

/** Fields that only devices with VLANs, flow steering or tag matching have. */
const LACKING: readonly string[] = ['WITH_CVLAN', 'WITH_FLOW_TAG', 'WITH_TM_INFO'];

conformance('fields and flags of completion queues', (provider) => {
  const devices = useDevices(provider, 1);

  for (const [name, wcFlags] of Object.entries(WcExFlags)) {
    test(LACKING.includes(name) ? `${name} is not supported` : `${name} is granted`, () => {
      const create = (): void => devices[0].createCq({ cqe: CQE, wcFlags })[Symbol.dispose]();
      if (LACKING.includes(name)) assertErrno('EOPNOTSUPP', create);
      else create();
    });
  }

  for (const [name, flags] of Object.entries(CreateCqAttrFlags)) {
    test(`${name} is granted`, () => {
      devices[0].createCq({ cqe: CQE, flags })[Symbol.dispose]();
    });
  }

  test('that do not exist are refused', () => {
    const [context] = devices;
    assertErrno('EINVAL', () => context.createCq({ cqe: CQE, wcFlags: 1 << 12 }));
    assertErrno('EINVAL', () => context.createCq({ cqe: CQE, flags: 1 << 2 }));
  });
});
