import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as Requests from '../ucma/structs/requests.js';
import { Structs } from '../uverbs/structs.js';
import { CmEventType, Errno, PortSpace, QpAttrMask, QpState, QpType, SrqAttrMask } from '../../entry/index.js';
import { nativeHostProblem, requireNativeHost } from '../../node/system/index.js';
import type { UverbsCommand } from './fuzz/uverbs-frame.js';
import { bound, Command, numbers, programs, RESPONSE_AT, sockaddr, withResponse } from './ucma-support.js';
import { uverbsGame } from './uverbs-game.js';

const { EMPTY, HANDLE_BEHIND } = Structs;
const CAP = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 };

const TO_INIT = QpAttrMask.STATE | QpAttrMask.PKEY_INDEX | QpAttrMask.PORT | QpAttrMask.ACCESS_FLAGS;

type Game = ReturnType<typeof uverbsGame>;

function objects({ make }: Game) {
  const pd = make({ number: 3, request: EMPTY.encodePadded({}) });
  const cq = make({ number: 18, request: Structs.CREATE_CQ.request.encodePadded({ cqe: 8, channel: -1 }) });
  const srq = make({ number: 32, request: Structs.CREATE_SRQ.request.encodePadded({ pd, maxWr: 4, maxSge: 1 }) });
  const queues = { pd, sendCq: cq, recvCq: cq, qpType: QpType.RC, ...CAP };
  const qp = make({ number: 24, request: Structs.CREATE_QP.request.encodePadded(queues) });
  const lone = make({ number: 18, request: Structs.CREATE_CQ.request.encodePadded({ cqe: 8, channel: -1 }) });
  return { pd, cq, srq, qp, lone, queues };
}

type Objects = ReturnType<typeof objects>;

interface Row {
  readonly name: string;
  readonly command: (all: Objects) => UverbsCommand;
  /** The part of the answer that rxe's provider reads exists as well. */
  readonly hasDriver?: true;
}

/** Every command with an effect and an answer. */
const ROWS: readonly Row[] = [
  { name: 'GET_CONTEXT', command: () => ({ number: 0, request: EMPTY.encodePadded({}) }) },
  { name: 'ALLOC_PD', command: () => ({ number: 3, request: EMPTY.encodePadded({}) }) },
  { name: 'CREATE_COMP_CHANNEL', command: () => ({ number: 17, request: EMPTY.encodePadded({}) }) },
  {
    name: 'CREATE_CQ',
    command: () => ({ number: 18, request: Structs.CREATE_CQ.request.encodePadded({ cqe: 8, channel: -1 }) }),
    hasDriver: true,
  },
  {
    name: 'CREATE_CQ_EX',
    command: () => ({
      number: 18,
      extended: true,
      request: Structs.CREATE_CQ_EX.request.encodePadded({ cqe: 8, channel: -1 }),
    }),
    hasDriver: true,
  },
  {
    name: 'CREATE_QP',
    command: ({ queues }) => ({ number: 24, request: Structs.CREATE_QP.request.encodePadded(queues) }),
    hasDriver: true,
  },
  {
    name: 'CREATE_SRQ',
    command: ({ pd }) => ({
      number: 32,
      request: Structs.CREATE_SRQ.request.encodePadded({ pd, maxWr: 4, maxSge: 1 }),
    }),
    hasDriver: true,
  },
  {
    name: 'RESIZE_CQ',
    command: ({ cq }) => ({ number: 19, request: Structs.RESIZE_CQ.request.encodePadded({ handle: cq, cqe: 100 }) }),
    hasDriver: true,
  },
  {
    name: 'MODIFY_QP_EX',
    command: ({ qp }) => ({
      number: 26,
      extended: true,
      request: Structs.MODIFY_QP_EX.request.encodePadded({
        handle: qp,
        mask: TO_INIT,
        qpState: QpState.INIT,
        portNum: 1,
      }),
    }),
  },
  { name: 'DESTROY_QP', command: ({ qp }) => ({ number: 27, request: HANDLE_BEHIND.encodePadded({ handle: qp }) }) },
  { name: 'DESTROY_SRQ', command: ({ srq }) => ({ number: 35, request: HANDLE_BEHIND.encodePadded({ handle: srq }) }) },
  {
    name: 'DESTROY_CQ',
    command: ({ lone }) => ({ number: 20, request: HANDLE_BEHIND.encodePadded({ handle: lone }) }),
  },
];

/** Addresses: in the first page, which is never mapped, and in one that may be read only. */
function unwritable(): readonly number[] {
  const PRIVATE_ANONYMOUS = 0x22;
  const readable = requireNativeHost().libc.mmap(0, 4096, 1, PRIVATE_ANONYMOUS, -1, 0);
  assert.ok(readable > 0);
  return [16, readable];
}

