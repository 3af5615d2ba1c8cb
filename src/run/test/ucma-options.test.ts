import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { CONN_PARAM, connParamOf } from '../ucma/structs/conn-param.js';
import { QP_ATTR } from '../ucma/structs/qp-attr.js';
import { CmEventType, CmOption, Errno, QpState } from '../../entry/index.js';
import {
  Command,
  connParam,
  listening,
  makeQp,
  numbers,
  type Program,
  programs,
  resolved,
  withResponse,
} from './ucma-support.js';

const TIMEOUT = 9;
const BYTES: Readonly<Record<CmOption, number>> = { 0: 1, 1: 4, 2: 4, 3: 1 };

function setOption(program: Program, id: number, option: CmOption, value: number): number {
  program.memory.fill(0);
  program.memory[0] = value;
  const request = Buffer.concat([Buffer.alloc(8), numbers(id, 0, option, BYTES[option])]);
  const answer = program.call(Command.SET_OPTION, request);
  return typeof answer === 'number' ? Math.abs(answer) : 0;
}

function attributes(program: Program, id: number, state: QpState) {
  return QP_ATTR.readPadded(program.ask(Command.INIT_QP_ATTR, withResponse(16, id, state)));
}

/** What `ucma_set_option_id` of Linux returns for an option of an identifier that is so far. */
const ROWS: readonly {
  readonly option: CmOption;
  readonly value: number;
  readonly errno: Readonly<Record<Step, number>>;
}[] = [
  { option: CmOption.TOS, value: 8, errno: { idle: 0, listen: 0, route: 0, asking: 0, asked: 0 } },
  { option: CmOption.ACK_TIMEOUT, value: 9, errno: { idle: 0, listen: 0, route: 0, asking: 0, asked: 0 } },
  { option: CmOption.REUSEADDR, value: 1, errno: { idle: 0, listen: Errno.EINVAL, route: 0, asking: 0, asked: 0 } },
  {
    option: CmOption.REUSEADDR,
    value: 0,
    errno: { idle: 0, listen: Errno.EINVAL, route: Errno.EINVAL, asking: Errno.EINVAL, asked: Errno.EINVAL },
  },
  {
    option: CmOption.AFONLY,
    value: 1,
    errno: { idle: 0, listen: Errno.EINVAL, route: Errno.EINVAL, asking: Errno.EINVAL, asked: Errno.EINVAL },
  },
];
type Step = 'idle' | 'listen' | 'route' | 'asking' | 'asked';

/** An identifier of a program at each step. */
const STEPS: Readonly<Record<Step, (both: ReturnType<typeof programs>) => readonly [Program, number]>> = {
  idle: ({ client }) => [client, client.create().id],
  listen: ({ server }) => [server, listening(server).id],
  route: ({ client }) => [client, resolved(client).id],
  asking: ({ client, contexts }) => {
    const { id } = resolved(client);
    client.tell(Command.CONNECT, Buffer.concat([connParam(makeQp(contexts[1]).qpNum, ''), numbers(id, 0)]));
    return [client, id];
  },
  asked: (both) => {
    listening(both.server);
    STEPS.asking(both);
    return [both.server, both.server.expect(CmEventType.CONNECT_REQUEST).id];
  },
};

describe('an option of a program’s identifier is answered as in Linux', () => {
  for (const { option, value, errno } of ROWS)
    for (const [step, at] of Object.entries(STEPS))
      it(`option ${option} = ${value}, ${step}`, () => {
        using both = programs();
        const [program, id] = at(both);
        // Each step has a row.
        assert.equal(setOption(program, id, option, value), errno[step as Step]);
      });
});

test('ACK_TIMEOUT counts for a queue pair that is led to RTS after it, on either side', () => {
  using both = programs();
  const { client, server, contexts } = both;
  listening(server);
  const [, id] = STEPS.asking(both);
  const request = server.expect(CmEventType.CONNECT_REQUEST).id;
  assert.equal(setOption(server, request, CmOption.ACK_TIMEOUT, TIMEOUT), 0);
  assert.equal(attributes(server, request, QpState.RTS).timeout, TIMEOUT);
  const accept = Buffer.concat([withResponse(8), connParam(makeQp(contexts[0]).qpNum, ''), numbers(request, 0)]);
  server.tell(Command.ACCEPT, accept);
  client.expect(CmEventType.CONNECT_RESPONSE);
  assert.equal(setOption(client, id, CmOption.ACK_TIMEOUT, TIMEOUT), 0);
  assert.equal(attributes(client, id, QpState.RTS).timeout, TIMEOUT);
});

test('TOS that comes after connect changes nothing of the connection', () => {
  using both = programs();
  const { server, client } = both;
  listening(server);
  const [, id] = STEPS.asking(both);
  const request = server.expect(CmEventType.CONNECT_REQUEST).id;
  for (const [program, one] of [
    [client, id],
    [server, request],
  ] as const)
    assert.equal(setOption(program, one, CmOption.TOS, 64), 0);
  assert.equal(attributes(server, request, QpState.RTR).ahAttr.trafficClass, 0);
});

test('counts of retries beyond 7 are 7, as the kernel makes them', () => {
  for (const count of [0, 6, 7, 8, 9, 255]) {
    const bytes = CONN_PARAM.encodePadded({ retryCount: count, rnrRetryCount: count, valid: 1 });
    const { retryCount, rnrRetryCount } = connParamOf(CONN_PARAM.readPadded(bytes)) ?? {};
    assert.deepEqual([retryCount, rnrRetryCount], [Math.min(count, 7), Math.min(count, 7)]);
  }
});
