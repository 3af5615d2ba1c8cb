import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, type Context, type Mr, PostError, type RecvWr, type Srq } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { Belongings } from './sides.js';
import { LOCAL_ONLY, useDevices } from './support.js';

class Workplace extends Belongings {
  readonly srq: Srq;
  readonly mr: Mr;

  constructor(context: Context, maxSge = 1) {
    super();
    const pd = this.keep(context.allocPd());
    this.mr = this.keep(pd.regMr(alloc(256), LOCAL_ONLY));
    this.srq = this.keep(pd.createSrq({ maxWr: 50, maxSge }));
  }

  requests(count: number): RecvWr[] {
    return Array.from({ length: count }, (_, wrId) => ({ wrId, sgList: [this.mr.sge()] }));
  }
}

function assertRefused(errno: string, badWr: RecvWr, index: number, post: () => void): void {
  assert.throws(post, (error) => {
    assert.ok(error instanceof PostError);
    assert.equal(error.errno, errno);
    assert.equal(error.badWr, badWr);
    assert.equal(error.index, index);
    return true;
  });
}

conformance('requests of a shared receive queue', (provider) => {
  const devices = useDevices(provider, 1);

  test('fill it to its size, at one go', () => {
    using place = new Workplace(devices[0]);
    const { srq } = place;
    srq.postRecv(place.requests(srq.maxWr));
  });

  test('beyond its size are refused, and those before stay', () => {
    using place = new Workplace(devices[0]);
    const { srq } = place;
    const requests = place.requests(srq.maxWr + 1);
    assertRefused('ENOMEM', requests[srq.maxWr], srq.maxWr, () => srq.postRecv(requests));
    const [one] = requests;
    assertRefused('ENOMEM', one, 0, () => srq.postRecv(one));
  });

  test('in a list that is far longer than it, all of it the same request, are refused at the first too many', () => {
    using place = new Workplace(devices[0]);
    const { srq } = place;
    const [again] = place.requests(1);
    const list = new Array<RecvWr>(10_000).fill(again);
    assertRefused('ENOMEM', again, srq.maxWr, () => srq.postRecv(list));
  });

  for (const maxSge of [1, 4]) {
    test(`have as many pieces as ${maxSge === 1 ? 'the one' : `the ${maxSge}`} it was made for`, () => {
      using place = new Workplace(devices[0], maxSge);
      const { srq, mr } = place;
      srq.postRecv({ sgList: Array.from({ length: srq.maxSge }, () => mr.sge(0, 8)) });
    });

    test(`with more pieces than ${maxSge === 1 ? 'the one' : `the ${maxSge}`} it was made for are refused`, () => {
      using place = new Workplace(devices[0], maxSge);
      const { srq, mr } = place;
      const wr = { wrId: 7, sgList: Array.from({ length: srq.maxSge + 1 }, () => mr.sge(0, 8)) };
      assertRefused('EINVAL', wr, 0, () => srq.postRecv(wr));
    });
  }

  test('can have as many pieces as the device allows', () => {
    const [context] = devices;
    const { maxSrqSge } = context.queryDevice();
    using place = new Workplace(context, maxSrqSge);
    const { srq, mr } = place;
    srq.postRecv({ sgList: Array.from({ length: maxSrqSge }, () => mr.sge(0, 8)) });
  });
});
