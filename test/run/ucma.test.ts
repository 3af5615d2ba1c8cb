import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { execute, Ucma, type UcmaFile } from '../../src/apps/run/ucma/index.js';
import { CmEventType, type Context, Errno, PortSpace, type Qp, QpAttrMask, QpState, QpType } from '../../src/index.js';
import { SimulatedCluster } from '../../src/sim.js';

/** Commands by their numbers in `rdma_user_cm.h`. */
const Command = {
  CREATE_ID: 0,
  DESTROY_ID: 1,
  BIND_IP: 2,
  RESOLVE_IP: 3,
  RESOLVE_ROUTE: 4,
  QUERY_ROUTE: 5,
  CONNECT: 6,
  LISTEN: 7,
  ACCEPT: 8,
  REJECT: 9,
  DISCONNECT: 10,
  INIT_QP_ATTR: 11,
  GET_EVENT: 12,
  GET_OPTION: 13,
  SET_OPTION: 14,
  JOIN_IP_MCAST: 16,
  LEAVE_MCAST: 17,
  MIGRATE_ID: 18,
  BIND: 20,
} as const;

const AF_IB = 27;
const PORT = 7471;
const RESPONSE_AT = 0x7000_0000n;
const PATIENCE = 10_000;

interface Event {
  readonly uid: bigint;
  readonly id: number;
  readonly event: number;
  readonly status: number;
  readonly bytes: Buffer;
}

/** A program's side of an open file. */
class Program {
  readonly file: UcmaFile;
  announced = 0;
  #uid = 0n;

  constructor(
    ucma: Ucma,
    private readonly others: Map<number, UcmaFile>,
    readonly fd: number,
    /** Lets time pass. */
    private readonly pass: () => void,
    readonly memory = Buffer.alloc(64),
  ) {
    this.file = ucma.open({
      announce: () => void (this.announced += 1),
      retract: () => void (this.announced -= 1),
      readMemory: (address, length) => this.memory.subarray(Number(address), Number(address) + length),
      fileAt: (number) => this.others.get(number),
    });
    others.set(fd, this.file);
  }

  call(command: number, request: Buffer, outBytes = 512): Buffer | number {
    const header = Buffer.alloc(8);
    header.writeUInt32LE(command);
    header.writeUInt16LE(request.length, 4);
    header.writeUInt16LE(outBytes, 6);
    const outcome = execute(this.file, Buffer.concat([header, request]));
    if (outcome.kind === 'failed') return -outcome.errno;
    if (outcome.kind === 'not yet') return -Errno.EAGAIN;
    if (outcome.response !== undefined) assert.equal(outcome.response.address, RESPONSE_AT);
    return outcome.response === undefined ? 0 : Buffer.from(outcome.response.bytes);
  }

  /** @returns the answer of a command that has one */
  ask(command: number, request: Buffer): Buffer {
    const answer = this.call(command, request);
    assert.ok(typeof answer === 'object', `the command was refused: ${String(answer)}`);
    return answer;
  }

  tell(command: number, request: Buffer): void {
    assert.equal(this.call(command, request), 0);
  }

  create(portSpace: number = PortSpace.TCP): { readonly id: number; readonly uid: bigint } {
    this.#uid += 1n;
    const uid = 0xabc0_0000_0000_0000n + (BigInt(this.fd) << 16n) + this.#uid;
    const request = Buffer.alloc(24);
    request.writeBigUInt64LE(uid, 0);
    request.writeBigUInt64LE(RESPONSE_AT, 8);
    request.writeUInt16LE(portSpace, 16);
    return { id: this.ask(Command.CREATE_ID, request).readUInt32LE(), uid };
  }

  /** @returns how many events were reported */
  destroy(id: number): number {
    return this.ask(Command.DESTROY_ID, withResponse(16, id)).readUInt32LE();
  }

  event(): Event {
    for (let i = 0; i < PATIENCE; i += 1) {
      const bytes = this.call(Command.GET_EVENT, withResponse(8));
      if (typeof bytes === 'object')
        return {
          uid: bytes.readBigUInt64LE(0),
          id: bytes.readUInt32LE(8),
          event: bytes.readUInt32LE(12),
          status: bytes.readInt32LE(16),
          bytes,
        };
      assert.equal(bytes, -Errno.EAGAIN);
      this.pass();
    }
    throw new Error('no event came');
  }

