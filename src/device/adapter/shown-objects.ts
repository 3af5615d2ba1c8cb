import type { CmIdState, ConnectionManager } from '../cm/index.js';
import { ipFromGid } from '../ibta/index.js';
import type { Nic, ShownQp } from '../nic/index.js';
import type { AdapterUsers } from './adapter.js';
import type { Kind } from './ownership.js';

export interface ShownOwner {
  readonly ctx: number;
  /** The process that it is for, where that is not the NIC's: a program under `verbena run`. */
  readonly pid?: number;
}

/** What Linux's `rdma resource show qp` prints of a queue pair. */
export interface ShownOwnQp extends ShownQp, ShownOwner {}

/** What Linux's `rdma resource show pd` prints of a protection domain. */
export interface ShownPd extends ShownOwner {
  readonly pd: number;
  readonly users: number;
}

/** What Linux's `rdma resource show mr` prints of a memory region to root. */
export interface ShownMr extends ShownOwner {
  readonly handle: number;
  readonly pd: number;
  readonly lkey: number;
  readonly rkey: number;
  /** Where it begins for peers; hexadecimal. */
  readonly iova: string;
  readonly lengthBytes: number;
}

/** What Linux's `rdma resource show cq` prints of a completion queue. */
export interface ShownCq extends ShownOwner {
  readonly cqn: number;
  readonly cqe: number;
  /** How many queues complete there. */
  readonly users: number;
}

/** What Linux's `rdma resource show srq` prints of a shared receive queue. */
export interface ShownSrq extends ShownOwner {
  readonly srqn: number;
  readonly pd: number;
  readonly isXrc: boolean;
  readonly qpns: readonly number[];
  readonly cqn?: number;
}

/** What Linux's `rdma resource show cm_id` prints of an identifier. */
export interface ShownId extends ShownOwner {
  readonly id: number;
  readonly portSpace: number;
  readonly state: CmIdState;
  readonly qpn?: number;
  /** As `10.0.0.1:7174`. */
  readonly source?: string;
  readonly destination?: string;
}

/** The objects of a NIC, those that were made first of each kind, and how many of each kind there are. */
export interface ShownObjects {
  readonly counts: Readonly<Record<'pd' | 'cq' | 'qp' | 'cmId' | 'mr' | 'ctx' | 'srq', number>>;
  readonly qps: readonly ShownOwnQp[];
  readonly pds: readonly ShownPd[];
  readonly mrs: readonly ShownMr[];
  readonly cqs: readonly ShownCq[];
  readonly srqs: readonly ShownSrq[];
  readonly cmIds: readonly ShownId[];
  readonly contexts: readonly ShownOwner[];
}

/** @param most objects of each kind that are shown */
export function showObjects(nic: Nic, cm: ConnectionManager, users: AdapterUsers, most: number): ShownObjects {
  const { objects, memory } = nic;
  const { clients } = users;
  const ownerOf = (kind: Kind, number: number): ShownOwner => shownOwner(users.ownerOf(kind, number));
  const source = nic.port.gids.at(0);
  const at = (gid: Uint8Array | undefined, port: number): string | undefined =>
    gid === undefined ? undefined : `${ipFromGid(gid)}:${port}`;
  return {
    counts: {
      pd: memory.holdings.pds,
      cq: objects.cqs.size,
      qp: objects.qps.size,
      cmId: cm.identifiers.size,
      mr: memory.holdings.regions,
      ctx: clients.length,
      srq: objects.srqs.size,
    },
    qps: first(objects.qps.values(), most, (qp) => ({ ...qp.show(), ...ownerOf('qp', qp.qpn) })),
    pds: first(memory.domains(), most, ([pd, count]) => ({ pd, users: count, ...ownerOf('pd', pd) })),
    mrs: first(memory.regions(), most, ({ handle, pd, lkey, rkey, iovaHi, iovaLo, lengthBytes }) => {
      const iova = ((BigInt(iovaHi >>> 0) << 32n) | BigInt(iovaLo >>> 0)).toString(16);
      const keys = { lkey: lkey >>> 0, rkey: rkey >>> 0 };
      return { handle, pd, ...keys, iova, lengthBytes, ...ownerOf('mr', handle) };
    }),
    cqs: first(objects.cqs.values(), most, ({ cqn, entries, users: count }) => ({
      cqn,
      cqe: entries,
      users: count,
      ...ownerOf('cq', cqn),
    })),
    srqs: first(objects.srqs.values(), most, (srq) => {
      const { srqn, pd, xrcd, cq } = srq;
      const takers = [...objects.qps.values()].filter((qp) => qp.srq === srq);
      return {
        srqn,
        pd,
        isXrc: xrcd !== undefined,
        qpns: takers.slice(0, most).map(({ qpn }) => qpn),
        ...(cq === undefined ? {} : { cqn: cq.cqn }),
        ...ownerOf('srq', srqn),
      };
    }),
    cmIds: first(cm.shown(), most, ({ id, client, portSpace, state, port, peer, qpNum: qpn }) => {
      const [own, theirs] = [port === undefined ? undefined : at(source, port), at(peer?.gid, peer?.port ?? 0)];
      return {
        id,
        portSpace,
        state,
        ...(qpn === undefined ? {} : { qpn }),
        ...(own === undefined ? {} : { source: own }),
        ...(theirs === undefined ? {} : { destination: theirs }),
        ...shownOwner(clients.find((each) => each === client.host)),
      };
    }),
    contexts: first(clients.values(), most, shownOwner),
  };
}

function shownOwner(client: AdapterUsers['clients'][number] | undefined): ShownOwner {
  if (client === undefined) return { ctx: 0 };
  const { number: ctx, pid } = client;
  return pid === undefined ? { ctx } : { ctx, pid };
}

function first<From, To>(all: Iterable<From>, most: number, show: (from: From) => To): To[] {
  const shown: To[] = [];
  for (const each of all) {
    if (shown.length === most) break;
    shown.push(show(each));
  }
  return shown;
}
