import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ErrnoName } from '../../../../device/ibta/index.js';
import { type Sim, simulate } from '../../../../entry/sim.js';
import {
  AddressFamily,
  MsgFlags,
  PollEvents,
  raccept,
  rbind,
  rclose,
  rconnect,
  rgetpeername,
  rgetsockname,
  riomap,
  rlisten,
  rpoll,
  rrecv,
  rrecvfrom,
  rrecvmsg,
  rsend,
  rsendmsg,
  rsendto,
  rsocket,
  type Rsocket,
  SocketType,
} from '../../../../entry/rsocket.js';

const PORT = 7174;
const { INET, INET6 } = AddressFamily;
const { DGRAM, NONBLOCK } = SocketType;
const { IN, OUT } = PollEvents;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const bytes = (words: string): Uint8Array => Buffer.from(words);

function socketOf(sim: Sim, name: string, type: number = DGRAM, address?: string): Rsocket {
  const known = sim.hosts.find((one) => one.name === name);
  const host = known ?? sim.host(name, address === undefined ? {} : { address });
  return rsocket(host.address.includes(':') ? INET6 : INET, type, 0, { context: host.context });
}

function pair(sim: Sim, addresses: readonly [string?, string?] = []) {
  const server = socketOf(sim, 'server', DGRAM, addresses[0]);
  const client = socketOf(sim, 'client', DGRAM, addresses[1]);
  rbind(server, { port: PORT });
  return { server, client, there: rgetsockname(server), end: () => Promise.all([rclose(client), rclose(server)]) };
}

async function fails(errno: ErrnoName, call: string, act: () => unknown): Promise<void> {
  await assert.rejects(Promise.resolve().then(act), { name: 'RsocketError', errno, call });
}

async function received(socket: Rsocket, from?: { host: string; port: number }): Promise<string> {
  const into = new Uint8Array(4096);
  return text(into.subarray(0, await rrecvfrom(socket, into, 0, from)));
}

