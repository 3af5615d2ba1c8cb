import {
  acceptAsLinux,
  CmOption,
  connectAsLinux,
  type ConnParam,
  setOptionAsLinux,
  type SocketAddress,
} from '../../api/rdmacm/index.js';
import { invalid, VerbsError } from '../../api/verbs/index.js';
import { type ErrnoName, type EventType, type PortSpace, type QpState, QpType } from '../../device/ibta/index.js';
import { struct, u32, type ValuesOf } from '../../device/wire/index.js';
import { answering, answeringOf, type Command, doing, type Done, NOT_YET } from './command.js';
import type { Identifier } from './identifier.js';
import { connParamOf } from './structs/conn-param.js';
import { EVENT } from './structs/event.js';
import { QP_ATTR, qpAttrFor } from './structs/qp-attr.js';
import * as Requests from './structs/requests.js';
import { ROUTE, routeFor } from './structs/route.js';
import { lacksScope, type SOCKADDR, socketAddressOf } from './structs/socket-address.js';
import type { UcmaFile } from './ucma-file.js';

type Sockaddr = ValuesOf<typeof SOCKADDR>;

const ID_MADE = struct({ id: u32(0) });
const EVENTS = struct({ eventsReported: u32(0) });

function fail(call: string, errno: ErrnoName, message: string): never {
  throw new VerbsError(call, { errno, message, advice: '' });
}

function address(call: string, given: Sockaddr): SocketAddress {
  const found = socketAddressOf(call, given);
  if (found === undefined) throw new VerbsError(call, invalid('there is no address'));
  return found;
}

const LOOPBACK = /^(127\.|::1$)/;

/** `RDMA_OPTION_ID`, the only level that has options here. */
const LEVEL_ID = 0;

/** Bytes of the value of each option. */
const optionBytes: Readonly<Record<CmOption, number>> = {
  [CmOption.TOS]: 1,
  [CmOption.REUSEADDR]: 4,
  [CmOption.AFONLY]: 4,
  [CmOption.ACK_TIMEOUT]: 1,
};

type SetOption = ValuesOf<typeof Requests.SET_OPTION>;

function setOption(
  { cmId }: Identifier,
  { level, name, length, value }: SetOption,
  file: UcmaFile,
  call: string,
): void {
  const option = Object.values(CmOption).find((known) => known === name);
  if (level !== LEVEL_ID || option === undefined) fail(call, 'ENOSYS', `there is no option ${name} of level ${level}`);
  if (length !== optionBytes[option])
    fail(call, 'EINVAL', `option ${option} has ${optionBytes[option]} bytes, not ${length}`);
  const number = file.parts.readMemory(value, length).readUIntLE(0, length);
  if (option === CmOption.REUSEADDR || option === CmOption.AFONLY) setOptionAsLinux(cmId, option, number !== 0);
  else setOptionAsLinux(cmId, option, number);
}

/** @throws VerbsError EINVAL as in the kernel: an identifier that is bound to a wildcard address has no device */
function requireDevice(call: string, { cmId }: Identifier): void {
  if (cmId.verbs === undefined) throw new VerbsError(call, invalid('the identifier has no device'));
}

interface Join {
  readonly file: UcmaFile;
  readonly identifier: Identifier;
  readonly call: string;
  readonly request: { readonly uid: bigint; readonly addr: Sockaddr };
}

function join({ file, identifier, call, request: { uid, addr } }: Join): Done<ValuesOf<typeof ID_MADE>> {
  const group = address(call, addr);
  requireDevice(call, identifier);
  const membership = file.join(identifier, group, uid, (made) => identifier.cmId.joinMulticast(group, made));
  return { answer: { id: membership.number }, undo: () => file.leave(membership) };
}

interface Resolve {
  readonly identifier: Identifier;
  readonly call: string;
  readonly request: { readonly source: Sockaddr; readonly to: Sockaddr; readonly timeoutMs: number };
}

function resolve({ identifier, call, request: { source, to, timeoutMs } }: Resolve): void {
  const destination = address(call, to);
  identifier.destination = { host: destination.host ?? '0.0.0.0', port: destination.port ?? 0 };
  identifier.cmId.resolveAddr(destination, { source: socketAddressOf(call, source), timeoutMs });
}

interface Bind {
  readonly file: UcmaFile;
  readonly identifier: Identifier;
  readonly call: string;
  readonly request: { readonly addr: Sockaddr };
}

function bind({ file, identifier, call, request }: Bind): void {
  const own = address(call, request.addr);
  if (lacksScope(request.addr)) fail(call, 'EINVAL', `${own.host} is link-local, and sin6_scope_id names no interface`);
  try {
    identifier.cmId.bindAddr(own);
  } catch (error) {
    // Another launcher may have the usual loopback address, which the program cannot know.
    if (
      file.parts.tell === undefined &&
      error instanceof VerbsError &&
      error.errno === 'EADDRNOTAVAIL' &&
      LOOPBACK.test(own.host ?? '')
    )
      file.explain(`${error.message}. Option --addr chooses the address`);
    throw error;
  }
}

