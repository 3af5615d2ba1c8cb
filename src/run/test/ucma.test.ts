import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { execute } from '../ucma/execute.js';
import { CmEventType, Errno, PortSpace, QpAttrMask, QpState } from '../../entry/index.js';
import {
  AF_IB,
  asked,
  bound,
  Command,
  connParam,
  listening,
  makeQp,
  numbers,
  PATIENCE,
  PORT,
  Program,
  programs,
  resolved,
  RESPONSE_AT,
  sockaddr,
  withResponse,
} from './ucma-support.js';

describe('commands of rdma_cm', () => {
  test('connect queue pairs that the programs have made, and tell both sides of the end', () => {
    using both = programs();
    const { server, client, contexts } = both;
    const [near, far] = [makeQp(contexts[1]), makeQp(contexts[0])];
    const listener = listening(server);
    const active = resolved(client);
    asked(client, active.id, near);
    const request = server.expect(CmEventType.CONNECT_REQUEST);
    assert.equal(request.uid, listener.uid);
    assert.notEqual(request.id, listener.id);
    assert.equal(request.bytes.readUInt32LE(20), near.qpNum);
    assert.equal(request.bytes.toString('latin1', 28, 33), 'hello');
    const accept = Buffer.concat([Buffer.alloc(8), connParam(far.qpNum, 'welcome'), numbers(request.id, 0)]);
    accept.writeBigUInt64LE(0x1234n);
    server.tell(Command.ACCEPT, accept);
    const response = client.expect(CmEventType.CONNECT_RESPONSE);
    assert.equal(response.bytes.readUInt32LE(20), far.qpNum);
    assert.equal(response.bytes.toString('latin1', 28, 35), 'welcome');
    client.tell(Command.ACCEPT, Buffer.concat([Buffer.alloc(8), connParam(0, '', 0), numbers(active.id, 0)]));
    assert.equal(server.expect(CmEventType.ESTABLISHED).uid, 0x1234n);
    client.tell(Command.DISCONNECT, numbers(active.id));
    assert.equal(server.expect(CmEventType.DISCONNECTED).uid, 0x1234n);
    server.tell(Command.DISCONNECT, numbers(request.id));
    client.expect(CmEventType.DISCONNECTED);
  });

  test('say how many events of an identifier were fetched, a request among those of its listener', () => {
    using both = programs();
    const { server, client, contexts } = both;
    const listener = listening(server);
    const active = resolved(client);
    asked(client, active.id, makeQp(contexts[1]));
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    assert.equal(server.destroy(listener.id), 1);
    assert.equal(server.destroy(id), 0);
    client.expect(CmEventType.REJECTED);
    assert.equal(client.destroy(active.id), 3);
    assert.equal(server.call(Command.DESTROY_ID, withResponse(16, id)), -Errno.ENOENT);
  });

  test('refuse a request that nobody has fetched when its listener ends, and take the word of it back', () => {
    using both = programs();
    const { server, client, contexts } = both;
    const listener = listening(server);
    asked(client, resolved(client).id, makeQp(contexts[1]));
    for (let i = 0; i < PATIENCE && server.announced === 0; i += 1) both.pass();
    assert.equal(server.announced, 1);
    assert.equal(server.destroy(listener.id), 0);
    assert.equal(server.announced, 0);
    client.expect(CmEventType.REJECTED);
  });

  test('know no request by its number before its event was fetched', () => {
    using both = programs();
    const { server, client, contexts } = both;
    listening(server);
    const active = resolved(client);
    asked(client, active.id, makeQp(contexts[1]));
    for (let i = 0; i < PATIENCE && server.announced === 0; i += 1) both.pass();
    const known = new Set<number>();
    for (let number = 0; number < 16; number += 1)
      if (server.call(Command.QUERY_ROUTE, withResponse(16, number)) !== -Errno.ENOENT) known.add(number);
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    assert.ok(id < 16 && !known.has(id));
    assert.equal(server.destroy(id), 0);
    client.expect(CmEventType.REJECTED);
  });

  test('give the attributes that lead a queue pair to each state', () => {
    using both = programs();
    const { server, client, contexts } = both;
    const qp = makeQp(contexts[1]);
    listening(server);
    const active = resolved(client);
    const state = (qpState: QpState): Buffer => client.ask(Command.INIT_QP_ATTR, withResponse(16, active.id, qpState));
    const init = state(QpState.INIT);
    const { STATE, ACCESS_FLAGS, PKEY_INDEX, PORT: PORT_BIT } = QpAttrMask;
    assert.equal(init.readUInt32LE(0), STATE | ACCESS_FLAGS | PKEY_INDEX | PORT_BIT);
    assert.equal(init.readUInt32LE(4), QpState.INIT);
    asked(client, active.id, qp);
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    const far = makeQp(contexts[0]);
    server.tell(Command.ACCEPT, Buffer.concat([Buffer.alloc(8), connParam(far.qpNum, ''), numbers(id, 0)]));
    client.expect(CmEventType.CONNECT_RESPONSE);
    const rtr = state(QpState.RTR);
    assert.notEqual(rtr.readUInt32LE(0) & QpAttrMask.AV, 0);
    assert.equal(rtr.readUInt32LE(32), far.qpNum);
    assert.equal(rtr.subarray(40, 56).toString('hex'), '00000000000000000000ffff0a000001');
    assert.equal(rtr[69], 1);
    assert.equal(rtr[70], 1);
  });

  test('show the way: addresses, the device, and a path once the route is resolved', () => {
    using both = programs();
    const { client } = both;
    const active = resolved(client);
    const route = client.ask(Command.QUERY_ROUTE, withResponse(16, active.id));
    assert.equal(route.readBigUInt64BE(0), both.contexts[1].queryDevice().nodeGuid);
    assert.equal(route.subarray(8, 24).toString('hex'), '00000000000000000000ffff0a000001');
    assert.equal(route.subarray(24, 40).toString('hex'), '00000000000000000000ffff0a000002');
    assert.equal(route.readUInt32LE(192), 1);
    assert.equal(route[196], 1);
    assert.equal(route.readUInt16LE(136), 2);
    assert.equal(route.readUInt16BE(166), PORT);
    assert.equal(route.subarray(168, 172).join('.'), '10.0.0.1');
  });

  test('tell of a refusal with its reason and its words', () => {
    using both = programs();
    const { server, client, contexts } = both;
    listening(server);
    asked(client, resolved(client).id, makeQp(contexts[1]));
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    const reject = Buffer.alloc(264);
    reject.writeUInt32LE(id, 0);
    reject[4] = 2;
    reject.write('no', 8);
    server.tell(Command.REJECT, reject);
    const event = client.expect(CmEventType.REJECTED);
    assert.equal(event.status, 28);
    assert.equal(event.bytes.toString('latin1', 28, 30), 'no');
  });

  test('answer for datagrams with the peer, its Q_Key and how to get there', () => {
    using both = programs();
    const { server, client } = both;
    listening(server, PortSpace.UDP);
    const active = resolved(client, PortSpace.UDP);
    client.tell(Command.CONNECT, Buffer.concat([connParam(0, 'who'), numbers(active.id, 0)]));
    const { id } = server.expect(CmEventType.CONNECT_REQUEST);
    server.tell(Command.ACCEPT, Buffer.concat([Buffer.alloc(8), connParam(77, 'me'), numbers(id, 0)]));
    const { bytes } = client.expect(CmEventType.ESTABLISHED);
    assert.equal(bytes.readUInt32LE(20), 77);
    assert.equal(bytes.readUInt32LE(24), 0x01234567);
    assert.equal(bytes.subarray(28, 44).toString('hex'), '00000000000000000000ffff0a000001');
    assert.equal(bytes.toString('latin1', 60, 62), 'me');
  });

  test('join a group and leave it, by the name that the program has for that', () => {
    using both = programs();
    const { client } = both;
    const active = bound(client, '10.0.0.2', 0, PortSpace.UDP);
    const join = Buffer.concat([withResponse(8), Buffer.alloc(8), sockaddr('239.1.2.3', 0), numbers(active.id)]);
    join.writeBigUInt64LE(0x55n, 8);
    const membership = client.ask(Command.JOIN_IP_MCAST, join).readUInt32LE();
    const event = client.expect(CmEventType.MULTICAST_JOIN);
    assert.equal(event.uid, 0x55n);
    assert.equal(event.id, membership);
    assert.equal(event.bytes.readUInt32LE(20), 0xffffff);
    assert.equal(client.ask(Command.LEAVE_MCAST, withResponse(16, membership)).readUInt32LE(), 1);
    assert.equal(client.call(Command.LEAVE_MCAST, withResponse(16, membership)), -Errno.ENOENT);
  });

  test('move an identifier to another channel with the events that wait', () => {
    using both = programs();
    const { server, client, contexts, ucma, files } = both;
    const other = new Program(ucma, files, 802, () => both.pass());
    const listener = listening(server);
    asked(client, resolved(client).id, makeQp(contexts[1]));
    for (let i = 0; i < PATIENCE && server.announced === 0; i += 1) both.pass();
    const reported = other.ask(Command.MIGRATE_ID, withResponse(16, listener.id, server.fd));
    assert.equal(reported.readUInt32LE(), 0);
    assert.deepEqual([server.announced, other.announced], [0, 1]);
    assert.equal(other.expect(CmEventType.CONNECT_REQUEST).uid, listener.uid);
    assert.equal(server.call(Command.LISTEN, numbers(listener.id, 1)), -Errno.EINVAL);
  });

  test('put an event back that the program could not take', () => {
    using both = programs();
    const { client } = both;
    const active = bound(client, '10.0.0.2', 0);
    client.tell(
      Command.RESOLVE_IP,
      Buffer.concat([Buffer.alloc(28), sockaddr('10.0.0.1', PORT), numbers(active.id, 0)]),
    );
    const header = numbers(Command.GET_EVENT, 0);
    header.writeUInt16LE(8, 4);
    header.writeUInt16LE(336, 6);
    const outcome = execute(client.file, Buffer.concat([header, withResponse(8)]));
    assert.ok(outcome.kind === 'done');
    assert.equal(client.announced, 0);
    outcome.undo?.();
    assert.equal(client.announced, 1);
    assert.equal(client.expect(CmEventType.ADDR_RESOLVED).uid, active.uid);
    assert.equal(client.destroy(active.id), 1);
  });

  for (const portSpace of [PortSpace.TCP, PortSpace.UDP])
    test(`count requests for the backlog until the program has fetched them, in port space ${portSpace}`, () => {
      using both = programs();
      const { server, client, contexts } = both;
      const listener = bound(server, '10.0.0.1', PORT, portSpace);
      server.tell(Command.LISTEN, numbers(listener.id, 1));
      for (let i = 0; i < 3; i += 1) asked(client, resolved(client, portSpace).id, makeQp(contexts[1]));
      // Each pass is one thing that happens, such as the arrival of a packet.
      for (let i = 0; i < 20; i += 1) both.pass();
      assert.equal(server.announced, 1);
      const fetched = Array.from({ length: 3 }, () => server.expect(CmEventType.CONNECT_REQUEST).id);
      assert.equal(new Set(fetched).size, 3);
    });

  test('refuse what is malformed, unknown or not the program’s own', () => {
    using both = programs();
    const { server, client } = both;
    const { id } = client.create();
    assert.equal(execute(client.file, Buffer.alloc(4)).kind, 'failed');
    assert.equal(client.call(99, Buffer.alloc(64)), -Errno.EINVAL);
    assert.equal(client.call(Command.GET_OPTION, Buffer.alloc(64)), -Errno.ENOSYS);
    assert.equal(client.call(Command.CONNECT, Buffer.alloc(8)), -Errno.EINVAL);
    assert.equal(client.call(Command.CREATE_ID, Buffer.alloc(24), 0), -Errno.ENOSPC);
    assert.equal(server.call(Command.LISTEN, numbers(id, 0)), -Errno.EINVAL);
    assert.equal(server.call(Command.LISTEN, numbers(id + 1, 0)), -Errno.ENOENT);
    assert.equal(client.call(Command.CREATE_ID, withPortSpace(0x999)), -Errno.EINVAL);
    const infiniband = Buffer.alloc(136);
    infiniband.writeUInt32LE(id, 0);
    infiniband.writeUInt16LE(AF_IB, 8);
    assert.equal(client.call(Command.BIND, infiniband), -Errno.EADDRNOTAVAIL);
  });

  test('set the options of an identifier from the memory of the program', () => {
    using both = programs();
    const { client } = both;
    const { id } = client.create();
    const option = (level: number, name: number, length: number): Buffer =>
      Buffer.concat([Buffer.alloc(8), numbers(id, level, name, length)]);
    client.memory[0] = 32;
    client.tell(Command.SET_OPTION, option(0, 0, 1));
    client.tell(Command.SET_OPTION, option(0, 1, 4));
    assert.equal(client.call(Command.SET_OPTION, option(0, 0, 4)), -Errno.EINVAL);
    assert.equal(client.call(Command.SET_OPTION, option(0, 9, 4)), -Errno.ENOSYS);
    assert.equal(client.call(Command.SET_OPTION, option(1, 1, 64)), -Errno.ENOSYS);
  });

  test('fail with EIO, and harm nobody else, where a mistake of ours comes to light', (t) => {
    using both = programs();
    const { server, client } = both;
    const warn = t.mock.method(process, 'emitWarning', () => undefined);
    const { id } = client.create();
    t.mock.method(client.file.parts, 'readMemory', () => {
      throw new TypeError('a mistake');
    });
    assert.equal(client.call(Command.SET_OPTION, Buffer.concat([Buffer.alloc(8), numbers(id, 0, 1, 4)])), -Errno.EIO);
    assert.equal(warn.mock.callCount(), 1);
    assert.equal(server.destroy(server.create().id), 0);
  });

  test('end with the file all its identifiers, and tell their peers', () => {
    using both = programs();
    const { server, client, contexts } = both;
    listening(server);
    const active = resolved(client);
    asked(client, active.id, makeQp(contexts[1]));
    server.expect(CmEventType.CONNECT_REQUEST);
    server.file.close();
    both.files.delete(server.fd);
    client.expect(CmEventType.REJECTED);
  });
});

function withPortSpace(portSpace: number): Buffer {
  const request = Buffer.alloc(24);
  request.writeBigUInt64LE(RESPONSE_AT, 8);
  request.writeUInt16LE(portSpace, 16);
  return request;
}
