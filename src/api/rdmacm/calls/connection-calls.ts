import { EventType, isOneOf, PrivateDataBytes, QpState, QpType, RDMA_UDP_QKEY } from '../../../device/ibta/index.js';
import type { CmQp } from '../../../device/cm/index.js';
import { invalid, type QpModifyAttr, refuse, show, VerbsError } from '../../verbs/index.js';
import { gidOf } from '../addresses/address.js';
import { bindAddr } from '../addresses/addressing.js';
import type { Identity } from '../identifiers/identity.js';
import type { ConnParam } from '../identifiers/parameters.js';
import type { CmIdResources } from '../identifiers/cm-id-resources.js';
import { IdState } from '../identifiers/states.js';
import { completeParameters, type Manner, privateDataProblem } from './connection-parameters.js';

const { REJECT, RESOLVED } = PrivateDataBytes;
const NOTHING = new Uint8Array(0);

/** The identifier's queue pair, or the one made elsewhere that the program names. */
function queuePairOf(identity: Identity, resources: CmIdResources, param: ConnParam): CmQp | undefined {
  if (resources.connectable !== undefined) return resources.connectable;
  const { qpNum, qpType = identity.qpType, srq = false } = param;
  return qpNum === undefined ? undefined : { qpNum, qpType, srq, managed: false };
}

function noQueuePair(call: string): VerbsError {
  return new VerbsError(call, invalid('there is no queue pair', 'Call createQp first, or name one by qpNum'));
}

/** Implements `rdma_connect`. */
export function connect(
  identity: Identity,
  resources: CmIdResources,
  param: ConnParam,
  manner: Manner = 'refuse',
): void {
  const call = 'rdma_connect';
  const context = identity.requireContext('connect');
  const { peer, options, datagrams } = identity;
  const parameters = completeParameters({ call, context, datagrams, manner }, param);
  if (peer === undefined || peer.port === 0)
    throw new VerbsError(call, invalid('the peer has no port', 'Give one to resolveAddr'));
  const qp = datagrams ? undefined : queuePairOf(identity, resources, param);
  if (!datagrams && qp === undefined) throw noQueuePair(call);
  identity.command(call, 'cmConnect', (id) => ({
    ...parameters,
    id,
    destination: gidOf(peer.host),
    port: peer.port,
    qp,
    trafficClass: options.trafficClass,
    ackTimeout: options.ackTimeout,
  }));
  identity.state = IdState.CONNECT;
  identity.leadsQp = qp?.managed === true;
  identity.complete(call);
}

/** Implements `rdma_listen`. */
export function listen(identity: Identity, backlog: number): void {
  const call = 'rdma_listen';
  identity.require('listen');
  if (!Number.isInteger(backlog) || backlog < 0)
    throw new VerbsError(call, invalid(`backlog is ${show(backlog)}`, 'It is a number of requests, 0 for the most'));
  if (identity.state === IdState.IDLE) bindAddr(identity, {});
  if (identity.binding !== undefined) identity.binding.listen(call, backlog);
  else identity.command(call, 'cmListen', (id) => ({ id, backlog }));
  identity.options.reuseAddr = false;
  identity.state = IdState.LISTEN;
}

/** Implements `rdma_accept`. */
export function accept(
  identity: Identity,
  resources: CmIdResources,
  param: ConnParam,
  manner: Manner = 'refuse',
): void {
  const call = 'rdma_accept';
  const context = identity.requireContext('accept');
  const { datagrams, asked } = identity;
  const parameters = completeParameters({ call, context, datagrams, asked, manner }, param);
  const qp = queuePairOf(identity, resources, param);
  if (qp === undefined) throw noQueuePair(call);
  const { ackTimeout } = identity.options;
  const qkey = param.qkey ?? RDMA_UDP_QKEY;
  identity.command(call, 'cmAccept', (id) => ({ ...parameters, id, qp, qkey, ackTimeout }));
  identity.leadsQp = qp.managed;
  // Nothing follows on this side when a question for a datagram queue pair was answered.
  if (datagrams) identity.settleEvent();
  else identity.complete(call);
}

/** Implements `rdma_reject`. */
export function reject(identity: Identity, privateData: Uint8Array | undefined): void {
  const call = 'rdma_reject';
  identity.require('reject');
  refuse(call, privateDataProblem(privateData, identity.datagrams ? RESOLVED : REJECT));
  identity.command(call, 'cmReject', (id) => ({ id, privateData: privateData ?? NOTHING }));
}

/** Implements `rdma_establish`. */
export function establish(identity: Identity, resources: CmIdResources): void {
  const call = 'rdma_establish';
  identity.require('establish');
  if (resources.connectable !== undefined)
    throw new VerbsError(call, invalid('the identifier has a queue pair', 'Its connection is completed by itself'));
  identity.command(call, 'cmEstablish', (id) => id);
}

/** Implements `rdma_notify`. */
export function notify(identity: Identity, event: EventType): void {
  const call = 'rdma_notify';
  identity.require('notify');
  if (event !== EventType.COMM_EST)
    throw new VerbsError(call, invalid(`event is ${show(event)}`, 'Only COMM_EST is worth telling'));
  identity.command(call, 'cmNotify', (id) => id);
}

/** Implements `rdma_disconnect`. */
export function disconnect(identity: Identity): void {
  const call = 'rdma_disconnect';
  identity.require('disconnect');
  const { isOver } = identity;
  identity.command(call, 'cmDisconnect', (id) => id);
  identity.complete(call, !isOver);
}

/** Implements `rdma_init_qp_attr`. */
export function initQpAttr(identity: Identity, resources: CmIdResources, qpState: QpState): QpModifyAttr {
  const call = 'rdma_init_qp_attr';
  identity.require('initQpAttr');
  if (!isOneOf(QpState, qpState))
    throw new VerbsError(call, invalid(`qpState is ${show(qpState)}`, 'It is one of QpState'));
  const qpType = resources.connectable?.qpType ?? (identity.datagrams ? QpType.UD : identity.qpType);
  const attributes = identity.command(call, 'cmInitQpAttr', (id) => ({ id, qpType, qpState }));
  const { ackTimeout } = identity.options;
  // The option counts whenever it was set, as in Linux.
  return attributes.timeout === undefined || ackTimeout === undefined
    ? attributes
    : { ...attributes, timeout: ackTimeout };
}
