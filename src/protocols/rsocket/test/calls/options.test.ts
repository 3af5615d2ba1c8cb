import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { ErrnoName } from '../../../../device/ibta/index.js';
import { CaptureReader } from '../../../../device/wire/index.js';
import { type Sim, simulate } from '../../../../entry/sim.js';
import {
  AddressFamily,
  IpOption,
  Ipv6Option,
  raccept,
  rbind,
  rclose,
  rconnect,
  RdmaOption,
  rgetpeername,
  rgetsockname,
  rgetsockopt,
  rlisten,
  rrecv,
  rsend,
  rsetsockopt,
  rsocket,
  type Rsocket,
  ShutdownHow,
  rshutdown,
  SocketLevel,
  SocketOption,
  SocketType,
  TcpOption,
  TcpState,
} from '../../../../entry/rsocket.js';

const PORT = 7471;
const OWN_PORT = 5555;
const { INET, INET6 } = AddressFamily;
const { SOCKET, IP, IPV6, TCP, RDMA } = SocketLevel;
const { REUSEADDR } = SocketOption;

const folder = mkdtempSync(join(tmpdir(), 'verbena-options-'));
after(() => rmSync(folder, { recursive: true }));

function socketOf(sim: Sim, name: string, domain: AddressFamily = INET, type: number = SocketType.STREAM): Rsocket {
  const host = sim.hosts.find((one) => one.name === name) ?? sim.host(name);
  return rsocket(domain, type, 0, { context: host.context });
}

function pair(sim: Sim) {
  const listener = socketOf(sim, 'server');
  const client = socketOf(sim, 'client');
  rbind(listener, { port: PORT });
  // The listener is bound to the wildcard: it has no address of its own.
  const there = { host: sim.hosts.find(({ name }) => name === 'server')?.address ?? '', port: PORT };
  const meet = async (): Promise<Rsocket> => {
    rlisten(listener);
    const [server] = await Promise.all([raccept(listener), rconnect(client, there)]);
    return server;
  };
  return { listener, client, there, meet };
}

function refused(errno: ErrnoName, act: () => unknown): void {
  assert.throws(act, { errno });
}

/** The types of service of all packets from each address. */
function typesOfService(sim: Sim, name: string): Map<string, Set<number>> {
  const file = join(folder, `${name}.pcapng`);
  sim.writeCapture(file);
  const types = new Map<string, Set<number>>();
  for (const { data } of new CaptureReader().push(readFileSync(file))) {
    const from = data.subarray(12, 16).join('.');
    // The lower bits tell of congestion.
    types.set(from, (types.get(from) ?? new Set()).add(data[1] & 0xfc));
  }
  return types;
}

