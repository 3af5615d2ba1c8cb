import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpState, QpType, type QpCap } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { bringTo, deviceFor, DOMAIN_TYPES, Workshop } from './qp-support.js';
import { assertErrno, useDevices } from './support.js';

const { RESET, INIT, RTS } = QpState;

/** As far as pyverbs takes a queue pair that it makes "with attributes". */
const READY = { RC: INIT, UC: INIT, UD: RTS, RAW_PACKET: RTS, XRC_SEND: INIT } as const;
/** What is asked for; no size is a power of two. */
const ASKED: QpCap = { maxSendWr: 11, maxRecvWr: 13, maxSendSge: 3, maxRecvSge: 2, maxInlineData: 20 };
const SIZES = ['maxSendWr', 'maxRecvWr', 'maxSendSge', 'maxRecvSge', 'maxInlineData'] as const;
const QP_NUMBERS = 2 ** 24;
/** More than any table of numbers that would be handed out one after the other could hide. */
const MANY = 2000;

conformance('queue pairs', (provider) => {
  const devices = useDevices(provider);

  for (const type of DOMAIN_TYPES) {
    const receives = type !== 'XRC_SEND';

    test(`of type ${type} are made as they were asked for, in RESET, and can be ended`, () => {
      using shop = new Workshop(deviceFor(type, devices[0]));
      const qpContext = {};
      const qp = shop.make(type, { qpContext });
      assert.deepEqual([qp.qpType, qp.state, qp.query().attr.qpState], [QpType[type], RESET, RESET]);
      assert.deepEqual([qp.context, qp.pd, qp.sendCq, qp.recvCq], [shop.context, shop.pd, shop.cq, shop.cq]);
      assert.equal(qp.srq, undefined);
      assert.equal(qp.qpContext, qpContext);
      assert.ok(qp.qpNum > 1 && qp.qpNum < QP_NUMBERS);
      qp.destroy();
    });

    test(`of type ${type} go from RESET to where they can be used`, () => {
      using shop = new Workshop(deviceFor(type, devices[0]));
      const qp = shop.make(type);
      bringTo(qp, READY[type]);
      assert.equal(qp.query().attr.qpState, READY[type]);
      assert.equal(qp.state, READY[type]);
    });

    test(`of type ${type} have at least the sizes that were asked for, and tell them`, () => {
      using shop = new Workshop(deviceFor(type, devices[0]));
      const qp = shop.make(type, { cap: ASKED, sqSigAll: true });
      const { attr, initAttr } = qp.query();
      const own = receives ? SIZES : SIZES.filter((size) => !size.startsWith('maxRecv'));
      for (const size of own) assert.ok(qp.cap[size] >= ASKED[size], size);
      assert.deepEqual(initAttr.cap, qp.cap);
      assert.deepEqual(attr.cap, qp.cap);
      assert.deepEqual([attr.qpState, attr.curQpState], [RESET, RESET]);
      assert.deepEqual([initAttr.qpType, initAttr.sqSigAll], [QpType[type], true]);
      assert.deepEqual([initAttr.sendCq, initAttr.recvCq, initAttr.srq], [shop.cq, shop.cq, undefined]);
    });

    for (const size of SIZES) {
      test(`of type ${type} are refused with a ${size} above the device’s`, () => {
        using shop = new Workshop(deviceFor(type, devices[0]));
        if (!receives && size.startsWith('maxRecv')) {
          // They have no receive queue, whatever is asked for.
          assert.equal(shop.make(type, { cap: { [size]: 0xffff } }).cap[size], 0);
          return;
        }
        const huge = size.endsWith('Wr') ? 0xffffffff : 0xffff;
        assertErrno('EINVAL', () => shop.make(type, { cap: { [size]: huge } }));
      });
    }
  }

  for (const bytes of [36, 96, 216, 580, 1000]) {
    test(`asked for ${bytes} bytes of inline data have room for as much, or are refused`, () => {
      using shop = new Workshop(devices[0]);
      const { maxInlineData } = shop.make('RC').query().initAttr.cap;
      assert.ok(maxInlineData >= 0);
      const make = (): unknown => shop.make('RC', { cap: { maxInlineData: bytes } });
      // verbs have no way to ask a device how much it takes; this one takes 512.
      if (bytes > 512) assertErrno('EINVAL', make);
      else assert.ok(shop.make('RC', { cap: { maxInlineData: bytes } }).cap.maxInlineData >= bytes);
    });
  }

  for (const [size, limit] of [
    ['maxSendWr', 'maxQpWr'],
    ['maxRecvWr', 'maxQpWr'],
    ['maxSendSge', 'maxSge'],
    ['maxRecvSge', 'maxSge'],
  ] as const) {
    test(`can have a ${size} of ${limit}, and not one more`, () => {
      using shop = new Workshop(devices[0]);
      const most = shop.context.queryDevice()[limit];
      assert.ok(shop.make('RC', { cap: { [size]: most } }).cap[size] >= most);
      assertErrno('EINVAL', () => shop.make('RC', { cap: { [size]: most + 1 } }));
    });
  }

  for (const size of SIZES) {
    test(`can be made with a ${size} of 0`, () => {
      using shop = new Workshop(devices[0]);
      shop.make('RC', { cap: { [size]: 0 } });
    });
  }

  for (const use of ['sendCq', 'recvCq'] as const) {
    test(`keep the completion queue that is their ${use} from being ended`, () => {
      using shop = new Workshop(devices[0]);
      const cq = shop.keep(shop.context.createCq({ cqe: 4 }));
      const qp = shop.make('RC', { [use]: cq });
      assertErrno('EBUSY', () => cq.destroy());
      qp.destroy();
      cq.destroy();
    });

    test(`are refused with a ${use} that was ended`, () => {
      using shop = new Workshop(devices[0]);
      const cq = shop.context.createCq({ cqe: 4 });
      cq.destroy();
      assertErrno('EINVAL', () => shop.make('RC', { [use]: cq }));
    });

    test(`are refused with a ${use} of another device`, () => {
      using shop = new Workshop(devices[0]);
      using strange = new Workshop(devices[1]);
      assertErrno('EINVAL', () => shop.make('RC', { [use]: strange.cq }));
    });
  }

  test('keep their shared receive queue from being ended', () => {
    using shop = new Workshop(devices[0]);
    const srq = shop.keep(shop.pd.createSrq({ maxWr: 4 }));
    const qp = shop.make('RC', { srq });
    assert.equal(qp.query().initAttr.srq, srq);
    assertErrno('EBUSY', () => srq.destroy());
    qp.destroy();
    srq.destroy();
  });

  test('are refused with a shared receive queue that was ended', () => {
    using shop = new Workshop(devices[0]);
    const srq = shop.pd.createSrq({ maxWr: 4 });
    srq.destroy();
    assertErrno('EINVAL', () => shop.make('RC', { srq }));
  });

  test('are refused with a shared receive queue of another device', () => {
    using shop = new Workshop(devices[0]);
    using strange = new Workshop(devices[1]);
    const srq = strange.keep(strange.pd.createSrq({ maxWr: 4 }));
    assertErrno('EINVAL', () => shop.make('RC', { srq }));
  });

  test('of a type that does not exist are refused', () => {
    using shop = new Workshop(devices[0]);
    const qpType = 0xf0 as QpType; // which no QpType is
    assertErrno('EOPNOTSUPP', () => shop.pd.createQp({ qpType, sendCq: shop.cq, recvCq: shop.cq }));
  });

  for (const call of ['modify', 'query', 'destroy'] as const) {
    test(`take no ${call} after their end`, () => {
      using shop = new Workshop(devices[0]);
      const qp = shop.make('RC');
      bringTo(qp, INIT);
      qp.destroy();
      assertErrno('EINVAL', () => (call === 'modify' ? qp.modify({ qpState: INIT }) : qp[call]()));
    });
  }

  test(`have numbers of their own, ${MANY} of them at once`, () => {
    using shop = new Workshop(devices[0]);
    const cap = { maxSendWr: 1, maxRecvWr: 1 };
    const numbers = new Set(Array.from({ length: MANY }, () => shop.make('UC', { cap }).qpNum));
    assert.equal(numbers.size, MANY);
    assert.ok(![...numbers].some((number) => number <= 1 || number >= QP_NUMBERS));
  });
});
