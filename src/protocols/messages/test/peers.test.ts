import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  alloc,
  type CmId,
  type Connection,
  RefusedError,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { type SimHost, simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { ClosedError, connect, listen, ProtocolError, RequestError } from '../index.js';
import { encodeHello, type Hello } from '../protocol/hello.js';
import { immediateOf, Kind } from '../protocol/kinds.js';
import { connected, PORT, text, words } from './support/pair.js';

const HELLO: Hello = { window: 4, maxWindow: 64, bufferBytes: 4096, maxMessageBytes: 100_000 };

/** A peer made of raw verbs that speaks the protocol as far as it is told to. */
async function rawPeer(host: SimHost, hello = encodeHello(HELLO)): Promise<Connection> {
  return host.run(() =>
    host.connect({
      host: 'server',
      port: PORT,
      privateData: hello,
      qp: { cap: { maxSendWr: 64, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 } },
      prepare: (id: CmId) => {
        for (let i = 0; i < 8; i += 1) id.postRecv(0n, id.regMsgs(alloc(4096)).sge());
      },
    }),
  );
}

function sendRaw(peer: Connection, immData: number, length: number): void {
  const sgList = length === 0 ? [] : [peer.regMsgs(alloc(length)).sge()];
  peer.qp.postSend({ opcode: WrOpcode.SEND_WITH_IMM, sendFlags: SendFlags.SIGNALED, immData, sgList });
}

const LIES: Readonly<Record<string, [act: (peer: Connection) => void, what: RegExp]>> = {
  'an unknown kind': [(peer) => sendRaw(peer, immediateOf(77, 0, 4), 1), /kind 77/],
  'credit that it cannot have': [(peer) => sendRaw(peer, immediateOf(Kind.CREDIT, 0, 5000), 0), /number 5000/],
  'what it has no credit for': [
    (peer) => {
      for (let i = 0; i < 26; i += 1) sendRaw(peer, immediateOf(Kind.MORE, 0, 4), 4096);
    },
    /without credit/,
  ],
  'a message longer than a buffer': [
    (peer) => sendRaw(peer, immediateOf(Kind.DATA, 0, 4), 5000),
    /longer than the buffers/,
  ],
  'a message without immediate data': [
    (peer) => peer.postSend(0n, peer.regMsgs(alloc(1)).sge(), SendFlags.SIGNALED),
    /without immediate data/,
  ],
};

describe('a listener', () => {
  for (const [what, [act, sentence]] of Object.entries(LIES))
    it(`ends the connection of a client that sends ${what}, and no other`, () =>
      simulate(async (sim) => {
        const [server, good, bad] = [sim.host('server'), sim.host('good'), sim.host('bad')];
        const listener = listen({ port: PORT, context: server.context, maxMessageBytes: 100_000 });
        const failures: unknown[] = [];
        const served = listener.serve(
          async (connection) => {
            for await (const message of connection.messages()) await connection.send(message);
          },
          { onError: (error) => failures.push(error) },
        );
        const client = await good.run(() => connect({ host: 'server', port: PORT }));
        const liar = await rawPeer(bad);
        act(liar);
        await liar.closed;
        await client.send(text('still there?'));
        assert.equal(words(await client.receive()), 'still there?');
        assert.equal(failures.length, 1);
        assert.ok(failures[0] instanceof ProtocolError);
        assert.match(failures[0].message, sentence);
        assert.equal(failures[0].errno, 'EPROTO');
        await client.close();
        listener.close();
        await served;
        assert.equal(Engine.of(server.context).pool.leased, 0);
      }));

  it('says farewell to a liar, with what it has lied about', () =>
    simulate(async (sim) => {
      const [server, bad] = [sim.host('server'), sim.host('bad')];
      const listener = listen({ port: PORT, context: server.context });
      void listener.serve((connection) => connection.closed);
      const liar = await rawPeer(bad);
      sendRaw(liar, immediateOf(77, 0, 4), 1);
      const { status, immData, byteLen } = await liar.recvComp();
      assert.equal(status, WcStatus.SUCCESS);
      assert.equal(immData >>> 24, Kind.CLOSE);
      assert.ok(byteLen > 10);
      listener.close();
    }));

  it('refuses a client that speaks something else, with a sentence', () =>
    simulate(async (sim) => {
      const [server, other] = [sim.host('server'), sim.host('other')];
      const listener = listen({ port: PORT, context: server.context });
      const served = listener.serve(() => {});
      await assert.rejects(rawPeer(other, new Uint8Array(0)), (error) => {
        assert.ok(error instanceof RefusedError);
        assert.match(Buffer.from(error.privateData).toString(), /the client does not speak the protocol/);
        return true;
      });
      const version = encodeHello(HELLO);
      version[4] = 9;
      await assert.rejects(rawPeer(other, version), (error) => {
        assert.ok(error instanceof RefusedError);
        assert.match(Buffer.from(error.privateData).toString(), /speaks version 9 of the protocol, this end version 1/);
        return true;
      });
      listener.close();
      await served;
    }));

  it('tells clients that there are too many of them', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = listen({ port: PORT, context: server.context });
      const served = listener.serve((connection) => connection.closed, { maxConnections: 1 });
      const call = () => client.run(() => connect({ host: 'server', port: PORT }));
      const first = await call();
      await assert.rejects(
        call(),
        /the peer refused the connection: it has 1 connections, as many as it takes \(EBUSY\)/,
      );
      await first.close();
      await sim.sleep(10_000);
      const second = await call();
      await second.close();
      listener.close();
      await served;
    }));

  it('survives handlers that throw, and tells their clients', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = listen({ port: PORT, context: server.context });
      const mistake = new Error('a mistake');
      const errors: unknown[] = [];
      const served = listener.serve(
        async (connection) => {
          await connection.receive();
          throw mistake;
        },
        { onError: (error) => errors.push(error) },
      );
      for (let i = 0; i < 3; i += 1) {
        const connection = await client.run(() => connect({ host: 'server', port: PORT }));
        await connection.send(text('x'));
        await assert.rejects(connection.receive(), /the peer's program has failed/);
        assert.ok(connection.failure instanceof ClosedError);
      }
      listener.close();
      await served;
      assert.deepEqual(errors, [mistake, mistake, mistake]);
    }));

  it('is not held up by a client that takes nothing', () =>
    simulate(async (sim) => {
      const [server, slow, quick] = [sim.host('server'), sim.host('slow'), sim.host('quick')];
      const listener = listen({ port: PORT, context: server.context });
      const served = listener.serve(async (connection) => {
        const sends = Array.from({ length: 100 }, (_, i) => connection.send(text(String(i))).catch(() => undefined));
        await Promise.all(sends);
      });
      const [atSlow, atQuick] = [
        await slow.run(() => connect({ host: 'server', port: PORT, window: 4 })),
        await quick.run(() => connect({ host: 'server', port: PORT })),
      ];
      for (let i = 0; i < 100; i += 1) assert.equal(words(await atQuick.receive()), String(i));
      assert.equal(atSlow.statistics.waiting, 2);
      for (let i = 0; i < 100; i += 1) assert.equal(words(await atSlow.receive()), String(i));
      assert.equal(slow.counters()['rcvd_rnr_err'] ?? 0, 0);
      await Promise.all([atSlow.close(), atQuick.close()]);
      listener.close();
      await served;
    }));
});

