import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, Errno, PortSpace, QpState } from '../../entry/index.js';
import {
  asked,
  bound,
  Command,
  connParam,
  listening,
  makeQp,
  numbers,
  PORT,
  programs,
  resolved,
  sockaddr,
  withResponse,
} from './ucma-support.js';

describe('commands of rdma_cm for addresses, and calls that fail', () => {
  test('bind to a wildcard without any device, also to :: for IPv6 only where no device has such an address', () => {
    using both = programs();
    const { client } = both;
    client.memory[0] = 1;
    const six = client.create();
    client.tell(Command.SET_OPTION, Buffer.concat([Buffer.alloc(8), numbers(six.id, 0, 2, 4)]));
    const any = Buffer.alloc(28);
    any.writeUInt16LE(10, 0);
    any.writeUInt16BE(PORT, 2);
    client.tell(Command.BIND_IP, Buffer.concat([withResponse(8), any, numbers(six.id)]));
    client.tell(Command.LISTEN, numbers(six.id, 1));
    const four = bound(client, '0.0.0.0', PORT);
    for (const [id, family] of [
      [six.id, 10],
      [four.id, 2],
    ]) {
      const route = client.ask(Command.QUERY_ROUTE, withResponse(16, id));
      assert.deepEqual([route.readBigUInt64BE(0), route[196]], [0n, 0]);
      assert.deepEqual([route.readUInt16LE(136), route.readUInt16BE(138)], [family, PORT]);
      assert.ok(route.subarray(140, 160).every((byte) => byte === 0));
      const attributes = withResponse(16, id, QpState.INIT);
      assert.equal(client.call(Command.INIT_QP_ATTR, attributes), -Errno.EINVAL);
    }
  });

  test('listen at a wildcard on all devices', () => {
    using both = programs();
    const { server, client, contexts } = both;
    server.tell(Command.LISTEN, numbers(bound(server, '0.0.0.0', PORT).id, 10));
    for (const [index, host] of ['10.0.0.1', '10.0.0.2'].entries()) {
      const { id } = bound(client, '10.0.0.2', 0);
      client.tell(Command.RESOLVE_IP, Buffer.concat([Buffer.alloc(28), sockaddr(host, PORT), numbers(id, 2000)]));
      client.expect(CmEventType.ADDR_RESOLVED);
      client.tell(Command.RESOLVE_ROUTE, numbers(id, 2000));
      client.expect(CmEventType.ROUTE_RESOLVED);
      asked(client, id, makeQp(contexts[1]));
      const request = server.expect(CmEventType.CONNECT_REQUEST);
      const route = server.ask(Command.QUERY_ROUTE, withResponse(16, request.id));
      assert.equal(route.readBigUInt64BE(0), contexts[index].queryDevice().nodeGuid);
      assert.equal(route.subarray(140, 144).join('.'), host);
    }
  });

  test('bind to a loopback address as to the wildcard, where no device is on loopback', () => {
    using both = programs();
    const { id } = both.client.create();
    const request = Buffer.concat([withResponse(8), sockaddr('127.0.0.1', PORT), numbers(id)]);
    assert.equal(both.client.call(Command.BIND_IP, request), 0);
  });

  test('refuse to bind to a link-local address without an interface, as the kernel does', () => {
    using both = programs();
    const bind = (scopeId: number) => {
      const local = Buffer.alloc(28);
      local.writeUInt16LE(10, 0);
      local.writeUInt16BE(PORT, 2);
      local.set([0xfe, 0x80], 8);
      local[23] = 1;
      local.writeUInt32LE(scopeId, 24);
      return both.client.call(
        Command.BIND_IP,
        Buffer.concat([withResponse(8), local, numbers(both.client.create().id)]),
      );
    };
    assert.equal(bind(0), -Errno.EINVAL);
    assert.equal(bind(2), -Errno.EADDRNOTAVAIL);
  });

  test('reject the peer when an accept fails, which would wait otherwise', () => {
    using both = programs();
    const { server, client, contexts } = both;
    listening(server);
    asked(client, resolved(client).id, makeQp(contexts[1]));
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    const param = connParam(77, '');
    param[264] = 197;
    const accept = Buffer.concat([Buffer.alloc(8), param, numbers(id, 0)]);
    assert.equal(server.call(Command.ACCEPT, accept), -Errno.EINVAL);
    assert.equal(client.expect(CmEventType.REJECTED).status, 28);
    assert.equal(server.call(Command.ACCEPT, accept), -Errno.EINVAL);
  });

  test('reject the peer of datagrams when an accept fails', () => {
    using both = programs();
    const { server, client } = both;
    listening(server, PortSpace.UDP);
    const active = resolved(client, PortSpace.UDP);
    client.tell(Command.CONNECT, Buffer.concat([connParam(0, ''), numbers(active.id, 0)]));
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    const param = connParam(77, '');
    param[264] = 137;
    assert.equal(server.call(Command.ACCEPT, Buffer.concat([Buffer.alloc(8), param, numbers(id, 0)])), -Errno.EINVAL);
    assert.equal(client.expect(CmEventType.UNREACHABLE).status, 2);
  });

  test('disconnect with success and without effect while the connection is being made', () => {
    using both = programs();
    const { server, client, contexts } = both;
    listening(server);
    const active = resolved(client);
    assert.equal(client.call(Command.DISCONNECT, numbers(active.id)), -Errno.EINVAL);
    asked(client, active.id, makeQp(contexts[1]));
    client.tell(Command.DISCONNECT, numbers(active.id));
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    server.tell(Command.DISCONNECT, numbers(id));
    const far = makeQp(contexts[0]);
    server.tell(Command.ACCEPT, Buffer.concat([Buffer.alloc(8), connParam(far.qpNum, ''), numbers(id, 0)]));
    client.expect(CmEventType.CONNECT_RESPONSE);
  });

  test('give the ACK timeout that was set, also after the request has gone', () => {
    using both = programs();
    const { server, client, contexts } = both;
    listening(server);
    const active = resolved(client);
    asked(client, active.id, makeQp(contexts[1]));
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    const far = makeQp(contexts[0]);
    server.tell(Command.ACCEPT, Buffer.concat([Buffer.alloc(8), connParam(far.qpNum, ''), numbers(id, 0)]));
    client.expect(CmEventType.CONNECT_RESPONSE);
    client.memory[0] = 21;
    client.tell(Command.SET_OPTION, Buffer.concat([Buffer.alloc(8), numbers(active.id, 0, 3, 1)]));
    assert.equal(client.ask(Command.INIT_QP_ATTR, withResponse(16, active.id, QpState.RTS))[134], 21);
  });
});
