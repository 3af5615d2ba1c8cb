import type {
  AhAttr,
  CompCntrCaps,
  DeviceAttr,
  DeviceAttrEx,
  Gid,
  GidType,
  NodeType,
  PortAttr,
  TransportType,
} from '../../device/ibta/index.js';
import type { AsyncEvent } from './async-event.js';
import type { CompCntr, CompCntrInitAttr } from './completion-counter.js';
import type { CompChannel, Cq, CqInitAttr } from './completion.js';
import type { ParentDomain, ParentDomainInitAttr, Td } from './parent-domain.js';
import type { Pd } from './protection-domain.js';
import type { WorkCompletion } from './work-completion.js';
import type { Xrcd, XrcdInitAttr } from './xrc-domain.js';

/** Where a software NIC runs: in a thread of its own, or in the caller's, moved on by post and poll. */
export type HostKind = 'thread' | 'inline';

/** By which way packets go: `auto` chooses for each peer, `udp` and `shm` (shared memory) take that one alone. */
export type LinkKind = 'auto' | 'udp' | 'shm';

/** How to open a device. */
export interface OpenOptions {
  /** Default: the environment's VERBENA_HOST, else 'thread'. */
  readonly host?: HostKind;
  /** The IP address to be. Default: the environment's VERBENA_ADDR, else a loopback address that is free. */
  readonly address?: string;
  /** A file to write all packets to, as pcapng. Default: the environment's VERBENA_PCAP, else none. */
  readonly capture?: string;
  /**
   * `auto` takes shared memory to devices of the same user on the same machine, and UDP to all others; `shm` reaches no
   * others. Default: the environment's VERBENA_LINK, else `auto`.
   */
  readonly link?: LinkKind;
  /**
   * Has the NIC's packets lost, doubled, changed and held back, in the words of tc-netem(8): `loss 1% dup 0.1% reorder 2%
   * corrupt 0.1% delay 200us 50us rate 1gbit limit 1000 seed 7`. `loss burst 1% 4` loses four in a row on the average, as
   * `loss gemodel P R` would; `reorder 2% 100us` holds packets back by up to so much; `out` (the default), `in` or `both`
   * say which way. It implies `link: 'udp'`; Ethernet frames of raw packet queue pairs pass untouched. Default: the
   * environment's VERBENA_NETEM, else none; '' is none.
   */
  readonly netem?: string;
  /**
   * Exponent of the shortest ACK timeout that the NIC keeps to, 0 to 31 (`ackTimeoutUs`): queue pairs that ask for a shorter
   * one get this, as some adapters do it. Where processors are taken away for long, a living peer then is not taken for a
   * dead one: 18 is a second. Default: the environment's VERBENA_MIN_ACK_TIMEOUT, else 0: as queue pairs ask.
   */
  readonly minAckTimeout?: number;
  /** Takes sentences about what does not work as it should. Default: `process.emitWarning`. */
  readonly warn?: (text: string) => void;
}

/** `struct ibv_device`. */
export interface Device {
  /** `verbena0`. */
  readonly name: string;
  readonly guid: bigint;
  readonly nodeType: NodeType;
  readonly transportType: TransportType;

  /**
   * Brings the NIC up (`ibv_open_device`).
   *
   * @throws VerbsError EADDRINUSE when another NIC is on the address, EADDRNOTAVAIL when the machine does not have it,
   *   EINVAL when it is no address, EINVAL for words of `netem` that mean nothing, or with `link` `shm`, EINVAL for a `minAckTimeout` that is none,
   *   EOPNOTSUPP when `link` is `shm` and memory cannot be shared, EACCES or ENOENT and the like for the capture file
   */
  open(options?: OpenOptions): Context;
}

/** `struct ibv_gid_entry`: one of the names of a port. */
export interface GidEntry {
  readonly gid: Gid;
  readonly gidIndex: number;
  readonly portNum: number;
  readonly gidType: GidType;
}

/** `struct ibv_values_ex`: what changes with time. */
export interface RtValues {
  /** The device's clock now: what `completionTimestamp` counts. Nanoseconds where `hcaCoreClock` is 1 000 000. */
  readonly rawClock: bigint;
}

/** `struct ibv_context`: a device that is open. */
export interface Context extends Disposable {
  readonly device: Device;
  /** The IP address that the NIC answers on. */
  readonly address: string;
  /** How the NIC runs; a simulated one has its own virtual time. */
  readonly host: HostKind | 'simulated';
  /** Completion vectors that `createCq` can name. */
  readonly numCompVectors: number;

  /** What the device is and can do (`ibv_query_device`). */
  queryDevice(): DeviceAttr;

  /** What it can do beyond that (`ibv_query_device_ex`). What it does not have reads 0. */
  queryDeviceEx(): DeviceAttrEx;

  /** The device's clock (`ibv_query_rt_values_ex`). */
  queryRtValues(): RtValues;

  /**
   * The state of a port (`ibv_query_port`).
   *
   * @param portNum from 1; default 1
   * @throws VerbsError EINVAL when there is no such port
   */
  queryPort(portNum?: number): PortAttr;

  /**
   * How fast a port is, in units of 100 Mbit/s (`ibv_query_port_speed`).
   *
   * @param portNum from 1; default 1
   * @throws VerbsError EINVAL when there is no such port
   */
  queryPortSpeed(portNum?: number): number;

