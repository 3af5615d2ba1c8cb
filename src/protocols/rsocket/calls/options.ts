import { Errno, mtuBytes } from '../../../device/ibta/index.js';
import type { CmRoute } from '../../../api/rdmacm/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import {
  Fcntl,
  IpOption,
  Ipv6Option,
  O_NONBLOCK,
  RdmaOption,
  SocketLevel,
  SocketOption,
  SocketType,
  TcpOption,
  TcpState,
} from './constants.js';
import type { State } from './core.js';
import { invalidArgument, problem, unsupported } from '../errors.js';
import { type AnyCore, coreOf, type Rsocket } from './rsocket.js';
import { iomapSizeOf, scaledIomapSize } from '../wire/connection-data.js';

/** The value of an option. Switches are 0 or 1, or false or true; LINGER is whether it lingers. */
export type OptionValue = number | boolean;

/** What TCP_INFO tells: of `struct tcp_info` what rsockets know. */
export interface TcpInfo {
  readonly state: TcpState;
  /** Messages that may be under way: entries of the send queue. */
  readonly sndCwnd: number;
}

type Answer = number | TcpInfo | CmRoute;

interface Option {
  /** @throws RsocketError */
  readonly set?: (core: AnyCore, value: number) => void;
  /** @throws RsocketError */
  readonly get?: (core: AnyCore) => Answer;
}

const MAX_QUEUE = 0xfffe;
const MIN_SEND_BUFFER = 2048;
const DEFAULT_MSS = 2048;

function kept(name: string, preset = 0): Option {
  return {
    set: ({ settings }, value) => void settings.switches.set(name, value === 0 ? 0 : 1),
    get: ({ settings }) => settings.switches.get(name) ?? preset,
  };
}

/** What holds before there is an address only. @throws RsocketError EINVAL */
function refuseBound(name: string, { hasAddress }: AnyCore): void {
  if (hasAddress) throw invalidArgument('rsetsockopt', 'the socket has an address', `Set ${name} before that`);
}

/** An option that is taken and means nothing: the connection is reliable by itself. */
const MEANINGLESS: Option = { set: () => undefined, get: () => 1 };

function size(name: 'sqSize' | 'rqSize' | 'inlineBytes' | 'iomapSize', scaled: (value: number) => number): Option {
  return {
    set: (core, value) => {
      if (core.isBegun)
        throw invalidArgument(
          'rsetsockopt',
          'the connection is made already',
          'Set it before rconnect, or at the listener',
        );
      core.settings[name] = scaled(value);
    },
    get: ({ settings }) => settings[name],
  };
}

const clamped = (value: number): number => Math.min(value, MAX_QUEUE);

/** Datagrams have no connection that could be kept alive. */
function keepAlive(core: AnyCore): void {
  if (core.type === SocketType.STREAM) core.keepAlive();
}

function setKeepIdle(core: AnyCore, value: number): void {
  if (value <= 0) throw invalidArgument('rsetsockopt', `KEEPIDLE is ${value}`, 'It is a number of seconds from 1 on');
  core.settings.keepIdleSeconds = value;
  if (core.settings.keepAlive) keepAlive(core);
}

function takeError(core: AnyCore): number {
  const error = core.takeError();
  if (error === undefined) return 0;
  return error instanceof VerbsError ? error.errnoNumber : Errno.EIO;
}

/** Of a stream that is connected. @throws RsocketError ENOTCONN */
function routeOf(core: AnyCore): CmRoute {
  const call = 'rgetsockopt';
  const route = core.type === SocketType.STREAM ? core.stream(call)?.route : undefined;
  if (route === undefined) throw problem(call, 'ENOTCONN');
  return route;
}

function segmentBytes(core: AnyCore): number {
  const isConnected = core.type === SocketType.STREAM && core.state.kind === 'connected';
  const pathMtu = isConnected ? routeOf(core).pathMtu : undefined;
  return pathMtu === undefined ? DEFAULT_MSS : mtuBytes(pathMtu);
}