describe('options of rsockets', () => {
  it('a socket connects from the port that it is bound to', () =>
    simulate(async (sim) => {
      for (const host of [undefined, 'own']) {
        const { listener, client, meet } = pair(sim);
        const own = sim.hosts.find(({ name }) => name === 'client')?.address;
        rbind(client, { port: OWN_PORT, ...(host !== undefined && own !== undefined && { host: own }) });
        const server = await meet();
        assert.equal(rgetsockname(client).port, OWN_PORT);
        assert.deepEqual(rgetpeername(server), rgetsockname(client));
        const other = socketOf(sim, 'client');
        refused('EADDRINUSE', () => rbind(other, { port: OWN_PORT }));
        await Promise.all([rclose(client), rclose(server), rclose(listener)]);
        // Until the peer has heard of it.
        await sim.sleep(1000);
        rbind(other, { port: OWN_PORT });
        await rclose(other);
      }
    }));

  it('REUSEADDR lets two have a port, of whom none listens before the other is closed', () =>
    simulate(async (sim) => {
      const sockets = [1, 2, 3].map(() => socketOf(sim, 'server'));
      const [one, two, three] = sockets;
      for (const socket of [one, two]) {
        rsetsockopt(socket, SOCKET, REUSEADDR, true);
        assert.equal(rgetsockopt(socket, SOCKET, REUSEADDR), 1);
        rbind(socket, { port: PORT });
      }
      refused('EADDRINUSE', () => rbind(three, { port: PORT }));
      refused('EINVAL', () => rsetsockopt(one, SOCKET, REUSEADDR, false));
      refused('EADDRINUSE', () => rlisten(one));
      await rclose(two);
      rlisten(one);
      await Promise.all([one, three].map((socket) => rclose(socket)));
    }));

  it('V6ONLY keeps the wildcard of IPv6 from an address of IPv4', () =>
    simulate(async (sim) => {
      const [both, only] = [socketOf(sim, 'host', INET6), socketOf(sim, 'host', INET6)];
      rsetsockopt(only, IPV6, Ipv6Option.V6ONLY, 1);
      rbind(both, { host: '::', port: PORT });
      rlisten(both);
      // A wildcard needs no device of its family.
      rbind(only, { host: '::', port: PORT + 1 });
      rlisten(only);
      const client = socketOf(sim, 'client');
      refused('EADDRINUSE', () => rbind(socketOf(sim, 'host'), { port: PORT }));
      const there = { host: sim.hosts[0].address, port: PORT + 1 };
      await assert.rejects(async () => rconnect(client, there), { errno: 'ECONNREFUSED' });
      refused('EINVAL', () => rsetsockopt(both, IPV6, Ipv6Option.V6ONLY, 1));
      const datagrams = socketOf(sim, 'host', INET6, SocketType.DGRAM);
      rsetsockopt(datagrams, IPV6, Ipv6Option.V6ONLY, 1);
      refused('ENODEV', () => rbind(datagrams, { host: '::', port: PORT }));
      await Promise.all([both, only, client, datagrams].map((socket) => rclose(socket)));
    }));

  it('TOS of who connects is what packets of a stream are sent with, either way', () =>
    simulate(async (sim) => {
      const { listener, client, there, meet } = pair(sim);
      rsetsockopt(client, IP, IpOption.TOS, 0x20);
      const server = await meet();
      assert.equal(rgetsockopt(client, IP, IpOption.TOS), 0x20);
      for (const [from, to] of [
        [client, server],
        [server, client],
      ]) {
        await rsend(from, new Uint8Array(5000));
        await rrecv(to, new Uint8Array(5000));
      }
      const own = rgetsockname(client);
      await Promise.all([rclose(client), rclose(server), rclose(listener)]);
      const types = typesOfService(sim, 'tos');
      for (const { host } of [own, there])
        assert.ok(types.get(host)?.has(0x20), `${host} has sent with ${[...(types.get(host) ?? [])].join(', ')}`);
    }));

  it('TCP_INFO, MAXSEG and ROUTE tell what a stream is like', () =>
    simulate(async (sim) => {
      const { listener, client, there, meet } = pair(sim);
      rsetsockopt(client, RDMA, RdmaOption.SQSIZE, 20);
      const { INFO, MAXSEG } = TcpOption;
      assert.deepEqual(rgetsockopt(client, TCP, INFO), { state: TcpState.CLOSE, sndCwnd: 20 });
      assert.equal(rgetsockopt(client, TCP, MAXSEG), 2048);
      refused('ENOTCONN', () => rgetsockopt(client, RDMA, RdmaOption.ROUTE));
      refused('EOPNOTSUPP', () => rsetsockopt(client, RDMA, RdmaOption.ROUTE, 0));
      refused('EOPNOTSUPP', () => rsetsockopt(client, TCP, INFO, 0));
      const server = await meet();
      assert.equal(rgetsockopt(listener, TCP, INFO).state, TcpState.LISTEN);
      assert.deepEqual(rgetsockopt(client, TCP, INFO), { state: TcpState.ESTABLISHED, sndCwnd: 20 });
      assert.deepEqual(rgetsockopt(server, TCP, INFO), { state: TcpState.ESTABLISHED, sndCwnd: 384 });
      assert.equal(rgetsockopt(client, TCP, MAXSEG), 4096);
      const { localGid, remoteGid } = rgetsockopt(client, RDMA, RdmaOption.ROUTE);
      assert.equal(remoteGid?.subarray(12).join('.'), there.host);
      assert.equal(localGid?.subarray(12).join('.'), rgetsockname(client).host);
      await rshutdown(client, ShutdownHow.RDWR);
      await rclose(server);
      assert.equal(rgetsockopt(client, TCP, INFO).state, TcpState.CLOSE);
      await Promise.all([rclose(client), rclose(listener)]);
    }));

  it('REUSEADDR is for datagrams, too', () =>
    simulate(async (sim) => {
      const [one, two] = [1, 2].map(() => socketOf(sim, 'host', INET, SocketType.DGRAM));
      rsetsockopt(one, SOCKET, REUSEADDR, 1);
      assert.equal(rgetsockopt(one, SOCKET, REUSEADDR), 1);
      rbind(one, { port: PORT });
      refused('EINVAL', () => rsetsockopt(one, SOCKET, REUSEADDR, 0));
      refused('EADDRINUSE', () => rbind(two, { port: PORT }));
      refused('EOPNOTSUPP', () => rgetsockopt(one, TCP, TcpOption.INFO));
      refused('ENOTCONN', () => rgetsockopt(one, RDMA, RdmaOption.ROUTE));
      await Promise.all([rclose(one), rclose(two)]);
    }));
});
