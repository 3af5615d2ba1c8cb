import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Errno, type ErrnoName } from '../../../../device/ibta/index.js';
import { alloc } from '../../../../entry/index.js';
import { type Sim, simulate } from '../../../../entry/sim.js';
import {
  AddressFamily,
  Fcntl,
  MapProtection,
  MsgFlags,
  O_NONBLOCK,
  PollEvents,
  raccept,
  rbind,
  rclose,
  rconnect,
  RdmaOption,
  rfcntl,
  rgetpeername,
  rgetsockname,
  rgetsockopt,
  riomap,
  riounmap,
  riowrite,
  rlisten,
  rpoll,
  rread,
  rreadv,
  rrecv,
  rrecvmsg,
  rselect,
  rsend,
  rsendmsg,
  rsendto,
  rsetsockopt,
  rshutdown,
  rsocket,
  type Rsocket,
  ShutdownHow,
  SocketLevel,
  SocketOption,
  SocketType,
  TcpOption,
  rwritev,
} from '../../../../entry/rsocket.js';

const PORT = 7471;
const { INET } = AddressFamily;
const { STREAM, NONBLOCK } = SocketType;
const { IN, OUT, HUP, ERR, NVAL } = PollEvents;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const bytes = (words: string): Uint8Array => Buffer.from(words);

function socketOf(sim: Sim, name: string, type: number = STREAM): Rsocket {
  const host = sim.hosts.find((one) => one.name === name) ?? sim.host(name);
  return rsocket(INET, type, 0, { context: host.context });
}

async function pair(sim: Sim, prepare: (socket: Rsocket) => void = () => undefined) {
  const listener = socketOf(sim, 'server');
  const client = socketOf(sim, 'client');
  prepare(listener);
  prepare(client);
  rbind(listener, { port: PORT });
  rlisten(listener);
  const { host } = rgetsockname(listener);
  const [server] = await Promise.all([raccept(listener), rconnect(client, { host, port: PORT })]);
  return { listener, client, server, end: () => Promise.all([rclose(client), rclose(server), rclose(listener)]) };
}

async function fails(errno: ErrnoName, call: string, act: () => unknown): Promise<void> {
  await assert.rejects(Promise.resolve().then(act), { name: 'RsocketError', errno, call });
}

