import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONN_PARAM } from '../ucma/structs/conn-param.js';
import { QP_ATTR } from '../ucma/structs/qp-attr.js';
import { CmEventType, Errno, PortSpace, QpState } from '../../entry/index.js';
import type { ValuesOf } from '../../device/wire/index.js';
import { Command, listening, numbers, type Program, programs, resolved, withResponse } from './ucma-support.js';

type Param = Partial<ValuesOf<typeof CONN_PARAM>>;
type Heard = ValuesOf<typeof CONN_PARAM>;
type Attributes = ValuesOf<typeof QP_ATTR>;

const QPN = 0x123456;
/** Of an event, `rdma_ucm_event_resp`. */
const PARAM_AT = 20;
const Q_KEY = 0x01234567;

function written(param: Param): Buffer {
  return Buffer.from(CONN_PARAM.encodePadded({ qpNum: QPN, retryCount: 7, rnrRetryCount: 7, valid: 1, ...param }));
}

function heard(bytes: Buffer): Heard {
  return CONN_PARAM.readPadded(bytes.subarray(PARAM_AT, PARAM_AT + CONN_PARAM.bytes));
}

function attributes(program: Program, id: number, state: QpState): Attributes {
  return QP_ATTR.readPadded(program.ask(Command.INIT_QP_ATTR, withResponse(16, id, state)));
}

interface Side {
  readonly program: Program;
  readonly id: number;
}

/** What both programs see of a connection whose client names `connect`, and whose server names `accept`. */
interface Story {
  readonly request: Heard;
  readonly response: Heard;
  readonly client: Side;
  readonly server: Side;
}

function play(connect: Param, accept: Param, look: (story: Story) => void): void {
  using both = programs();
  const { client, server } = both;
  listening(server);
  const { id } = resolved(client);
  client.tell(Command.CONNECT, Buffer.concat([written(connect), numbers(id, 0)]));
  const request = server.expect(CmEventType.CONNECT_REQUEST);
  server.tell(Command.ACCEPT, Buffer.concat([withResponse(8), written(accept), numbers(request.id, 0)]));
  const response = client.expect(CmEventType.CONNECT_RESPONSE);
  look({
    request: heard(request.bytes),
    response: heard(response.bytes),
    client: { program: client, id },
    server: { program: server, id: request.id },
  });
}

const rts = ({ program, id }: Side): Attributes => attributes(program, id, QpState.RTS);
const rtr = ({ program, id }: Side): Attributes => attributes(program, id, QpState.RTR);

interface Row {
  readonly name: string;
  readonly connect?: Param;
  readonly accept?: Param;
  readonly look: (story: Story) => readonly unknown[];
  readonly shows: readonly unknown[];
}

/** What `cma_connect_ib`, `cma_accept_ib` and `ib_cm` of Linux make of each parameter. */
const ROWS: readonly Row[] = [
  {
    name: 'responder_resources of connect are the peer’s initiator_depth, also beyond what the device has',
    connect: { responderResources: 200 },
    look: ({ request, server }) => [request.initiatorDepth, rts(server).maxRdAtomic],
    shows: [200, 0],
  },
  {
    name: 'initiator_depth of connect is the peer’s responder_resources',
    connect: { initiatorDepth: 3 },
    look: ({ request }) => [request.responderResources],
    shows: [3],
  },
  {
    name: 'initiator_depth of accept gives the client responder resources, also those that it did not offer',
    connect: { responderResources: 0 },
    accept: { initiatorDepth: 4 },
    look: ({ response, client, server }) => [
      response.responderResources,
      rtr(client).maxDestRdAtomic,
      rts(server).maxRdAtomic,
    ],
    shows: [4, 4, 4],
  },
  {
    name: 'responder_resources of accept give the client its initiator depth, also more than it asked for',
    connect: { initiatorDepth: 1 },
    accept: { responderResources: 6 },
    look: ({ response, client, server }) => [
      response.initiatorDepth,
      rts(client).maxRdAtomic,
      rtr(server).maxDestRdAtomic,
    ],
    shows: [6, 6, 6],
  },
  {
    name: 'flow_control is one bit, on either side',
    connect: { flowControl: 3 },
    accept: { flowControl: 2 },
    look: ({ request, response }) => [request.flowControl, response.flowControl],
    shows: [1, 0],
  },
  {
    name: 'retry_count of connect is that of both queue pairs, and at most 7',
    connect: { retryCount: 5 },
    accept: { retryCount: 2 },
    look: ({ request, response, client, server }) => [
      request.retryCount,
      response.retryCount,
      rts(client).retryCnt,
      rts(server).retryCnt,
    ],
    shows: [5, 0, 5, 5],
  },
  {
    name: 'rnr_retry_count is that of the peer’s queue pair',
    connect: { rnrRetryCount: 2 },
    accept: { rnrRetryCount: 9 },
    look: ({ request, response, client, server }) => [
      request.rnrRetryCount,
      response.rnrRetryCount,
      rts(client).rnrRetry,
      rts(server).rnrRetry,
    ],
    shows: [2, 7, 7, 2],
  },
  {
    name: 'srq and qp_num are told, qp_num with 24 bits',
    connect: { srq: 1, qpNum: 0xff00_0001 },
    accept: { srq: 0, qpNum: 0xab00_0002 },
    look: ({ request, response }) => [request.srq, request.qpNum, response.srq, response.qpNum],
    shows: [1, 1, 0, 2],
  },
];

describe('a parameter of a program’s connection does what it does in Linux', () => {
  for (const { name, connect = {}, accept = {}, look, shows } of ROWS)
    it(name, () => play(connect, accept, (story) => assert.deepEqual(look(story), shows)));

  for (const [bytes, errno] of [
    [56, 0],
    [57, Errno.EINVAL],
    [255, Errno.EINVAL],
  ] as const)
    it(`private_data of connect, ${bytes} B: ${errno === 0 ? 'told' : 'EINVAL'}`, () => {
      using both = programs();
      const { client, server } = both;
      listening(server);
      const { id } = resolved(client);
      const privateData = new Uint8Array(256).fill(7);
      const request = Buffer.concat([written({ privateData, privateDataLen: bytes }), numbers(id, 0)]);
      assert.equal(client.call(Command.CONNECT, request), errno === 0 ? 0 : -errno);
      if (errno === 0) assert.equal(heard(server.expect(CmEventType.CONNECT_REQUEST).bytes).privateData[55], 7);
    });

  it('qkey is the port space’s for addresses of IP, whatever is named', () => {
    using both = programs();
    const { client, server } = both;
    listening(server, PortSpace.UDP);
    const { id } = resolved(client, PortSpace.UDP);
    client.tell(Command.CONNECT, Buffer.concat([written({ qkey: 5 }), numbers(id, 0)]));
    const request = server.expect(CmEventType.CONNECT_REQUEST);
    server.tell(Command.ACCEPT, Buffer.concat([withResponse(8), written({ qkey: 5 }), numbers(request.id, 0)]));
    assert.equal(heard(client.expect(CmEventType.ESTABLISHED).bytes).qkey, Q_KEY);
  });
});