/** As in the kernel, a failed accept rejects the peer, which would wait otherwise. */
function acceptOrReject({ cmId }: Identifier, param: ConnParam): void {
  try {
    acceptAsLinux(cmId, param);
  } catch (error) {
    try {
      cmId.reject();
    } catch (second) {
      // There is no request any more.
      if (!(second instanceof VerbsError)) throw second;
    }
    throw error;
  }
}

/** Before the connection is there, the kernel reports success and sends nothing: librdmacm has moved the queue pair to ERR. */
function disconnect({ cmId, hasPeer }: Identifier): void {
  try {
    cmId.disconnect();
  } catch (error) {
    if (!hasPeer || !(error instanceof VerbsError) || error.errno !== 'EINVAL') throw error;
  }
}

/** Every command by its number. Those that are missing the kernel does not have either, or only for InfiniBand: ENOSYS. */
export const commands: Readonly<Partial<Record<number, Command>>> = {
  0: answering('rdma_create_id', Requests.CREATE_ID, ID_MADE, ({ file, request }) => {
    const portSpace = request.portSpace as PortSpace; // createId refuses what is none
    const qpType = Object.values(QpType).find((known) => known === request.qpType);
    const identifier = file.create(portSpace, qpType, request.uid);
    return { answer: { id: identifier.number }, undo: () => file.destroy(identifier) };
  }),
  1: answeringOf('rdma_destroy_id', Requests.ID_WITH_RESPONSE, EVENTS, ({ identifier, file }) => {
    file.destroy(identifier);
    file.remember(identifier);
    return { answer: { eventsReported: identifier.eventsReported } };
  }),
  2: doing('rdma_bind_addr', Requests.BIND_IP, bind),
  3: doing('rdma_resolve_addr', Requests.RESOLVE_IP, resolve),
  4: doing('rdma_resolve_route', Requests.RESOLVE_ROUTE, ({ identifier, request }) =>
    identifier.cmId.resolveRoute(request.timeoutMs),
  ),
  5: answeringOf('rdma_query_route', Requests.ID_WITH_RESPONSE, ROUTE, ({ identifier }) => ({
    answer: routeFor(identifier.cmId),
  })),
  6: doing('rdma_connect', Requests.CONNECT, ({ identifier, request, call }) => {
    const param = connParamOf(request.param);
    if (param === undefined) throw new VerbsError(call, invalid('there are no parameters'));
    connectAsLinux(identifier.cmId, param);
    identifier.hasPeer = true;
  }),
  7: doing('rdma_listen', Requests.LISTEN, ({ identifier, request }) => {
    identifier.cmId.listen(Math.max(0, request.backlog));
    identifier.isListening = true;
  }),
  8: doing('rdma_accept', Requests.ACCEPT, ({ identifier, request }) => {
    const param = connParamOf(request.param);
    // Without parameters it is the active side that says that its queue pair is ready.
    if (param === undefined) {
      identifier.cmId.establish();
      return;
    }
    acceptOrReject(identifier, param);
    identifier.uid = request.uid;
  }),
  9: doing('rdma_reject', Requests.REJECT, ({ identifier, request: { privateData, privateDataLen } }) =>
    identifier.cmId.reject(privateData.subarray(0, privateDataLen)),
  ),
  10: doing('rdma_disconnect', Requests.ID, ({ identifier }) => disconnect(identifier)),
  11: answeringOf('rdma_init_qp_attr', Requests.INIT_QP_ATTR, QP_ATTR, ({ identifier, request, call }) => {
    requireDevice(call, identifier);
    // initQpAttr refuses what is no state.
    return { answer: qpAttrFor(identifier.cmId.initQpAttr(request.qpState as QpState)) };
  }),
  12: answering('rdma_get_cm_event', Requests.GET_EVENT, EVENT, ({ file }) => file.fetch() ?? NOT_YET),
  14: doing('rdma_set_option', Requests.SET_OPTION, ({ identifier, request, file, call }) =>
    setOption(identifier, request, file, call),
  ),
  15: doing(
    'rdma_notify',
    Requests.NOTIFY,
    ({ identifier, request }) => identifier.cmId.notify(request.event as EventType), // notify refuses what is none
  ),
  16: answeringOf('rdma_join_multicast', Requests.JOIN_IP_MCAST, ID_MADE, join),
  17: answering('rdma_leave_multicast', Requests.ID_WITH_RESPONSE, EVENTS, ({ file, request, call }) => {
    const membership = file.identifiers.getMembership(call, request.id, file);
    file.leave(membership);
    return { answer: { eventsReported: membership.eventsReported } };
  }),
  18: answering('rdma_migrate_id', Requests.MIGRATE_ID, EVENTS, ({ file, request, call }) => {
    const from = file.parts.fileAt(request.fd);
    if (from === undefined) fail(call, 'ENOENT', 'that is no event channel');
    const identifier = file.identifiers.get(call, request.id, from);
    file.adopt(identifier, from);
    return { answer: { eventsReported: identifier.eventsReported } };
  }),
  20: doing('rdma_bind_addr', Requests.BIND, bind),
  21: doing('rdma_resolve_addr', Requests.RESOLVE_ADDR, resolve),
  22: answeringOf('rdma_join_multicast', Requests.JOIN_MCAST, ID_MADE, join),
};

/** Numbers from here on no kernel knows. */
export const COMMANDS = 25;
