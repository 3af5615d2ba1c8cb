import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { alloc, MwType, QpType, XrcdOpenFlags } from '../../../entry/index.js';
import { HOSTINGS, openContexts } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const { CREAT, EXCL } = XrcdOpenFlags;
const THIS_FILE = fileURLToPath(import.meta.url);

class File implements Disposable {
  readonly fd = openSync(THIS_FILE, 'r');

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

for (const hosting of HOSTINGS) {
  describe(`domains, hosted ${hosting}`, () => {
    test('a parent domain is the domain that it was made from, with users of its own', () => {
      const [context, other] = openContexts(hosting, NET);
      const pd = context.allocPd();
      const td = context.allocTd();
      const parent = context.allocParentDomain({ pd, td });
      assert.deepEqual([parent.pd, parent.td, parent.context], [pd, td, context]);
      const mr = parent.regMr(alloc(64));
      assert.equal(mr.pd, parent);
      assert.throws(() => parent.dealloc(), { errno: 'EBUSY', message: /MR 0x/ });
      assert.throws(() => pd.dealloc(), { errno: 'EBUSY', message: /parent domain/ });
      assert.throws(() => td.dealloc(), { errno: 'EBUSY', call: 'ibv_dealloc_td' });
      mr.dereg();
      const above = context.allocParentDomain({ pd: parent });
      assert.throws(() => parent.dealloc(), { errno: 'EBUSY' });
      above.dealloc();
      parent.dealloc();
      td.dealloc();
      pd.dealloc();
      assert.throws(() => parent.dealloc(), { errno: 'EINVAL' });
      context.close();
      other.close();
    });

    test('parent domains are refused what is not theirs', () => {
      const [context, other] = openContexts(hosting, NET);
      const pd = context.allocPd();
      const ended = context.allocTd();
      ended.dealloc();
      for (const init of [{ pd: other.allocPd() }, { pd, td: other.allocTd() }, { pd, td: ended }])
        assert.throws(() => context.allocParentDomain(init), { errno: 'EINVAL', call: 'ibv_alloc_parent_domain' });
      pd.dealloc();
      context.close();
      other.close();
    });

    test('an XRC domain of a file is one, until it was closed as often as it was opened', () => {
      const [context, other] = openContexts(hosting, NET);
      using file = new File();
      using again = new File();
      const xrcd = context.openXrcd({ fd: file.fd });
      assert.equal(context.openXrcd({ fd: again.fd, oFlags: 0 }), xrcd);
      assert.throws(() => context.openXrcd({ fd: file.fd, oFlags: CREAT | EXCL }), { errno: 'EINVAL' });
      assert.notEqual(other.openXrcd({ fd: file.fd }), xrcd);
      xrcd.close();
      const qp = xrcd.createQp();
      assert.throws(() => xrcd.close(), { errno: 'EBUSY', call: 'ibv_close_xrcd', message: /QP 0x/ });
      qp.destroy();
      xrcd.close();
      assert.throws(() => xrcd.close(), { errno: 'EINVAL' });
      assert.throws(() => xrcd.createQp(), { errno: 'EINVAL' });
      assert.throws(() => context.openXrcd({ fd: file.fd, oFlags: 0 }), { errno: 'EAGAIN', call: 'ibv_open_xrcd' });
      context.openXrcd({ fd: file.fd, oFlags: CREAT | EXCL }).close();
      context.close();
      other.close();
    });

    test('an XRC domain without a file is nobody else’s', () => {
      const [context, other] = openContexts(hosting, NET);
      const [first, second] = [context.openXrcd(), context.openXrcd()];
      assert.notEqual(first, second);
      first.close();
      second.close();
      assert.throws(() => context.openXrcd({ fd: 1_000_000 }), { errno: 'EBADF' });
      assert.throws(() => context.openXrcd({ fd: -2 }), { errno: 'EBADF' });
      assert.throws(() => context.openXrcd({ oFlags: 1 }), { errno: 'EINVAL' });
      context.close();
      other.close();
    });

    test('closing the device ends objects of every kind', () => {
      const [context, other] = openContexts(hosting, NET);
      const pd = context.allocPd();
      const td = context.allocTd();
      const parent = context.allocParentDomain({ pd, td });
      const xrcd = context.openXrcd();
      const cq = context.createCq({ cqe: 1 });
      const mw = pd.allocMw(MwType.TYPE_1);
      const nothing = pd.allocNullMr();
      const srq = parent.createSrq({ maxWr: 1 });
      const ah = pd.createAh({ grh: { dgid: other.queryGid(1, 0) } });
      const ud = parent.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq });
      const target = xrcd.createQp();
      context.close();
      for (const call of [
        () => mw.dealloc(),
        () => nothing.dereg(),
        () => srq.destroy(),
        () => ah.destroy(),
        () => ud.destroy(),
        () => target.destroy(),
        () => xrcd.close(),
        () => parent.dealloc(),
        () => td.dealloc(),
        () => context.allocTd(),
        () => context.openXrcd(),
        () => context.allocParentDomain({ pd }),
      ])
        assert.throws(call, { errno: 'EINVAL' });
      other.close();
    });
  });
}

test('a window of either type has a key of its own, and another type there is not', () => {
  const [context, other] = openContexts('simulated', NET);
  const pd = context.allocPd();
  const windows = [pd.allocMw(MwType.TYPE_1), pd.allocMw(MwType.TYPE_2)];
  assert.deepEqual(
    windows.map(({ type }) => type),
    [MwType.TYPE_1, MwType.TYPE_2],
  );
  assert.notEqual(windows[0].rkey >>> 8, windows[1].rkey >>> 8);
  assert.throws(() => pd.dealloc(), { errno: 'EBUSY', message: /MW 0x/ });
  const noType = 3 as MwType; // as a program without types may
  assert.throws(() => pd.allocMw(noType), { errno: 'EINVAL', call: 'ibv_alloc_mw' });
  for (const window of windows) window.dealloc();
  assert.throws(() => windows[0].dealloc(), { errno: 'EINVAL' });
  pd.dealloc();
  context.close();
  other.close();
});