  expect(event: number): Event {
    const found = this.event();
    assert.equal(found.event, event);
    return found;
  }
}

function withResponse(bytes: number, id?: number, more?: number): Buffer {
  const request = Buffer.alloc(bytes);
  request.writeBigUInt64LE(RESPONSE_AT);
  if (id !== undefined) request.writeUInt32LE(id, 8);
  if (more !== undefined) request.writeUInt32LE(more, 12);
  return request;
}

function numbers(...values: readonly number[]): Buffer {
  const request = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => request.writeUInt32LE(value, 4 * i));
  return request;
}

/** `struct sockaddr_in` in the room of a `sockaddr_in6`. */
function sockaddr(host: string, port: number): Buffer {
  const bytes = Buffer.alloc(28);
  bytes.writeUInt16LE(2, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(host.split('.').map(Number), 4);
  return bytes;
}

function connParam(qpNum: number, text: string, valid = 1): Buffer {
  const param = Buffer.alloc(272);
  param.writeUInt32LE(qpNum, 0);
  param.write(text, 8);
  param[264] = text.length;
  param.set([0, 1, 1, 0, 7, 7, valid], 265);
  return param;
}

function bound(program: Program, host: string, port: number, portSpace?: number): { id: number; uid: bigint } {
  const made = program.create(portSpace);
  const request = Buffer.concat([withResponse(8), sockaddr(host, port), numbers(made.id)]);
  program.tell(Command.BIND_IP, request);
  return made;
}

interface Both extends Disposable {
  readonly contexts: readonly [Context, Context];
  readonly server: Program;
  readonly client: Program;
  readonly files: Map<number, UcmaFile>;
  readonly ucma: Ucma;
  pass(): void;
}

function programs(say?: (text: string) => void): Both {
  const cluster = new SimulatedCluster({ seed: 1 });
  const contexts = [cluster.open('10.0.0.1'), cluster.open('10.0.0.2')] as const;
  const ucma = new Ucma(contexts, say);
  const files = new Map<number, UcmaFile>();
  // Whoever looks at an empty queue gives the simulation the time to go on.
  const queue = contexts[0].createCq({ cqe: 1 });
  const pass = (): void => {
    queue.poll(1);
    for (const file of files.values()) file.poll();
  };
  const server = new Program(ucma, files, 800, pass);
  const client = new Program(ucma, files, 801, pass);
  return {
    contexts,
    server,
    client,
    files,
    ucma,
    pass,
    [Symbol.dispose]: () => {
      for (const file of files.values()) file.close();
      for (const context of contexts) context.close();
    },
  };
}

function makeQp(context: Context): Qp {
  const pd = context.allocPd();
  const cq = context.createCq({ cqe: 8 });
  return pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
}

function resolved(client: Program, portSpace?: number): { id: number; uid: bigint } {
  const made = bound(client, '10.0.0.2', 0, portSpace);
  const request = Buffer.concat([Buffer.alloc(28), sockaddr('10.0.0.1', PORT), numbers(made.id, 2000)]);
  client.tell(Command.RESOLVE_IP, request);
  assert.equal(client.expect(CmEventType.ADDR_RESOLVED).uid, made.uid);
  client.tell(Command.RESOLVE_ROUTE, numbers(made.id, 2000));
  client.expect(CmEventType.ROUTE_RESOLVED);
  return made;
}

function listening(server: Program, portSpace?: number): { id: number; uid: bigint } {
  const made = bound(server, '10.0.0.1', PORT, portSpace);
  server.tell(Command.LISTEN, numbers(made.id, 10));
  return made;
}

function asked(client: Program, id: number, qp: Qp, text = 'hello'): void {
  client.tell(Command.CONNECT, Buffer.concat([connParam(qp.qpNum, text), numbers(id, 0)]));
}

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

  test('refuse to bind to a loopback address that no device has, and say which addresses there are', () => {
    const said: string[] = [];
    using both = programs((text) => said.push(text));
    const { id } = both.client.create();
    const request = Buffer.concat([withResponse(8), sockaddr('127.0.0.1', PORT), numbers(id)]);
    for (let i = 0; i < 2; i += 1) assert.equal(both.client.call(Command.BIND_IP, request), -Errno.EADDRNOTAVAIL);
    assert.equal(said.length, 1);
    assert.match(said[0], /127\.0\.0\.1.*10\.0\.0\.1, 10\.0\.0\.2.*--addr/);
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