describe('sockets for datagrams', () => {
  it('find each other by UDP, and say who has sent what', () =>
    simulate(async (sim) => {
      const { server, client, there, end } = pair(sim);
      assert.equal(await rsendto(client, bytes('who is there?'), 0, there), 13);
      const from = { host: '', port: 0 };
      assert.equal(await received(server, from), 'who is there?');
      assert.deepEqual(from, rgetsockname(client));
      for (const words of ['I am', 'and still am']) {
        await rsendto(server, bytes(words), 0, from);
        const sender = { host: '', port: 0 };
        assert.equal(await received(client, sender), words);
        assert.deepEqual(sender, there);
      }
      await end();
    }));

  it('of IPv6 do the same', () =>
    simulate(async (sim) => {
      const { server, client, there, end } = pair(sim, ['fd00::1', 'fd00::2']);
      await rconnect(client, there);
      const from = { host: '', port: 0 };
      for (const words of ['by UDP', 'by the queue pair']) {
        await rsend(client, bytes(words));
        assert.equal(await received(server, from), words);
        await rsendto(server, bytes(words), 0, from);
        assert.equal(await received(client), words);
      }
      await end();
    }));

  it('that are connected send there without being told, and take nothing of others', () =>
    simulate(async (sim) => {
      const { server, client, there, end } = pair(sim);
      const stranger = socketOf(sim, 'stranger');
      await rconnect(client, there);
      assert.deepEqual(rgetpeername(client), there);
      for (const socket of [stranger, client, stranger, client]) {
        await rsendto(socket, bytes('?'), 0, there);
        const from = { host: '', port: 0 };
        await received(server, from);
        // By UDP at first, and then by the queue pair.
        await rsendto(stranger, bytes('an answer of somebody else'), 0, rgetsockname(client));
        await rsendto(server, bytes('the answer'), 0, rgetsockname(client));
        assert.equal(await received(client), 'the answer');
      }
      await rclose(stranger);
      await end();
    }));

  it('that are connected take nothing of those who know their queue pair from before', () =>
    simulate(async (sim) => {
      const { server, client, there, end } = pair(sim);
      const stranger = socketOf(sim, 'stranger');
      rbind(client, {});
      await rsendto(stranger, bytes('by UDP'), 0, rgetsockname(client));
      assert.equal(await received(client), 'by UDP');
      await rconnect(client, there);
      await sim.sleep(100);
      await rsendto(stranger, bytes('by the queue pair'), 0, rgetsockname(client));
      await sim.sleep(100);
      assert.equal(sim.packets().at(-1)?.opcode, 'UD_SEND_ONLY');
      await rsendto(server, bytes('the answer'), 0, rgetsockname(client));
      assert.equal(await received(client), 'the answer');
      await rclose(stranger);
      await end();
    }));

  it('take several buffers as one datagram, and forget what does not fit', () =>
    simulate(async (sim) => {
      const { server, client, there, end } = pair(sim);
      const name = { host: '', port: 0 };
      for (const [first, second] of [
        ['by', ' UDP'],
        ['by the', ' queue pair'],
      ]) {
        await rsendmsg(client, { iov: [bytes(first), bytes(second)], name: there });
        const [one, two] = [new Uint8Array(2), new Uint8Array(4)];
        const message = { iov: [one, two], name };
        assert.equal(await rrecvmsg(server, message, MsgFlags.PEEK), 6);
        assert.equal(await rrecvmsg(server, message), 6);
        assert.equal(text(one) + text(two), (first + second).slice(0, 6));
      }
      assert.deepEqual(name, rgetsockname(client));
      assert.equal(await rsendto(client, new Uint8Array(0), 0, there), 0);
      assert.equal(await rrecv(server, new Uint8Array(1)), 0);
      await end();
    }));

  it('have 2,048 bytes with their header at most, and as many as a packet has room for', () =>
    simulate(async (sim) => {
      for (const { addresses, most, mtuBytes: maxPacketBytes } of [
        { addresses: ['10.0.1.1', '10.0.1.2'], most: 2040, mtuBytes: 4096 },
        { addresses: ['fd00::1', 'fd00::2'], most: 2024, mtuBytes: 4096 },
        { addresses: ['10.0.3.1', '10.0.3.2'], most: 1016, mtuBytes: 1500 },
      ] as const) {
        const [server, client] = addresses.map((address) => {
          const { context } = sim.host(`at ${address}`, { address, maxPacketBytes });
          return rsocket(address.includes(':') ? INET6 : INET, DGRAM, 0, { context });
        });
        rbind(server, {});
        await rconnect(client, rgetsockname(server));
        for (let turn = 0; turn < 3; turn += 1) {
          const sent = new Uint8Array(most).fill(turn + 1);
          assert.equal(await rsend(client, sent), most);
          const into = new Uint8Array(4096);
          assert.equal(await rrecv(server, into), most);
          assert.deepEqual(into.subarray(0, most), sent);
          await fails('EMSGSIZE', 'rsend', () => rsend(client, new Uint8Array(most + 1)));
        }
        await Promise.all([rclose(server), rclose(client)]);
      }
    }));

  it('answer EAGAIN where they are not to wait, and rpoll tells when to go on', () =>
    simulate(async (sim) => {
      const { server, there, end } = pair(sim);
      const quick = socketOf(sim, 'client', DGRAM | NONBLOCK);
      await fails('EINVAL', 'rrecv', () => rrecv(quick, new Uint8Array(1)));
      await rconnect(quick, there);
      await fails('EAGAIN', 'rrecv', () => rrecv(quick, new Uint8Array(1)));
      const fds = [{ fd: quick, events: IN | OUT, revents: 0 }];
      assert.equal(await rpoll(fds), 1);
      assert.equal(fds[0].revents, OUT);
      const fd = { fd: server, events: IN, revents: 0 };
      assert.equal(await rpoll([fd], 1), 0);
      await rsend(quick, bytes('!'));
      assert.equal(await rpoll([fd]), 1);
      assert.equal(await received(server), '!');
      let sent = 0;
      const flood = async (): Promise<void> => {
        for (; sent < 10_000; sent += 1) await rsend(quick, new Uint8Array(2000), MsgFlags.DONTWAIT);
      };
      await fails('EAGAIN', 'rsend', flood);
      assert.equal(await rpoll([{ fd: quick, events: OUT, revents: 0 }]), 1);
      await rclose(quick);
      await end();
    }));

  it('lose what nobody reads beyond their receive buffer, and go on', () =>
    simulate(async (sim) => {
      const { server, client, there, end } = pair(sim);
      await rconnect(client, there);
      await rsend(client, bytes('first'));
      assert.equal(await received(server), 'first');
      for (let i = 0; i < 500; i += 1) await rsend(client, Uint8Array.of(i & 0xff, i >> 8));
      await sim.sleep(1000);
      const into = new Uint8Array(2);
      let count = 0;
      for (let next = 0; (await rpoll([{ fd: server, events: IN, revents: 0 }], 1)) === 1; next += 1, count += 1) {
        await rrecv(server, into);
        assert.equal(into[0] | (into[1] << 8), next);
      }
      // 131,072 bytes by 2,048.
      assert.equal(count, 64);
      await rsend(client, bytes('again'));
      assert.equal(await received(server), 'again');
      await end();
    }));

  it('find a peer again that has come back with another queue pair', () =>
    simulate(async (sim) => {
      const { server, client, there, end } = pair(sim);
      await rconnect(client, there);
      for (const words of ['one', 'two']) {
        await rsend(client, bytes(words));
        assert.equal(await received(server), words);
      }
      const other = socketOf(sim, 'server');
      rbind(other, {});
      await rclose(server);
      const again = socketOf(sim, 'server');
      rbind(again, { port: PORT });
      // Nobody says that these arrive nowhere.
      await rsend(client, bytes('lost'));
      await sim.sleep(6_000_000);
      await rsend(client, bytes('three'));
      assert.equal(await received(again), 'three');
      await sim.sleep(100);
      await rsend(client, bytes('four'));
      assert.equal(await received(again), 'four');
      await Promise.all([rclose(again), rclose(other)]);
      await end().catch(() => undefined);
    }));

  it('get through a network that loses, doubles and corrupts, whole or not at all', () =>
    simulate({ conditions: { loss: 0.2, duplication: 0.1, corruption: 0.1, reordering: 0.1 } }, async (sim) => {
      const { server, client, there, end } = pair(sim);
      await rconnect(client, there);
      const heard = new Set<number>();
      const [into, fd] = [new Uint8Array(64), { fd: server, events: IN, revents: 0 }];
      for (let i = 0; i < 200; i += 1) {
        await rsend(client, new Uint8Array(64).fill(i));
        if ((await rpoll([fd], 1)) === 0) continue;
        assert.equal(await rrecv(server, into), 64);
        assert.ok(into.every((value) => value === into[0]));
        heard.add(into[0]);
      }
      assert.ok(heard.size > 100, `${heard.size} of 200`);
      await end();
    }));

  it('are refused what only streams can, and addresses that are nobody’s', () =>
    simulate(async (sim) => {
      const { server, client, there, end } = pair(sim);
      await fails('EOPNOTSUPP', 'rlisten', () => rlisten(server));
      await fails('EOPNOTSUPP', 'raccept', () => raccept(server));
      await fails('EOPNOTSUPP', 'riomap', () => riomap(server, new Uint8Array(1), 2));
      await fails('EDESTADDRREQ', 'rsend', () => rsend(server, bytes('!')));
      await fails('ENOTCONN', 'rgetpeername', () => rgetpeername(server));
      await fails('EINVAL', 'rbind', () => rbind(server, {}));
      await fails('EINVAL', 'rsendto', () => rsendto(server, bytes('!'), 0, { host: '10.0.0.9' }));
      await fails('EAFNOSUPPORT', 'rsendto', () => rsendto(server, bytes('!'), 0, { host: 'fd00::1', port: 1 }));
      await fails('EOPNOTSUPP', 'rsendto', () => rsendto(server, bytes('!'), 0, { host: '224.0.0.5', port: 1 }));
      const other = socketOf(sim, 'server');
      assert.throws(() => rbind(other, { port: PORT }), { errno: 'EADDRINUSE' });
      await rclose(other);
      await fails('EBADF', 'rsendto', () => rsendto(other, bytes('!'), 0, there));
      // Whether anybody is there nobody tells.
      await rsendto(client, bytes('!'), 0, { host: there.host, port: 9 });
      await rsendto(client, bytes('!'), 0, { host: '10.0.0.99', port: 9 });
      await end();
    }));
});
