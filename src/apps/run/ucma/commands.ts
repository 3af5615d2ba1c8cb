import { CmOption } from '../../../api/rdmacm/index.js';
import { type ErrnoName, type EventType, type PortSpace, type QpState, QpType } from '../../../device/ibta/index.js';
import { invalid, VerbsError } from '../../../api/verbs/index.js';
import type { Identifier } from './identifier.js';
import { CONN_PARAM_BYTES, readConnParam } from './structs/conn-param.js';
import { encodeQpAttr } from './structs/qp-attr.js';
import { encodeRoute } from './structs/route.js';
import { readSocketAddress, SOCKADDR_IN6_BYTES } from './structs/socket-address.js';
import type { UcmaFile } from './ucma-file.js';

/** What a command gives the program. */
export interface Answer {
  readonly bytes: Buffer;
  /** Takes back what was done, where the program cannot be told of it. */
  undo?(): void;
}

/** Of a command whose time has not come: the program waits, or is told EAGAIN where it does not want to. */
export const NOT_YET = Symbol('not yet');

/** A command of `/dev/infiniband/rdma_cm`, as `rdma_user_cm.h` has it. */
export interface Command {
  /** The call of librdmacm that comes to it. */
  readonly call: string;
  /** Least length of the request. */
  readonly bytes: number;
  /** Where in the request the address for the answer lies. */
  readonly responseAt?: number;
  /** Length of the answer. */
  readonly responseBytes?: number;
  readonly act: (file: UcmaFile, request: Buffer, call: string) => Answer | typeof NOT_YET | undefined;
}

const NUMBER_BYTES = 4;

function number(value: number, undo?: () => void): Answer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUInt32LE(value);
  return undo === undefined ? { bytes } : { bytes, undo };
}

function address(call: string, request: Buffer, at: number): NonNullable<ReturnType<typeof readSocketAddress>> {
  const found = readSocketAddress(call, request, at);
  if (found === undefined) throw new VerbsError(call, invalid('there is no address'));
  return found;
}

type Act<T> = (identifier: Identifier, request: Buffer, file: UcmaFile, call: string) => T;

/** A command on the identifier whose number lies at `at`, that has an answer. */
function answering(at: number, act: Act<Answer>): Command['act'] {
  return (file, request, call) => act(file.identifiers.get(call, request.readUInt32LE(at), file), request, file, call);
}

/** A command on the identifier whose number lies at `at`, that has none. */
function doing(at: number, act: Act<void>): Command['act'] {
  return (file, request, call) => {
    act(file.identifiers.get(call, request.readUInt32LE(at), file), request, file, call);
    return undefined;
  };
}

/** `RDMA_OPTION_ID`, the only level that has options here. */
const LEVEL_ID = 0;

/** Bytes of the value of each option. */
const optionBytes: Readonly<Record<CmOption, number>> = {
  [CmOption.TOS]: 1,
  [CmOption.REUSEADDR]: 4,
  [CmOption.AFONLY]: 4,
  [CmOption.ACK_TIMEOUT]: 1,
};

function fail(call: string, errno: ErrnoName, message: string): never {
  throw new VerbsError(call, { errno, message, advice: '' });
}

function setOption({ cmId }: Identifier, request: Buffer, { parts }: UcmaFile, call: string): void {
  const level = request.readUInt32LE(12);
  const name = request.readUInt32LE(16);
  const option = Object.values(CmOption).find((known) => known === name);
  const length = request.readUInt32LE(20);
  if (level !== LEVEL_ID || option === undefined) fail(call, 'ENOSYS', `there is no option ${name} of level ${level}`);
  if (length !== optionBytes[option])
    fail(call, 'EINVAL', `option ${option} has ${optionBytes[option]} bytes, not ${length}`);
  const value = parts.readMemory(request.readBigUInt64LE(0), length).readUIntLE(0, length);
  if (option === CmOption.REUSEADDR || option === CmOption.AFONLY) cmId.setOption(option, value !== 0);
  else cmId.setOption(option, value);
}

function join(groupAt: number, uidAt: number) {
  return (identifier: Identifier, request: Buffer, file: UcmaFile, call: string): Answer => {
    const group = address(call, request, groupAt);
    const membership = file.join(identifier, group, request.readBigUInt64LE(uidAt), (made) =>
      identifier.cmId.joinMulticast(group, made),
    );
    return number(membership.number, () => file.leave(membership));
  };
}

/** The form of BIND and RESOLVE_ADDR that has room for addresses of any family. */
const SOCKADDR_STORAGE_BYTES = 128;