const TCP_STATES: Readonly<Record<State['kind'], TcpState>> = {
  new: TcpState.CLOSE,
  bound: TcpState.CLOSE,
  listening: TcpState.LISTEN,
  connecting: TcpState.SYN_SENT,
  connected: TcpState.ESTABLISHED,
  failed: TcpState.CLOSE,
  closed: TcpState.CLOSE,
};

function tcpInfo(core: AnyCore): TcpInfo {
  if (core.type !== SocketType.STREAM) throw unsupported('rgetsockopt', 'the socket is one for datagrams');
  const { state, settings, ended } = core;
  return {
    state: ended === undefined ? TCP_STATES[state.kind] : TcpState.CLOSE,
    sndCwnd: state.kind === 'connected' ? state.stream.sqSize : settings.sqSize,
  };
}

/** What each option does. What is not here there is not. */
const OPTIONS: ReadonlyMap<SocketLevel, ReadonlyMap<number, Option>> = new Map([
  [
    SocketLevel.SOCKET,
    new Map<number, Option>([
      [
        SocketOption.REUSEADDR,
        {
          set: (core, value) => {
            refuseBound('REUSEADDR', core);
            core.settings.reuseAddr = value !== 0;
          },
          get: ({ settings }) => Number(settings.reuseAddr),
        },
      ],
      [SocketOption.OOBINLINE, kept('OOBINLINE')],
      [SocketOption.LINGER, kept('LINGER', 1)],
      [SocketOption.ERROR, { get: takeError }],
      [
        SocketOption.RCVBUF,
        {
          set: (core, value) => {
            if (!core.isBegun) core.settings.receiveBufferBytes = value * 2;
          },
          get: ({ settings }) => settings.receiveBufferBytes,
        },
      ],
      [
        SocketOption.SNDBUF,
        {
          set: (core, value) => {
            if (!core.isBegun) core.settings.sendBufferBytes = Math.max(value, MIN_SEND_BUFFER) * 2;
          },
          get: ({ settings }) => settings.sendBufferBytes,
        },
      ],
      [
        SocketOption.KEEPALIVE,
        {
          set: (core, value) => {
            core.settings.keepAlive = value !== 0;
            keepAlive(core);
          },
          get: ({ settings }) => Number(settings.keepAlive),
        },
      ],
    ]),
  ],
  [
    SocketLevel.TCP,
    new Map<number, Option>([
      [TcpOption.NODELAY, kept('NODELAY')],
      [TcpOption.MAXSEG, { set: () => undefined, get: segmentBytes }],
      [TcpOption.INFO, { get: tcpInfo }],
      [TcpOption.KEEPINTVL, MEANINGLESS],
      [TcpOption.KEEPCNT, MEANINGLESS],
      [TcpOption.CONGESTION, MEANINGLESS],
      [TcpOption.KEEPIDLE, { set: setKeepIdle, get: ({ settings }) => settings.keepIdleSeconds }],
    ]),
  ],
  [
    SocketLevel.IP,
    new Map<number, Option>([
      [
        IpOption.TOS,
        { set: ({ settings }, value) => void (settings.tos = value & 0xff), get: ({ settings }) => settings.tos },
      ],
    ]),
  ],
  [
    SocketLevel.IPV6,
    new Map<number, Option>([
      [
        Ipv6Option.V6ONLY,
        {
          set: (core, value) => {
            refuseBound('V6ONLY', core);
            core.settings.ipv6Only = value !== 0;
          },
          get: ({ settings }) => Number(settings.ipv6Only),
        },
      ],
    ]),
  ],
  [
    SocketLevel.RDMA,
    new Map<number, Option>([
      [RdmaOption.SQSIZE, size('sqSize', clamped)],
      [RdmaOption.RQSIZE, size('rqSize', clamped)],
      [RdmaOption.INLINE, size('inlineBytes', clamped)],
      [RdmaOption.IOMAPSIZE, size('iomapSize', (value) => iomapSizeOf(scaledIomapSize(value)))],
      [RdmaOption.ROUTE, { get: routeOf }],
    ]),
  ],
]);