  /**
   * An entry of a port's GID table (`ibv_query_gid`).
   *
   * @throws VerbsError EINVAL beyond the table, or when there is no such port; ENODATA when the entry is empty, for which
   *   the C call gives a GID of zeros
   */
  queryGid(portNum: number, index: number): Gid;

  /** As {@link queryGid}, with its type (`ibv_query_gid_ex`). @throws VerbsError EINVAL and ENODATA as there */
  queryGidEntry(portNum: number, index: number): GidEntry;

  /** All GIDs of all ports (`ibv_query_gid_table`). */
  queryGidTable(): readonly GidEntry[];

  /** An entry of a port's P_Key table, 16 bits (`ibv_query_pkey`). @throws VerbsError EINVAL when there is none */
  queryPkey(portNum: number, index: number): number;

  /** Where a P_Key is in a port's table (`ibv_get_pkey_index`). @throws VerbsError EINVAL when it is not there */
  getPkeyIndex(portNum: number, pkey: number): number;

  /** Makes a protection domain (`ibv_alloc_pd`). @throws VerbsError ENOMEM when the device is full */
  allocPd(): Pd;

  /** Makes a thread domain (`ibv_alloc_td`). */
  allocTd(): Td;

  /**
   * Makes a parent domain (`ibv_alloc_parent_domain`).
   *
   * @throws VerbsError EINVAL when one of the domains has ended or is another context's
   */
  allocParentDomain(init: ParentDomainInitAttr): ParentDomain;

  /**
   * Opens a domain of extended reliable connections (`ibv_open_xrcd`). Opening it again by the same file gives the same
   * domain, which lives until it was closed as often.
   *
   * @throws VerbsError EINVAL for flags that do not exist, or EXCL where the file has a domain; EAGAIN without CREAT
   *   where it has none; EBADF when the descriptor is none; ENOMEM when the device is full
   */
  openXrcd(init?: XrcdInitAttr): Xrcd;

  /**
   * The address of a datagram's sender (`ibv_init_ah_from_wc`, protocol.md 1.6): the IP header turned round, its hop
   * limit, traffic class and flow label.
   *
   * @param portNum the port that it came in by
   * @param wc completion of the receive request; without `WcFlags.GRH` the address has no route, and RoCE cannot use it
   * @param grh the first 40 bytes of its buffer
   * @throws VerbsError EINVAL for a datagram that went to a multicast group, one that went to no GID of the port, a port
   *   that does not exist, or fewer than 40 bytes; EPROTONOSUPPORT when they are no IP header
   */
  initAhFromWc(portNum: number, wc: WorkCompletion, grh: Uint8Array): AhAttr;

  /** Makes a completion channel (`ibv_create_comp_channel`). @throws VerbsError ENOMEM when the device is full */
  createCompChannel(): CompChannel;

  /**
   * Makes a completion queue (`ibv_create_cq`, `ibv_create_cq_ex`).
   *
   * @throws VerbsError EINVAL for a size outside 1 to `DeviceAttr.maxCqe`, a vector or flag that does not exist, or a
   *   channel of another context; EOPNOTSUPP for fields of completions that the device does not have (CVLAN, FLOW_TAG,
   *   TM_INFO); ENOMEM when the device is full
   */
  createCq(init: CqInitAttr): Cq;

  /** What completion counters of the device can do (`ibv_query_comp_cntr_caps`). */
  queryCompCntrCaps(): CompCntrCaps;

  /**
   * Makes a completion counter (`ibv_create_comp_cntr`), both of whose numbers are 0.
   *
   * @throws VerbsError EINVAL for a type that does not exist; ENOMEM when the device is full
   */
  createCompCntr(init?: CompCntrInitAttr): CompCntr;

  /**
   * The oldest asynchronous event (`ibv_get_async_event`). Blocks the thread until there is one.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError ETIMEDOUT after that long; EINVAL after close
   */
  getAsyncEvent(timeoutMs?: number): AsyncEvent;

  /** The same events in the event loop, which is not blocked. Keeps the process alive only while awaited. */
  asyncEvents(): AsyncIterable<AsyncEvent, void, undefined>;

  /**
   * Says that an event has been dealt with (`ibv_ack_async_event`). Nothing waits for it here; programs that are written
   * for other devices call it all the same.
   *
   * @throws VerbsError EINVAL when that is no event
   */
  ackAsyncEvent(event: AsyncEvent): void;

  /** Work queues apart from QPs (`ibv_create_wq`), which this device does not have. @throws VerbsError EOPNOTSUPP */
  createWq(init?: unknown): never;
  /** Tables of them (`ibv_create_rwq_ind_table`). @throws VerbsError EOPNOTSUPP */
  createRwqIndTable(init?: unknown): never;
  /** Memory of the device (`ibv_alloc_dm`), which this one does not have. @throws VerbsError EOPNOTSUPP */
  allocDm(attr?: unknown): never;

  /** What the NIC has counted, under the names of Linux's `rdma statistic`: `sent_pkts`, `rcvd_rnr_err` and so on. */
  counters(): Readonly<Record<string, number>>;

  /** What a completion says, in a sentence with the numbers, and what to look at next. */
  explain(wc: WorkCompletion): string;

  /**
   * Takes the NIC down (`ibv_close_device`). Whatever was made from the context and still exists ends with it, as it
   * does when a process closes the device of a real adapter; using it afterwards gives EINVAL.
   *
   * @throws VerbsError EINVAL when it was closed before
   */
  close(): void;
}
