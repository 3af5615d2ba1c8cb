import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type LibxioConnection,
  xioAccept,
  xioLookupRkeyByRequest,
  xioLookupRkeyByResponse,
  xioManagedRkeyUnwrap,
  xioMemAlloc,
  xioMemDereg,
  xioMemFree,
  xioMempoolAddSlab,
  xioMempoolAlloc,
  xioMempoolCreate,
  xioMempoolDestroy,
  XioMempoolFlag,
  xioMempoolFree,
  xioMemRegister,
  type XioMsg,
  xioRegisterRemoteRkey,
  xioReleaseResponse,
  xioSendRdma,
  xioSendRequest,
  xioSendResponse,
  XioStatus,
  xioUnregisterRemoteKey,
} from '../../../../entry/xio.js';
import { type Net, NETS } from '../support/nets.js';
import { pattern } from '../support/worlds.js';
import { End } from './support.js';

/** A client that has been told of memory of its server's, in an answer. */
async function granted(net: Net, regMem = xioMemAlloc(100_000)) {
  const done: XioMsg[] = [];
  const server = new End(net, net.server, {
    onNewSession: (session) => xioAccept(session),
    onMsg: (_, request) => {
      const rsp: XioMsg = { request };
      rsp.out = { dataIov: [xioLookupRkeyByResponse(regMem, rsp)] };
      assert.deepEqual(xioLookupRkeyByRequest(regMem, request), rsp.out.dataIov?.[0]);
      xioSendResponse(rsp);
    },
  });
  const client = new End(net, net.client, { onRdmaDirectComplete: (_, message) => void done.push(message) });
  await server.bind();
  client.connect();
  await net.until(client.has('CONNECTION_ESTABLISHED'));
  const conn = connOf(client);
  const request: XioMsg = { out: { header: 'where?' } };
  xioSendRequest(conn, request);
  await net.until(() => client.got.length === 1);
  const [key] = request.in?.dataIov ?? [];
  const managed = xioRegisterRemoteRkey(conn, key);
  return { server, client, conn, regMem, managed, request, done };
}

function connOf({ conn }: End): LibxioConnection {
  assert.ok(conn !== undefined);
  return conn;
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (title: string, scene: (net: Net) => Promise<void>): void => void it(title, () => play(scene));

  describe(`direct reads and writes in the names of libxio.h over ${name}`, () => {
    test('move memory to and from where its key says, in several places and pieces', async (net) => {
      const { conn, regMem, managed, done } = await granted(net);
      const stag = xioManagedRkeyUnwrap(managed);
      const from = [pattern(20_000, 1), pattern(10, 2), pattern(9000, 3)];
      const rsgList = [
        { addr: 0, length: 9000, stag },
        { addr: 50_000, length: 30_000, stag },
      ];
      const write: XioMsg = { rdma: { isRead: false, length: 29_010, rsgList }, out: { dataIov: from } };
      xioSendRdma(conn, write);
      assert.throws(() => xioSendRdma(conn, write), { code: 'XIO_E_STATE' });
      await net.until(() => done.length === 1);
      const whole = Buffer.concat(from);
      assert.deepEqual(Buffer.from(regMem.addr.subarray(0, 9000)), whole.subarray(0, 9000));
      assert.deepEqual(Buffer.from(regMem.addr.subarray(50_000, 70_010)), whole.subarray(9000));
      assert.ok(regMem.addr.subarray(70_010).every((byte) => byte === 0));
      const into = [new Uint8Array(29_000), new Uint8Array(100)];
      xioSendRdma(conn, { rdma: { isRead: true, length: 29_010, rsgList }, out: { dataIov: into } });
      await net.until(() => done.length === 2);
      assert.deepEqual(Buffer.concat(into).subarray(0, 29_010), whole);
      assert.ok(into[1].subarray(10).every((byte) => byte === 0));
    });

    test('go on when the connection is made anew', async (net) => {
      const { conn, regMem, managed, done } = await granted(net);
      for (const step of [0, 20, 60]) {
        const before = done.length;
        const dataIov = [pattern(100_000, step)];
        const rsgList = [{ addr: 0, length: 100_000, stag: xioManagedRkeyUnwrap(managed) }];
        xioSendRdma(conn, { rdma: { isRead: false, length: 100_000, rsgList }, out: { dataIov } });
        await net.sim.sleep(step);
        net.cut();
        await net.until(() => done.length > before);
        assert.deepEqual(Uint8Array.from(regMem.addr), dataIov[0]);
      }
    });

    test('fail once the memory was given back, and nothing else does', async (net) => {
      const { client, conn, regMem, managed, done } = await granted(net);
      const place = { addr: 0, length: 100, stag: xioManagedRkeyUnwrap(managed) };
      xioMemFree(regMem);
      const rdma = { isRead: true, length: 100, rsgList: [place] };
      xioSendRdma(conn, { rdma, out: { dataIov: [new Uint8Array(100)] }, userContext: 'late' });
      await net.until(client.has(`error ${XioStatus.XIO_E_USER_OBJ_NOT_FOUND} 0 late`));
      assert.deepEqual(done, []);
      assert.throws(() => xioMemFree(regMem), { code: 'XIO_E_STATE' });
      assert.throws(() => xioLookupRkeyByRequest(regMem, {}), { code: 'XIO_E_STATE' });
    });

    test('take keys of a client as well, by a request that was answered', async (net) => {
      const { server, client, request, regMem } = await granted(net);
      const own = xioMemRegister(pattern(5000, 4));
      const stag = xioLookupRkeyByRequest(own, request);
      xioReleaseResponse(request);
      assert.throws(() => xioLookupRkeyByRequest(own, request), { code: 'XIO_E_STATE' });
      const rdma = { isRead: true, length: 5000, rsgList: [{ addr: 0, length: 5000, stag }] };
      xioSendRdma(connOf(server), { rdma, out: { dataIov: [regMem.addr] } });
      await net.until(() => regMem.addr[4999] === pattern(5000, 4)[4999]);
      assert.deepEqual(Uint8Array.from(regMem.addr.subarray(0, 5000)), own.addr);
      xioMemDereg(own);
      assert.equal(client.told.includes('error'), false);
    });

    test('have keys and places that can be', async (net) => {
      const { conn, managed } = await granted(net);
      const stag = xioManagedRkeyUnwrap(managed);
      const out = { dataIov: [new Uint8Array(10)] };
      const place = { addr: 0, length: 10, stag };
      const wrong: readonly unknown[] = [
        { out },
        { out, rdma: { isRead: true, length: 10, rsgList: [] } },
        { out, rdma: { isRead: true, length: 11, rsgList: [place, place] } },
        { out, rdma: { isRead: true, length: 10, rsgList: [{ ...place, length: 9 }] } },
        { out, rdma: { isRead: true, length: 10, rsgList: [{ ...place, addr: -1 }] } },
        { out, rdma: { isRead: true, length: 10, rsgList: [{ ...place, stag: 7 }] } },
      ];
      for (const message of wrong)
        assert.throws(() => void Reflect.apply(xioSendRdma, undefined, [conn, message]), { code: 'EINVAL' });
      assert.throws(() => xioRegisterRemoteRkey(conn, new Uint8Array(4)), { code: 'EINVAL' });
      xioUnregisterRemoteKey(managed);
      assert.throws(() => xioManagedRkeyUnwrap(managed), { code: 'XIO_E_STATE' });
      assert.throws(() => xioUnregisterRemoteKey(managed), { code: 'XIO_E_STATE' });
    });

    test('reach memory of a pool until its buffer is given back', async (net) => {
      const pool = xioMempoolCreate(-1, XioMempoolFlag.XIO_MEMPOOL_FLAG_REG_MR);
      xioMempoolAddSlab(pool, 100_000, 0, 2, 1);
      const regMem = xioMempoolAlloc(pool, 100_000);
      const { client, conn, managed, done } = await granted(net, regMem);
      const place = { addr: 0, length: 10, stag: xioManagedRkeyUnwrap(managed) };
      const write = (name: string): void => {
        const rdma = { isRead: false, length: 10, rsgList: [place] };
        xioSendRdma(conn, { rdma, out: { dataIov: [pattern(10, 1)] }, userContext: name });
      };
      write('first');
      await net.until(() => done.length === 1);
      xioMempoolFree(regMem);
      const next = xioMempoolAlloc(pool, 10);
      assert.equal(next.addr.buffer, regMem.addr.buffer);
      next.addr.fill(0);
      write('second');
      await net.until(client.has(`error ${XioStatus.XIO_E_USER_OBJ_NOT_FOUND} 0 second`));
      assert.ok(next.addr.every((byte) => byte === 0));
    });
  });
}

