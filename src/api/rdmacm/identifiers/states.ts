import { nameOf } from '../../../device/ibta/index.js';
import { invalid, type Problem } from '../../verbs/index.js';

/** How far an identifier is (protocol/connections.md 4.7). */
export const IdState = {
  IDLE: 0,
  ADDR_BOUND: 1,
  ADDR_RESOLVED: 2,
  ROUTE_RESOLVED: 3,
  CONNECT: 4,
  DISCONNECT: 5,
  LISTEN: 6,
  REMOVED: 7,
  DESTROYED: 8,
} as const;
export type IdState = (typeof IdState)[keyof typeof IdState];

interface StateRule {
  /** The C name. */
  readonly call: string;
  readonly states: readonly IdState[];
  readonly advice: string;
}

const { IDLE, ADDR_BOUND, ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT, DISCONNECT, LISTEN, REMOVED } = IdState;
const WITH_DEVICE = [ADDR_BOUND, ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT, DISCONNECT, LISTEN];

/** In which states each call may be made. */
export const idCalls = {
  bindAddr: { call: 'rdma_bind_addr', states: [IDLE], advice: 'An identifier is bound once; make another' },
  resolveAddr: {
    call: 'rdma_resolve_addr',
    states: [IDLE, ADDR_BOUND],
    advice: 'It comes first, or after bindAddr; for another peer make another identifier',
  },
  resolveRoute: {
    call: 'rdma_resolve_route',
    states: [ADDR_RESOLVED],
    advice: 'Call resolveAddr and wait for ADDR_RESOLVED',
  },
  createQp: { call: 'rdma_create_qp', states: WITH_DEVICE, advice: 'It has a device after bindAddr or resolveAddr' },
  createSrq: { call: 'rdma_create_srq', states: WITH_DEVICE, advice: 'It has a device after bindAddr or resolveAddr' },
  connect: {
    call: 'rdma_connect',
    states: [ROUTE_RESOLVED],
    advice: 'Call resolveRoute and wait for ROUTE_RESOLVED; after a connection was asked for, make another identifier',
  },
  listen: {
    call: 'rdma_listen',
    states: [IDLE, ADDR_BOUND],
    advice: 'It comes after bindAddr, or first, for any address',
  },
  accept: { call: 'rdma_accept', states: [CONNECT], advice: 'It takes the identifier of a CONNECT_REQUEST' },
  reject: { call: 'rdma_reject', states: [CONNECT], advice: 'It takes the identifier of a CONNECT_REQUEST' },
  establish: { call: 'rdma_establish', states: [CONNECT], advice: 'It comes after CONNECT_RESPONSE' },
  notify: { call: 'rdma_notify', states: [CONNECT, DISCONNECT], advice: 'It is for identifiers that connect' },
  disconnect: {
    call: 'rdma_disconnect',
    states: [CONNECT, DISCONNECT],
    advice: 'There is no connection; destroy ends the identifier in any state',
  },
  joinMulticast: {
    call: 'rdma_join_multicast',
    states: [ADDR_BOUND, ADDR_RESOLVED],
    advice: 'It comes after bindAddr, or after ADDR_RESOLVED; groups need no route',
  },
  leaveMulticast: { call: 'rdma_leave_multicast', states: [IDLE, ...WITH_DEVICE], advice: '' },
  initQpAttr: {
    call: 'rdma_init_qp_attr',
    states: WITH_DEVICE,
    advice: 'It has a device after bindAddr or resolveAddr',
  },
  migrate: { call: 'rdma_migrate_id', states: [IDLE, ...WITH_DEVICE, REMOVED], advice: '' },
  setOption: { call: 'rdma_set_option', states: [IDLE, ...WITH_DEVICE], advice: '' },
  getRequest: { call: 'rdma_get_request', states: [LISTEN], advice: 'Call listen first' },
  resolveAddrInfo: { call: 'rdma_resolve_addrinfo', states: [IDLE, ...WITH_DEVICE], advice: '' },
  queryAddrInfo: { call: 'rdma_query_addrinfo', states: [IDLE, ...WITH_DEVICE], advice: '' },
  writeCmEvent: { call: 'rdma_write_cm_event', states: [IDLE, ...WITH_DEVICE, REMOVED], advice: '' },
  destroy: { call: 'rdma_destroy_id', states: [IDLE, ...WITH_DEVICE, REMOVED], advice: '' },
} as const satisfies Readonly<Record<string, StateRule>>;
export type IdCall = keyof typeof idCalls;

const FINAL: ReadonlyMap<IdState, string> = new Map([
  [IdState.REMOVED, 'Its device is gone; destroy it and make another'],
  [IdState.DESTROYED, 'Nothing can be done with it after that'],
]);

/** Why a call cannot be made in a state, or undefined when it can. */
export function stateProblem(name: IdCall, state: IdState): Problem | undefined {
  const { states, advice }: StateRule = idCalls[name];
  if (states.includes(state)) return undefined;
  return invalid(`the identifier is in state ${nameOf(IdState, state)}`, FINAL.get(state) ?? advice);
}