describe('the calls of rsocket.h', () => {
  it('make, use and end a connection as C programs do', () =>
    simulate(async (sim) => {
      const { client, server, end } = await pair(sim);
      assert.deepEqual(rgetpeername(client), rgetsockname(server));
      assert.deepEqual(rgetpeername(server), rgetsockname(client));
      assert.equal(await rsend(client, bytes('hello')), 5);
      const into = new Uint8Array(16);
      assert.equal(await rrecv(server, into, MsgFlags.PEEK), 5);
      assert.equal(await rrecv(server, into.subarray(0, 2)), 2);
      assert.equal(await rread(server, into.subarray(2)), 3);
      assert.equal(text(into.subarray(0, 5)), 'hello');
      await rshutdown(client, ShutdownHow.WR);
      assert.equal(await rrecv(server, into), 0);
      assert.equal(await rwritev(server, [bytes('good'), bytes('bye')]), 7);
      const [one, two] = [new Uint8Array(3), new Uint8Array(10)];
      assert.equal(await rreadv(client, [one, two]), 7);
      assert.equal(text(one) + text(two.subarray(0, 4)), 'goodbye');
      await end();
    }));

  it('WAITALL waits for all, several buffers are filled in turn, and a megabyte waits for room', () =>
    simulate(async (sim) => {
      const { client, server, end } = await pair(sim);
      const sent = Uint8Array.from({ length: 1 << 20 }, (_, at) => at % 251);
      const into = new Uint8Array(sent.length);
      const parts = { iov: [into.subarray(0, 7), into.subarray(7, 7), into.subarray(7)] };
      const [count, got] = await Promise.all([
        rsendmsg(client, { iov: [sent.subarray(0, 1000), sent.subarray(1000)] }),
        rrecvmsg(server, parts, MsgFlags.WAITALL),
      ]);
      assert.deepEqual([count, got], [sent.length, sent.length]);
      assert.deepEqual(into, sent);
      await end();
    }));

  it('what two parts of a program send at a time is not mixed', () =>
    simulate(async (sim) => {
      const { client, server, end } = await pair(sim);
      const size = 400_000;
      const sends = [1, 2, 3].map((value) => rsend(client, new Uint8Array(size).fill(value)));
      const into = new Uint8Array(3 * size);
      await rrecv(server, into, MsgFlags.WAITALL);
      await Promise.all(sends);
      assert.ok(into.every((value, at) => value === Math.floor(at / size) + 1));
      await end();
    }));

  it('O_NONBLOCK and DONTWAIT answer EAGAIN and EINPROGRESS, and rpoll tells when to go on', () =>
    simulate(async (sim) => {
      const listener = socketOf(sim, 'server', STREAM | NONBLOCK);
      rbind(listener, { port: PORT });
      rlisten(listener);
      await fails('EAGAIN', 'raccept', () => raccept(listener));
      const client = socketOf(sim, 'client');
      rfcntl(client, Fcntl.SETFL, O_NONBLOCK);
      assert.equal(rfcntl(client, Fcntl.GETFL), O_NONBLOCK);
      const address = { host: rgetsockname(listener).host, port: PORT };
      await fails('EINPROGRESS', 'rconnect', () => rconnect(client, address));
      await fails('EAGAIN', 'rrecv', () => rrecv(client, new Uint8Array(1)));
      const polled = { fd: client, events: IN | OUT, revents: 0 };
      assert.equal(await rpoll([polled]), 1);
      assert.equal(polled.revents, OUT);
      assert.equal(rgetsockopt(client, SocketLevel.SOCKET, SocketOption.ERROR), 0);
      assert.equal(await rpoll([{ fd: listener, events: IN, revents: 0 }]), 1);
      const server = await raccept(listener);
      let sent = 0;
      const piece = new Uint8Array(50_000);
      const full = async (): Promise<void> => {
        for (;;) sent += await rsend(client, piece);
      };
      // What has arrived makes room, until the peer's buffer is full as well.
      do await fails('EAGAIN', 'rsend', full);
      while ((await rpoll([polled], 10)) > 0);
      await rrecv(server, new Uint8Array(sent), MsgFlags.WAITALL);
      assert.equal(await rpoll([polled]), 1);
      await fails('EAGAIN', 'rrecv', () => rrecv(server, piece, MsgFlags.DONTWAIT));
      await Promise.all([rclose(client), rclose(server), rclose(listener)]);
    }));

  it('a connection that is refused is told by SO_ERROR, once', () =>
    simulate(async (sim) => {
      const host = sim.host('server').context.address;
      const client = socketOf(sim, 'client', STREAM | NONBLOCK);
      await fails('EINPROGRESS', 'rconnect', () => rconnect(client, { host, port: PORT }));
      const polled = { fd: client, events: OUT, revents: 0 };
      await rpoll([polled]);
      assert.equal(polled.revents, OUT | ERR);
      assert.equal(rgetsockopt(client, SocketLevel.SOCKET, SocketOption.ERROR), Errno.ECONNREFUSED);
      assert.equal(rgetsockopt(client, SocketLevel.SOCKET, SocketOption.ERROR), 0);
      await fails('ENOTCONN', 'rsend', () => rsend(client, bytes('a')));
      await rclose(client);
      await assert.rejects(rconnect(socketOf(sim, 'client'), { host, port: PORT }), { errno: 'ECONNREFUSED' });
    }));

  it('rpoll and rselect find what can be read, what has hung up and what is closed', () =>
    simulate(async (sim) => {
      const { client, server, listener } = await pair(sim);
      const other = socketOf(sim, 'client');
      await rsend(client, bytes('a'));
      const reading = new Set([server, other]);
      assert.equal(await rselect(reading), 1);
      assert.deepEqual([...reading], [server]);
      await Promise.all([rshutdown(client, ShutdownHow.RDWR), rshutdown(server, ShutdownHow.RDWR)]);
      const fds = [
        { fd: server, events: IN, revents: 0 },
        { fd: other, events: IN | OUT, revents: 0 },
      ];
      while ((fds[0].revents & HUP) === 0) await rpoll(fds);
      assert.deepEqual(
        fds.map(({ revents }) => revents),
        [IN | HUP, 0],
      );
      assert.equal(await rrecv(server, new Uint8Array(4)), 1);
      await rclose(other);
      await rpoll(fds);
      assert.equal(fds[1].revents, NVAL);
      await Promise.all([rclose(client), rclose(server), rclose(listener)]);
    }));

  it('options are stored as in C, and those of the listener are inherited', () =>
    simulate(async (sim) => {
      const { client, server, end } = await pair(sim, (socket) => {
        rsetsockopt(socket, SocketLevel.SOCKET, SocketOption.SNDBUF, 1000);
        rsetsockopt(socket, SocketLevel.SOCKET, SocketOption.RCVBUF, 30_000);
        rsetsockopt(socket, SocketLevel.RDMA, RdmaOption.SQSIZE, 100_000);
        rsetsockopt(socket, SocketLevel.RDMA, RdmaOption.IOMAPSIZE, 300);
      });
      for (const socket of [client, server]) {
        assert.equal(rgetsockopt(socket, SocketLevel.SOCKET, SocketOption.SNDBUF), 4096);
        assert.equal(rgetsockopt(socket, SocketLevel.SOCKET, SocketOption.RCVBUF), 60_000);
        assert.equal(rgetsockopt(socket, SocketLevel.RDMA, RdmaOption.SQSIZE), 0xfffe);
        assert.equal(rgetsockopt(socket, SocketLevel.RDMA, RdmaOption.IOMAPSIZE), 256);
        assert.equal(rgetsockopt(socket, SocketLevel.TCP, TcpOption.KEEPIDLE), 7200);
      }
      // Too late: without effect, or refused.
      rsetsockopt(client, SocketLevel.SOCKET, SocketOption.RCVBUF, 1);
      assert.equal(rgetsockopt(client, SocketLevel.SOCKET, SocketOption.RCVBUF), 60_000);
      await fails('EINVAL', 'rsetsockopt', () => rsetsockopt(client, SocketLevel.RDMA, RdmaOption.INLINE, 1));
      await fails('EINVAL', 'rsetsockopt', () => rsetsockopt(client, SocketLevel.TCP, TcpOption.KEEPIDLE, 0));
      await fails('EOPNOTSUPP', 'rgetsockopt', () => rgetsockopt(client, SocketLevel.TCP, 99));
      await end();
    }));

  it('riowrite writes where the peer has mapped memory, before what is sent afterwards, and no further', () =>
    simulate(async (sim) => {
      const { client, server, end } = await pair(sim, (socket) =>
        rsetsockopt(socket, SocketLevel.RDMA, RdmaOption.IOMAPSIZE, 1),
      );
      const memory = alloc(200_000);
      assert.equal(riomap(server, memory, MapProtection.WRITE, 0, 1000), 1000n);
      await fails('EINVAL', 'riomap', () => riomap(server, memory, MapProtection.READ));
      await rsend(server, bytes('m'));
      await rrecv(client, new Uint8Array(1));
      const sent = Uint8Array.from({ length: memory.length }, (_, at) => at % 251);
      assert.equal(await riowrite(client, sent, 1000), sent.length);
      assert.equal(await riowrite(client, sent.subarray(0, 500), 1000 + memory.length - 100), 100);
      assert.equal(await riowrite(client, sent, 0), 0);
      await rsend(client, bytes('w'));
      await rrecv(server, new Uint8Array(1));
      assert.deepEqual(memory.subarray(0, -100), sent.subarray(0, -100));
      assert.deepEqual(memory.subarray(-100), sent.subarray(0, 100));
      riounmap(server, memory);
      await end();
    }));

  it('sizes that are set at a listener count for what comes afterwards', () =>
    simulate(async (sim) => {
      const { listener, client, server } = await pair(sim);
      rsetsockopt(listener, SocketLevel.SOCKET, SocketOption.RCVBUF, 3000);
      const { host } = rgetsockname(listener);
      const second = socketOf(sim, 'client', STREAM);
      const [small] = await Promise.all([raccept(listener), rconnect(second, { host, port: PORT })]);
      rfcntl(second, Fcntl.SETFL, O_NONBLOCK);
      const polled = { fd: second, events: OUT, revents: 0 };
      let taken = 0;
      while ((await rpoll([polled], 10)) > 0) taken += await rsend(second, new Uint8Array(1 << 20)).catch(() => 0);
      const readable = new Uint8Array(1 << 20);
      assert.equal(await rrecv(small, readable, MsgFlags.PEEK), 6000);
      assert.equal(taken, 6000);
      await Promise.all([client, server, second, small, listener].map((socket) => rclose(socket)));
    }));

  it('wrong calls are refused with the errno of C', () =>
    simulate(async (sim) => {
      const socket = socketOf(sim, 'client');
      await fails('EOPNOTSUPP', 'rsocket', () => rsocket(INET, 3));
      await fails('EOPNOTSUPP', 'rsocket', () => rsocket(INET, SocketType.DGRAM, 6));
      await fails('EOPNOTSUPP', 'rsocket', () => rsocket(INET, STREAM, 17));
      await fails('ENOTCONN', 'rsend', () => rsend(socket, bytes('a')));
      await fails('ENOTCONN', 'rgetpeername', () => rgetpeername(socket));
      await fails('EBADF', 'raccept', () => raccept(socket));
      await fails('EISCONN', 'rsendto', () => rsendto(socket, bytes('a'), 0, { host: '192.0.2.1', port: 1 }));
      const { client, server, end } = await pair(sim);
      await fails('EISCONN', 'rconnect', () => rconnect(client, { host: '192.0.2.1', port: 1 }));
      await fails('EOPNOTSUPP', 'rsendmsg', () => rsendmsg(client, { iov: [], control: bytes('a') }));
      await rshutdown(client, ShutdownHow.WR);
      await fails('ECONNRESET', 'rsend', () => rsend(client, bytes('a')));
      await end();
      await fails('EBADF', 'rrecv', () => rrecv(server, new Uint8Array(1)));
      await fails('EBADF', 'rclose', () => rclose(server));
    }));

  it('a signal ends a wait, and the socket can be used after that', () =>
    simulate(async (sim) => {
      const { client, server, end } = await pair(sim);
      const controller = new AbortController();
      const waiting = rrecv(server, new Uint8Array(1), 0, { signal: controller.signal });
      controller.abort(new Error('enough'));
      await assert.rejects(waiting, /enough/);
      await rsend(client, bytes('b'));
      const into = new Uint8Array(1);
      assert.equal(await rrecv(server, into), 1);
      assert.equal(text(into), 'b');
      await end();
    }));
});