describe('memory in the names of libxio.h', () => {
  it('is given back as it was made, once', () => {
    const [allocated, registered] = [xioMemAlloc(100), xioMemRegister(new Uint8Array(10))];
    assert.deepEqual([allocated.length, registered.length], [100, 10]);
    assert.throws(() => xioMemDereg(allocated), { code: 'XIO_E_STATE' });
    assert.throws(() => xioMemFree(registered), { code: 'XIO_E_STATE' });
    xioMemFree(allocated);
    xioMemDereg(registered);
    assert.throws(() => xioMemDereg(registered), { code: 'XIO_E_STATE' });
    assert.throws(() => xioMemAlloc(0), { code: 'EINVAL' });
    assert.throws(() => xioMemRegister(new Uint8Array(0)), { code: 'EINVAL' });
  });

  it('comes of pools with up to six slabs, which are destroyed when nothing is lent', () => {
    const pool = xioMempoolCreate();
    for (let i = 0; i < 6; i += 1) xioMempoolAddSlab(pool, 64 << i, 1, 2, 1, 0);
    assert.throws(() => xioMempoolAddSlab(pool, 7, 0, 1, 1), { code: 'XIO_E_NO_BUFS' });
    const buffers = [xioMempoolAlloc(pool, 2048), xioMempoolAlloc(pool, 2048)];
    assert.throws(() => xioMempoolAlloc(pool, 1025), { code: 'XIO_E_NO_BUFS' });
    assert.throws(() => xioMempoolDestroy(pool), { code: 'XIO_E_STATE' });
    for (const buffer of buffers) xioMempoolFree(buffer);
    assert.throws(() => xioMempoolFree(buffers[0]), { code: 'XIO_E_STATE' });
    xioMempoolDestroy(pool);
    assert.throws(() => xioMempoolAlloc(pool, 1), { code: 'XIO_E_STATE' });
    assert.throws(() => xioMempoolCreate(0.5), { code: 'EINVAL' });
  });

  it('is not taken of larger slabs where the flag says so', () => {
    const pool = xioMempoolCreate(-1, XioMempoolFlag.XIO_MEMPOOL_FLAG_USE_SMALLEST_SLAB);
    xioMempoolAddSlab(pool, 100, 0, 1, 1);
    xioMempoolAddSlab(pool, 200, 0, 1, 1);
    const buffer = xioMempoolAlloc(pool, 100);
    assert.throws(() => xioMempoolAlloc(pool, 100), { code: 'XIO_E_NO_BUFS' });
    xioMempoolFree(buffer);
    assert.equal(xioMempoolAlloc(pool, 100).length, 100);
  });
});
