import { type FlagName } from './flags.js';
import { RC, type Service, UC, UD } from './loop/service.js';

/** What tells the tools apart that play two hosts against each other. */
export interface PingPongTool {
  readonly name: string;
  readonly over: string;
  readonly service: Service;
  readonly flags: readonly FlagName[];
  readonly sizeBytes: number;
  readonly fill: number;
  /** Whether all QPs, up to {@link MAX_QP}, take their receive requests from one queue. */
  readonly shared: boolean;
  /** Between PSN and GID of the local address; the C tool for datagrams has it differently there. */
  readonly mark: string;
  /** What the C tool says when there is no GID of that index. */
  noGid(index: number): string;
}

/** So many addresses the tool with many QPs exchanges, however many it uses; and the C tool has room for. */
export const MAX_QP = 256;

const FILL = 0x7b;
const COMMON: readonly FlagName[] = [
  'port',
  'ibDev',
  'ibPort',
  'size',
  'rxDepth',
  'iters',
  'sl',
  'events',
  'gidIdx',
  'chk',
];
const one = { shared: false, fill: FILL, mark: ',' };
const unreadable = (index: number): string => `can't read sgid of index ${index}`;
const absent = (index: number): string => `Could not get local gid for gid index ${index}`;

export const PING_PONGS = {
  ibv_rc_pingpong: {
    ...one,
    name: 'ibv_rc_pingpong',
    over: 'a reliable connection',
    service: RC,
    flags: [...COMMON, 'mtu', 'odp', 'iodp', 'prefetch', 'ts', 'dm', 'newSend', 'unprotected'],
    sizeBytes: 4096,
    noGid: unreadable,
  },
  ibv_uc_pingpong: {
    ...one,
    name: 'ibv_uc_pingpong',
    over: 'an unreliable connection',
    service: UC,
    flags: [...COMMON, 'mtu'],
    sizeBytes: 4096,
    noGid: unreadable,
  },
  ibv_ud_pingpong: {
    ...one,
    name: 'ibv_ud_pingpong',
    over: 'unreliable datagrams',
    service: UD,
    flags: COMMON,
    sizeBytes: 1024,
    mark: ':',
    noGid: absent,
  },
  ibv_srq_pingpong: {
    name: 'ibv_srq_pingpong',
    over: 'reliable connections that share a receive queue',
    service: RC,
    flags: [...COMMON, 'mtu', 'numQp', 'odp'],
    sizeBytes: 4096,
    fill: 0,
    shared: true,
    mark: ',',
    noGid: absent,
  },
} as const satisfies Readonly<Record<string, PingPongTool>>;
