/** A program's side of `/dev/infiniband/rdma_cm`, as the tests of the commands have it. */
import assert from 'node:assert/strict';
import { execute } from '../ucma/execute.js';
import { Ucma } from '../ucma/ucma.js';
import type { UcmaFile } from '../ucma/ucma-file.js';
import { CmEventType, type Context, Errno, PortSpace, type Qp, QpType } from '../../entry/index.js';
import { SimulatedCluster } from '../../entry/sim.js';

/** Commands by their numbers in `rdma_user_cm.h`. */
export const Command = {
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

export const AF_IB = 27;
export const PORT = 7471;
export const RESPONSE_AT = 0x7000_0000n;
export const PATIENCE = 10_000;

export interface Event {
  readonly uid: bigint;
  readonly id: number;
  readonly event: number;
  readonly status: number;
  readonly bytes: Buffer;
}

/** A program's side of an open file. */
export class Program {
  readonly file: UcmaFile;
  announced = 0;
  /** Whether answers can be written where the program wants them. */
  isWritable = true;
  #uid = 0n;

  constructor(
    ucma: Ucma,
    private readonly others: Map<number, UcmaFile>,
    readonly fd: number,
    private readonly pass: () => void,
    readonly memory = Buffer.alloc(64),
  ) {
    this.file = ucma.open({
      announce: () => void (this.announced += 1),
      retract: () => void (this.announced -= 1),
      readMemory: (address, length) => this.memory.subarray(Number(address), Number(address) + length),
      news: () => undefined,
      canWriteMemory: () => this.isWritable,
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

export function withResponse(bytes: number, id?: number, more?: number): Buffer {
  const request = Buffer.alloc(bytes);
  request.writeBigUInt64LE(RESPONSE_AT);
  if (id !== undefined) request.writeUInt32LE(id, 8);
  if (more !== undefined) request.writeUInt32LE(more, 12);
  return request;
}

export function numbers(...values: readonly number[]): Buffer {
  const request = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => request.writeUInt32LE(value, 4 * i));
  return request;
}

/** `struct sockaddr_in` in the room of a `sockaddr_in6`. */
export function sockaddr(host: string, port: number): Buffer {
  const bytes = Buffer.alloc(28);
  bytes.writeUInt16LE(2, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(host.split('.').map(Number), 4);
  return bytes;
}

export function connParam(qpNum: number, text: string, valid = 1): Buffer {
  const param = Buffer.alloc(272);
  param.writeUInt32LE(qpNum, 0);
  param.write(text, 8);
  param[264] = text.length;
  param.set([0, 1, 1, 0, 7, 7, valid], 265);
  return param;
}

export function bound(program: Program, host: string, port: number, portSpace?: number): { id: number; uid: bigint } {
  const made = program.create(portSpace);
  const request = Buffer.concat([withResponse(8), sockaddr(host, port), numbers(made.id)]);
  program.tell(Command.BIND_IP, request);
  return made;
}

export interface Both extends Disposable {
  readonly contexts: readonly [Context, Context];
  readonly server: Program;
  readonly client: Program;
  readonly files: Map<number, UcmaFile>;
  readonly ucma: Ucma;
  pass(): void;
}

export function programs(say?: (text: string) => void): Both {
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

export function makeQp(context: Context): Qp {
  const pd = context.allocPd();
  const cq = context.createCq({ cqe: 8 });
  return pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
}

export function resolved(client: Program, portSpace?: number): { id: number; uid: bigint } {
  const made = bound(client, '10.0.0.2', 0, portSpace);
  const request = Buffer.concat([Buffer.alloc(28), sockaddr('10.0.0.1', PORT), numbers(made.id, 2000)]);
  client.tell(Command.RESOLVE_IP, request);
  assert.equal(client.expect(CmEventType.ADDR_RESOLVED).uid, made.uid);
  client.tell(Command.RESOLVE_ROUTE, numbers(made.id, 2000));
  client.expect(CmEventType.ROUTE_RESOLVED);
  return made;
}

export function listening(server: Program, portSpace?: number): { id: number; uid: bigint } {
  const made = bound(server, '10.0.0.1', PORT, portSpace);
  server.tell(Command.LISTEN, numbers(made.id, 10));
  return made;
}

export function asked(client: Program, id: number, qp: Qp, text = 'hello'): void {
  client.tell(Command.CONNECT, Buffer.concat([connParam(qp.qpNum, text), numbers(id, 0)]));
}