describe('a client', () => {
  it('finds out that the server speaks something else', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const raw = server.listen({ port: PORT });
      const served = raw.serve(async (request) => {
        const connection = await request.accept();
        await connection.closed;
      });
      await assert.rejects(
        client.run(() => connect({ host: 'server', port: PORT })),
        (error) => error instanceof ProtocolError && error.message.includes('does not speak the protocol'),
      );
      raw.close();
      await served;
      assert.equal(Engine.of(client.context).pool.leased, 0);
    }));

  it('leaves nothing behind when nobody listens', () =>
    simulate(async (sim) => {
      const [, client] = [sim.host('server'), sim.host('client')];
      await assert.rejects(
        client.run(() => connect({ host: 'server', port: PORT })),
        { errno: 'ECONNREFUSED' },
      );
      const engine = Engine.of(client.context);
      assert.equal(engine.pool.leased, 0);
      assert.equal(engine.statistics.outstanding.size, 0);
    }));

  it('settles everything when its peer dies', () =>
    simulate(async (sim) => {
      const { atClient, atServer, server } = await connected(sim);
      using shared = atServer.share(new Uint8Array(8));
      const { remote } = shared;
      const waiting = [atClient.receive(), atClient.closed];
      server.crash();
      const doomed = [
        atClient.send(text('x')),
        atClient.send(new Uint8Array(100_000)),
        atClient.read(remote, 8),
        atClient.write(remote, text('x')),
      ];
      const results = await Promise.allSettled([...doomed, ...waiting]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['rejected', 'rejected', 'rejected', 'rejected', 'rejected', 'fulfilled'],
      );
      assert.ok(atClient.failure instanceof RequestError);
      assert.equal(atClient.failure.status, WcStatus.RETRY_EXC_ERR);
      assert.match(atClient.failure.message, /no answer/);
      await atClient.close();
    }));

  it('settles everything when its device is closed', () =>
    simulate(async (sim) => {
      const { atClient, client } = await connected(sim, { window: 4 });
      const doomed = [atClient.receive(), ...Array.from({ length: 5 }, () => atClient.send(new Uint8Array(10_000)))];
      client.context[Symbol.dispose]();
      const results = await Promise.allSettled(doomed);
      assert.ok(results.every(({ status }) => status === 'rejected'));
      await atClient.closed;
      await atClient.close();
    }));

  it('settles everything when it is closed, and takes nothing more', () =>
    simulate(async (sim) => {
      const { atClient } = await connected(sim, { window: 4 });
      const receiving = atClient.receive();
      const sends = Promise.allSettled(Array.from({ length: 5 }, () => atClient.send(text('x'))));
      await atClient.close({ timeoutMs: 10 });
      assert.equal(await receiving, undefined);
      assert.deepEqual(
        (await sends).map((result) =>
          result.status === 'fulfilled' ? '' : (result.reason as { errno: string }).errno,
        ),
        ['', '', 'ECANCELED', 'ECANCELED', 'ECANCELED'],
      );
      await assert.rejects(atClient.send(text('x')), { errno: 'ENOTCONN', name: 'ClosedError' });
      assert.equal(await atClient.receive(), undefined);
      assert.equal(atClient.failure, undefined);
    }));

  it('learns that its peer has closed with messages left to send, and of no other close', () =>
    simulate(async (sim) => {
      const { atClient, atServer } = await connected(sim, { window: 4 });
      const sends = Promise.allSettled(Array.from({ length: 5 }, (_, i) => atServer.send(text(String(i)))));
      await atServer.close({ timeoutMs: 10 });
      const sent = (await sends).filter(({ status }) => status === 'fulfilled').length;
      assert.ok(sent > 0 && sent < 5, String(sent));
      for (let i = 0; i < sent; i += 1) assert.equal(words(await atClient.receive()), String(i));
      await assert.rejects(atClient.receive(), {
        name: 'ClosedError',
        errno: 'ECONNRESET',
        message: new RegExp(`closed the connection early: it had ${5 - sent} messages left to send`),
      });
    }));

  it('is told what a request of more than the peer takes is', () =>
    simulate(async (sim) => {
      const { atClient } = await connected(sim, { maxMessageBytes: 1000 });
      assert.equal(atClient.maxMessageBytes, 1000);
      await assert.rejects(atClient.send(new Uint8Array(1001)), /EMSGSIZE/);
    }));
});
