import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, alloc, SendFlags, WrOpcode } from '../../../../entry/index.js';
import { simulate } from '../../../../entry/sim.js';
import { Engine } from '../../../core/index.js';
import { type Link, rdmaTransport } from '../../transport/index.js';
import { encodeHello, helloOf } from '../../transport/rdma/hello.js';
import { LinkEnd } from '../support/link-end.js';

const MAX_BODY_BYTES = 1 << 20;
const RECEIVES = 64;
const BUFFER_BYTES = 9216;
const MARK = 0x66;

describe('a peer that breaks the protocol before the server has the connection', () => {
  it('and says nothing then leaves others a buffer to send with', () =>
    simulate(async (sim) => {
      const [server, good, bad] = [sim.host('server'), sim.host('good'), sim.host('bad')];
      const options = { inlineBytes: 8192, maxBodyBytes: MAX_BODY_BYTES, port: 7000 };
      const ends: LinkEnd[] = [];
      const open = (link: Link): number => {
        const end = new LinkEnd(link);
        link.open(end);
        return ends.push(end);
      };
      const listener = await server.run(() => rdmaTransport.listen(options, open));
      open(await good.run(() => rdmaTransport.connect({ ...options, host: 'server', timeoutMs: 5000 })));
      await sim.sleep(1000);
      const { pool } = Engine.of(server.context);
      const others = [pool.largest, BUFFER_BYTES].flatMap((bytes) => {
        const leases = [];
        for (let lease = pool.tryLease(bytes, 'others'); lease !== undefined; lease = pool.tryLease(bytes, 'others'))
          leases.push(lease);
        return leases;
      });
      for (const lease of others.splice(others.length - RECEIVES)) lease.release();
      await bad
        .connect({ host: 'server', port: 7000, privateData: encodeHello(helloOf(MAX_BODY_BYTES)) })
        .catch(() => undefined);
      await sim.sleep(1000);
      const [served] = ends.filter(({ link }) => link.localAddress?.port === 7000);
      assert.ok(served.link.canSend);
      listener.close();
    }));

  it('has no more frames kept than it has credit for, while nobody has opened the link', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = await server.run(() =>
        rdmaTransport.listen({ inlineBytes: 8192, maxBodyBytes: MAX_BODY_BYTES, port: 7000 }, () => undefined),
      );
      const { qp, closed } = await client.connect({
        host: 'server',
        port: 7000,
        privateData: encodeHello(helloOf(MAX_BODY_BYTES)),
        qp: { cap: { maxSendWr: 4 * RECEIVES, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 } },
        rnrRetryCount: 7,
      });
      for (let i = 0; i < 4 * RECEIVES; i += 1)
        qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [] });
      await closed;
      assert.equal(Engine.of(server.context).pool.leased, 0);
      listener.close();
    }));

  it('writes into no buffer that the server has lent to others since, and loses its connection', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const { pool } = Engine.of(server.context);
      const links: Link[] = [];
      const listener = await server.run(() =>
        rdmaTransport.listen({ inlineBytes: 8192, maxBodyBytes: MAX_BODY_BYTES, port: 7000 }, (link) =>
          links.push(link),
        ),
      );
      const connection = await client.connect({
        host: 'server',
        port: 7000,
        privateData: encodeHello(helloOf(MAX_BODY_BYTES)),
        qp: { cap: { maxSendWr: RECEIVES, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 } },
      });
      const { qp } = connection;
      // It needs no key, and comes before accept has resolved.
      qp.postSend({
        opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
        sendFlags: SendFlags.SIGNALED,
        immData: 1,
        sgList: [],
        rdma: { remoteAddr: 0n, rkey: 0 },
      });
      await sim.sleep(1_000_000);
      const victims = Array.from({ length: RECEIVES }, () => pool.lease(BUFFER_BYTES, 'others'));
      for (const { bytes } of victims) bytes.fill(1);
      const mr = qp.pd.regMr(alloc(4096).fill(MARK), AccessFlags.LOCAL_WRITE);
      const sgList = [{ addr: mr.addr, length: 4096, lkey: mr.lkey }];
      for (let i = 1; i < RECEIVES; i += 1)
        qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList });
      await sim.sleep(5_000_000);
      assert.equal(victims.filter(({ bytes }) => bytes.includes(MARK)).length, 0);
      await connection.closed;
      for (const victim of victims) victim.release();
      assert.equal(pool.leased, 0);
      listener.close();
    }));
});