const counts = ({ file }: Game) => ({
  objects: [file.pds.size, file.cqs.size, file.qps.size, file.srqs.size, file.channels.size],
  hasContext: file.hasContext,
  capacities: [...file.cqs].map(({ cq, completions }) => [cq.cqe, completions.queue.capacity]),
  states: [...file.qps].map(({ qp }) => qp.state),
});

describe('a command whose answer cannot be written', { skip: nativeHostProblem() ?? false }, () => {
  for (const { name, command, hasDriver } of ROWS) {
    it(`${name} is EFAULT and has no effect`, () => {
      using game = uverbsGame();
      const all = objects(game);
      const before = counts(game);
      for (const at of unwritable()) {
        const places = [{ answerAt: at }, ...(hasDriver === true ? [{ driverAt: at }] : [])];
        for (const place of places) assert.equal(game.give({ ...command(all), ...place }).errno, Errno.EFAULT);
        assert.deepEqual(counts(game), before);
      }
      assert.equal(game.give(command(all)).errno, 0);
      assert.notDeepEqual(counts(game), before);
    });
  }

  it('MODIFY_SRQ is EFAULT and resizes nothing', () => {
    using game = uverbsGame();
    const { srq: handle } = objects(game);
    const modify = (placeAddress: number) =>
      game.give({
        number: 33,
        request: Structs.MODIFY_SRQ.request.encodePadded({ handle, mask: SrqAttrMask.MAX_WR, maxWr: 100 }),
        driver: Structs.MODIFY_SRQ.driverRequest.encodePadded({ placeAddress: BigInt(placeAddress) }),
      }).errno;
    const capacity = () => [...game.file.srqs].map(({ srq, receives }) => [srq.query().maxWr, receives.queue.capacity]);
    const before = capacity();
    for (const at of unwritable()) assert.equal(modify(at), Errno.EFAULT);
    assert.deepEqual(capacity(), before);
    assert.equal(modify(game.memory.open.at), 0);
    assert.notDeepEqual(capacity(), before);
  });
});

describe('a command of rdma_cm whose answer cannot be written', () => {
  /** The same command, first with an answer that cannot be written. */
  function twice(program: ReturnType<typeof programs>['server'], command: number, request: Buffer): Buffer {
    program.isWritable = false;
    assert.equal(program.call(command, request), -Errno.EFAULT);
    program.isWritable = true;
    return program.ask(command, request);
  }

  it('CREATE_ID and DESTROY_ID are EFAULT and have no effect', () => {
    using both = programs();
    const { server } = both;
    const request = Requests.CREATE_ID.encodePadded({
      uid: 1n,
      response: RESPONSE_AT,
      portSpace: PortSpace.TCP,
      qpType: 2,
    });
    const id = twice(server, Command.CREATE_ID, Buffer.from(request)).readUInt32LE();
    assert.equal(twice(server, Command.DESTROY_ID, withResponse(16, id)).readUInt32LE(), 0);
    assert.equal(server.call(Command.DESTROY_ID, withResponse(16, id)), -Errno.ENOENT);
  });

  it('GET_EVENT is EFAULT, and leaves the event', () => {
    using both = programs();
    const { client } = both;
    const { id } = client.create();
    client.tell(Command.RESOLVE_IP, Buffer.concat([Buffer.alloc(28), sockaddr('10.0.0.1', 1), numbers(id, 1000)]));
    client.isWritable = false;
    for (let i = 0; i < 100; i += 1) {
      both.pass();
      assert.equal(client.call(Command.GET_EVENT, withResponse(8)), -Errno.EFAULT);
    }
    client.isWritable = true;
    assert.equal(client.expect(CmEventType.ADDR_RESOLVED).id, id);
    assert.equal(client.destroy(id), 1);
  });

  it('JOIN and LEAVE of a group are EFAULT and have no effect', () => {
    using both = programs();
    const { client } = both;
    const { id } = bound(client, '10.0.0.2', 0, PortSpace.UDP);
    const request = Buffer.concat([withResponse(8), Buffer.alloc(8), sockaddr('239.1.1.1', 0), numbers(id)]);
    const membership = twice(client, Command.JOIN_IP_MCAST, request).readUInt32LE();
    client.expect(CmEventType.MULTICAST_JOIN);
    assert.equal(twice(client, Command.LEAVE_MCAST, withResponse(16, membership)).readUInt32LE(), 1);
    assert.equal(client.call(Command.LEAVE_MCAST, withResponse(16, membership)), -Errno.ENOENT);
  });

  it('MIGRATE_ID is EFAULT, and leaves the identifier where it was', () => {
    using both = programs();
    const { server, client } = both;
    const { id } = client.create();
    twice(server, Command.MIGRATE_ID, withResponse(16, id, client.fd));
    assert.equal(client.call(Command.DESTROY_ID, withResponse(16, id)), -Errno.EINVAL);
    assert.equal(server.destroy(id), 0);
  });
});
