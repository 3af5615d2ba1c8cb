import { isOneOf, PrivateDataBytes, QpType } from '../../../device/ibta/index.js';
import type { CmConnParam, CmParameters } from '../../../device/cm/index.js';
import {
  bytesProblem,
  type Context,
  type FieldsOf,
  fieldsProblem,
  invalid,
  type Problem,
  refuse,
  show,
} from '../../verbs/index.js';
import { type ConnParam, RDMA_MAX_INIT_DEPTH, RDMA_MAX_RESP_RES } from '../identifiers/parameters.js';

const MAX_RETRIES = 7;
const U24 = 0xffffff;
const U32 = 0xffffffff;
const NOTHING = new Uint8Array(0);

const CONN_PARAM_FIELDS: FieldsOf<ConnParam> = {
  privateData: true,
  responderResources: true,
  initiatorDepth: true,
  flowControl: true,
  retryCount: true,
  rnrRetryCount: true,
  srq: true,
  qpNum: true,
  qpType: true,
  qkey: true,
};

/** Why `value` is not an integer from 0 to `max`, or undefined when it is, or is absent. */
function numberProblem(what: string, value: unknown, max: number): Problem | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return undefined;
  return invalid(`${what} is ${show(value)}`, `It is a number from 0 to ${max}`);
}

/** Why `value` is not a flag, or undefined when it is one, or absent. */
function flagProblem(what: string, value: unknown): Problem | undefined {
  if (value === undefined || typeof value === 'boolean') return undefined;
  return invalid(`${what} is ${show(value)}`, 'It is true or false');
}

/** Why private data cannot go with a call, or undefined when it can. */
export function privateDataProblem(data: unknown, max: number): Problem | undefined {
  if (data === undefined) return undefined;
  const problem = bytesProblem('privateData', data);
  if (problem !== undefined || !(data instanceof Uint8Array) || data.length <= max) return problem;
  return invalid(`privateData has ${data.length} bytes`, `The message has room for ${max}`);
}

/** What becomes of parameters that would have no effect: they are refused, or ignored as in Linux. */
export type Manner = 'refuse' | 'ignore';

const MESSAGE_FIELDS = ['responderResources', 'initiatorDepth', 'flowControl', 'retryCount', 'rnrRetryCount'] as const;

/**
 * The parameters that each call neither tells the peer nor gives to the queue pair. `retryCount` of an accept, and what is said
 * of a queue pair where the identifier has its own, are ignored as in `rdma_accept`: programs accept with the parameters of the
 * event, or with those that they connect with.
 */
const withoutEffect = {
  rdma_connect: {
    connections: { fields: ['qkey'], why: 'a connection has no Q_Key' },
    datagrams: {
      fields: [...MESSAGE_FIELDS, 'srq', 'qpNum', 'qpType', 'qkey'],
      why: 'a request for datagrams says nothing but private data',
    },
  },
  rdma_accept: {
    connections: { fields: ['qkey'], why: 'a connection has no Q_Key' },
    datagrams: {
      fields: [...MESSAGE_FIELDS, 'srq'],
      why: 'the answer says the queue pair, its Q_Key and private data',
    },
  },
} as const satisfies Record<string, Record<string, { fields: readonly (keyof ConnParam)[]; why: string }>>;

/** Why a parameter would have no effect, or undefined when each one has. */
function effectProblem(call: keyof typeof withoutEffect, datagrams: boolean, param: ConnParam): Problem | undefined {
  const { fields, why } = withoutEffect[call][datagrams ? 'datagrams' : 'connections'];
  const idle = fields.find((field) => param[field] !== undefined);
  return idle === undefined ? undefined : invalid(`${idle} has no effect: ${why}`, 'Leave it out');
}

function qpTypeProblem(qpType: QpType | undefined): Problem | undefined {
  if (qpType === undefined || isOneOf(QpType, qpType)) return undefined;
  return invalid(`qpType is ${show(qpType)}`, 'It is one of QpType');
}

function paramProblem(param: ConnParam, most: Resources): Problem | undefined {
  const { responderResources, initiatorDepth } = param;
  return (
    (responderResources === RDMA_MAX_RESP_RES
      ? undefined
      : numberProblem('responderResources', responderResources, most.responderResources)) ??
    (initiatorDepth === RDMA_MAX_INIT_DEPTH
      ? undefined
      : numberProblem('initiatorDepth', initiatorDepth, most.initiatorDepth)) ??
    numberProblem('retryCount', param.retryCount, MAX_RETRIES) ??
    numberProblem('rnrRetryCount', param.rnrRetryCount, MAX_RETRIES) ??
    flagProblem('flowControl', param.flowControl) ??
    flagProblem('srq', param.srq) ??
    qpTypeProblem(param.qpType) ??
    numberProblem('qpNum', param.qpNum, U24) ??
    numberProblem('qkey', param.qkey, U32)
  );
}

const ANY_RESOURCES: Resources = { responderResources: RDMA_MAX_RESP_RES, initiatorDepth: RDMA_MAX_INIT_DEPTH };

interface Resources {
  readonly responderResources: number;
  readonly initiatorDepth: number;
}

function mostOf(context: Context): Resources {
  const { maxQpRdAtom, maxQpInitRdAtom } = context.queryDevice();
  return {
    responderResources: Math.min(maxQpRdAtom, RDMA_MAX_RESP_RES),
    initiatorDepth: Math.min(maxQpInitRdAtom, RDMA_MAX_INIT_DEPTH),
  };
}

/** How many bytes of private data each call may carry: of connections, and of datagrams (protocol/connections.md 4.5). */
const maxPrivateData = {
  rdma_connect: { connections: PrivateDataBytes.CONNECT, datagrams: PrivateDataBytes.RESOLVE },
  rdma_accept: { connections: PrivateDataBytes.ACCEPT, datagrams: PrivateDataBytes.RESOLVED },
} as const;

interface Asking {
  readonly call: keyof typeof maxPrivateData;
  readonly context: Context;
  readonly datagrams: boolean;
  /** What the peer asked for, when it is accepted. */
  readonly asked?: CmConnParam | undefined;
  readonly manner: Manner;
}

/**
 * What `connect` and `accept` tell the peer, with all that the program left out.
 *
 * @throws VerbsError EINVAL for a value out of range, and where a parameter would have no effect
 */
export function completeParameters(
  { call, context, datagrams, asked, manner }: Asking,
  param: ConnParam,
): CmParameters & { readonly retryCount: number } {
  const isLinux = manner === 'ignore';
  // The kernel passes these on unseen: librdmacm has put in the device's.
  const most = isLinux ? ANY_RESOURCES : mostOf(context);
  refuse(
    call,
    fieldsProblem('param', param, CONN_PARAM_FIELDS) ??
      privateDataProblem(param.privateData, maxPrivateData[call][datagrams ? 'datagrams' : 'connections']) ??
      paramProblem(param, most) ??
      (isLinux ? undefined : effectProblem(call, datagrams, param)),
  );
  const choose = (given: number | undefined, wish: number | undefined, max: number): number =>
    given === undefined || given === RDMA_MAX_RESP_RES ? Math.min(wish ?? max, max) : given;
  return {
    privateData: param.privateData ?? NOTHING,
    responderResources: choose(param.responderResources, asked?.responderResources, most.responderResources),
    initiatorDepth: choose(param.initiatorDepth, asked?.initiatorDepth, most.initiatorDepth),
    flowControl: param.flowControl ?? false,
    retryCount: param.retryCount ?? MAX_RETRIES,
    rnrRetryCount: param.rnrRetryCount ?? MAX_RETRIES,
  };
}