/** Every command by its number. Those that are missing the kernel does not have either, or only for InfiniBand: ENOSYS. */
export const commands: Readonly<Partial<Record<number, Command>>> = {
  0: {
    call: 'rdma_create_id',
    bytes: 24,
    responseAt: 8,
    responseBytes: NUMBER_BYTES,
    act: (file, request) => {
      const portSpace = request.readUInt16LE(16) as PortSpace; // createId refuses what is none
      const qpType = Object.values(QpType).find((known) => known === request[18]);
      const identifier = file.create(portSpace, qpType, request.readBigUInt64LE(0));
      return number(identifier.number, () => file.destroy(identifier));
    },
  },
  1: {
    call: 'rdma_destroy_id',
    bytes: 12,
    responseAt: 0,
    responseBytes: NUMBER_BYTES,
    act: answering(8, (identifier, _, file) => {
      file.destroy(identifier);
      return number(identifier.eventsReported);
    }),
  },
  2: {
    call: 'rdma_bind_addr',
    bytes: 40,
    act: doing(36, ({ cmId }, request, _, call) => cmId.bindAddr(address(call, request, 8))),
  },
  3: {
    call: 'rdma_resolve_addr',
    bytes: 64,
    act: doing(56, ({ cmId }, request, _, call) =>
      cmId.resolveAddr(address(call, request, SOCKADDR_IN6_BYTES), {
        source: readSocketAddress(call, request, 0),
        timeoutMs: request.readUInt32LE(60),
      }),
    ),
  },
  4: {
    call: 'rdma_resolve_route',
    bytes: 8,
    act: doing(0, ({ cmId }, request) => cmId.resolveRoute(request.readUInt32LE(4))),
  },
  5: {
    call: 'rdma_query_route',
    bytes: 12,
    responseAt: 0,
    responseBytes: 208,
    act: answering(8, ({ cmId }) => ({ bytes: encodeRoute(cmId) })),
  },
  6: {
    call: 'rdma_connect',
    bytes: CONN_PARAM_BYTES + 4,
    act: doing(CONN_PARAM_BYTES, ({ cmId }, request, _, call) => {
      const param = readConnParam(request, 0);
      if (param === undefined) throw new VerbsError(call, invalid('there are no parameters'));
      cmId.connect(param);
    }),
  },
  7: {
    call: 'rdma_listen',
    bytes: 8,
    act: doing(0, ({ cmId }, request) => cmId.listen(Math.max(0, request.readInt32LE(4)))),
  },
  8: {
    call: 'rdma_accept',
    bytes: 8 + CONN_PARAM_BYTES + 4,
    act: doing(8 + CONN_PARAM_BYTES, (identifier, request) => {
      const param = readConnParam(request, 8);
      // Without parameters it is the active side that says that its queue pair is ready.
      if (param === undefined) {
        identifier.cmId.establish();
        return;
      }
      identifier.cmId.accept(param);
      identifier.uid = request.readBigUInt64LE(0);
    }),
  },
  9: {
    call: 'rdma_reject',
    bytes: 8,
    act: doing(0, ({ cmId }, request) => cmId.reject(request.subarray(8, 8 + request[4]))),
  },
  10: { call: 'rdma_disconnect', bytes: 4, act: doing(0, ({ cmId }) => cmId.disconnect()) },
  11: {
    call: 'rdma_init_qp_attr',
    bytes: 16,
    responseAt: 0,
    responseBytes: 144,
    act: answering(8, ({ cmId }, request) => ({
      bytes: encodeQpAttr(cmId.initQpAttr(request.readUInt32LE(12) as QpState)), // initQpAttr refuses what is none
    })),
  },
  12: {
    call: 'rdma_get_cm_event',
    bytes: 8,
    responseAt: 0,
    responseBytes: 336,
    act: (file) => file.fetch() ?? NOT_YET,
  },
  14: { call: 'rdma_set_option', bytes: 24, act: doing(8, setOption) },
  15: {
    call: 'rdma_notify',
    bytes: 8,
    act: doing(0, ({ cmId }, request) => cmId.notify(request.readUInt32LE(4) as EventType)), // notify refuses what is none
  },
  16: {
    call: 'rdma_join_multicast',
    bytes: 48,
    responseAt: 0,
    responseBytes: NUMBER_BYTES,
    act: answering(44, join(16, 8)),
  },
  17: {
    call: 'rdma_leave_multicast',
    bytes: 12,
    responseAt: 0,
    responseBytes: NUMBER_BYTES,
    act: (file, request, call) => {
      const membership = file.identifiers.getMembership(call, request.readUInt32LE(8), file);
      file.leave(membership);
      return number(membership.eventsReported);
    },
  },
  18: {
    call: 'rdma_migrate_id',
    bytes: 16,
    responseAt: 0,
    responseBytes: NUMBER_BYTES,
    act: (file, request, call) => {
      const from = file.parts.fileAt(request.readInt32LE(12));
      if (from === undefined) fail(call, 'ENOENT', 'that is no event channel');
      const identifier = file.identifiers.get(call, request.readUInt32LE(8), from);
      file.adopt(identifier, from);
      return number(identifier.eventsReported);
    },
  },
  20: {
    call: 'rdma_bind_addr',
    bytes: 8 + SOCKADDR_STORAGE_BYTES,
    act: doing(0, ({ cmId }, request, _, call) => cmId.bindAddr(address(call, request, 8))),
  },
  21: {
    call: 'rdma_resolve_addr',
    bytes: 16 + 2 * SOCKADDR_STORAGE_BYTES,
    act: doing(0, ({ cmId }, request, _, call) =>
      cmId.resolveAddr(address(call, request, 16 + SOCKADDR_STORAGE_BYTES), {
        source: readSocketAddress(call, request, 16),
        timeoutMs: request.readUInt32LE(4),
      }),
    ),
  },
  22: {
    call: 'rdma_join_multicast',
    bytes: 24 + SOCKADDR_STORAGE_BYTES,
    responseAt: 0,
    responseBytes: NUMBER_BYTES,
    act: answering(16, join(24, 8)),
  },
};

/** Numbers from here on no kernel knows. */
export const COMMANDS = 25;