function optionOf(call: string, { type }: AnyCore, level: SocketLevel, name: number): Option {
  if (level === SocketLevel.TCP && type === SocketType.DGRAM)
    throw unsupported(call, 'the socket is one for datagrams, which TCP has none of');
  const option = OPTIONS.get(level)?.get(name);
  if (option === undefined) throw unsupported(call, `there is no option ${name} of level ${level}`);
  return option;
}

/**
 * Sets an option (`rsetsockopt`). Sizes count for connections that are made afterwards; those of a listener for the sockets that come from it. RCVBUF
 * and SNDBUF are stored doubled, and ignored once there is a connection. LINGER, OOBINLINE, NODELAY, MAXSEG, KEEPCNT, KEEPINTVL and
 * CONGESTION are taken and have no effect. TOS counts for connections that are made, and peers of datagrams that are sent to, from
 * then on; whoever accepts a connection sends as who has asked for it.
 *
 * @param name of the constants of the level: {@link SocketOption}, {@link IpOption}, {@link TcpOption}, {@link Ipv6Option}, {@link RdmaOption}
 * @throws RsocketError EOPNOTSUPP for an option that does not exist or is for reading (ERROR, INFO, ROUTE: the way to a peer follows from the addresses), and for those
 *   of TCP where the socket is one for datagrams; EINVAL for a value that it does not take, for REUSEADDR and V6ONLY once there is an address, and for those of SOL_RDMA
 *   once there is a connection; EBADF
 */
export function rsetsockopt(socket: Rsocket, level: SocketLevel, name: number, value: OptionValue): void {
  const core = coreOf('rsetsockopt', socket);
  const { set } = optionOf('rsetsockopt', core, level, name);
  if (set === undefined) throw unsupported('rsetsockopt', `option ${name} of level ${level} is for reading`);
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0)
    throw invalidArgument('rsetsockopt', `the value is ${String(value)}`, 'It is a number from 0 on, or a boolean');
  set(core, number);
  if (core.type === SocketType.STREAM) core.resize();
}

/**
 * Reads an option (`rgetsockopt`). ERROR is Linux's number of the error, or 0, and forgotten then; RCVBUF and SNDBUF are double of what was set; MAXSEG is
 * the path's MTU once there is a connection, and 2048 before.
 *
 * @throws RsocketError EOPNOTSUPP for an option that does not exist; ENOTCONN for ROUTE where there is no connection; EBADF
 */
export function rgetsockopt(socket: Rsocket, level: typeof SocketLevel.TCP, name: typeof TcpOption.INFO): TcpInfo;
export function rgetsockopt(socket: Rsocket, level: typeof SocketLevel.RDMA, name: typeof RdmaOption.ROUTE): CmRoute;
export function rgetsockopt(socket: Rsocket, level: SocketLevel, name: number): number;
export function rgetsockopt(socket: Rsocket, level: SocketLevel, name: number): Answer {
  const core = coreOf('rgetsockopt', socket);
  const { get } = optionOf('rgetsockopt', core, level, name);
  if (get === undefined) throw unsupported('rgetsockopt', `option ${name} of level ${level} is for setting`);
  return get(core);
}

/**
 * Reads or sets flags (`rfcntl`): O_NONBLOCK. Those of the descriptor mean nothing here, and are kept.
 *
 * @returns the flags, of GETFL and GETFD; else 0
 * @throws RsocketError EOPNOTSUPP for other commands; EBADF
 */
export function rfcntl(socket: Rsocket, command: Fcntl, flags = 0): number {
  const { settings } = coreOf('rfcntl', socket);
  switch (command) {
    case Fcntl.GETFL:
      return settings.isNonblocking ? O_NONBLOCK : 0;
    case Fcntl.SETFL:
      settings.isNonblocking = (flags & O_NONBLOCK) !== 0;
      return 0;
    case Fcntl.GETFD:
      return settings.descriptorFlags;
    case Fcntl.SETFD:
      settings.descriptorFlags = flags;
      return 0;
    default:
      throw unsupported('rfcntl', `command ${String(command)}`, 'It is one of Fcntl');
  }
}
