import type {
  AhAttr,
  CompCntrCaps,
  DeviceAttr,
  DeviceAttrEx,
  Gid,
  GidType,
  PortAttr,
} from '../../../device/ibta/index.js';
import type { ExplainableEvent } from '../text/advice.js';
import type { WorkCompletion } from '../work-completion.js';
import type { HostKind, SharedDevice } from './open-options.js';

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

/** What an open device tells of itself, and the calls of a context that name no other object. */
export interface ContextCalls extends Disposable {
  /** The IP address that the NIC answers on. */
  readonly address: string;
  /** How the NIC runs; a simulated one has its own virtual time. */
  readonly host: HostKind | 'simulated';
  /** Whose code computes the NIC's ICRCs: `isa-l`, `libdeflate`, `@node-rs/crc32`, `zlib` or `javascript`. */
  readonly crc32Source: string;
  /** Completion vectors that `createCq` can name. */
  readonly numCompVectors: number;
  /**
   * Shares the NIC with others, who open it by `openDevice({ device })`: what a second `ibv_open_device` does in C. Each has a
   * context of its own, and neither sees, uses nor ends what is another's. The NIC lives until the last of them is closed.
   *
   * @throws VerbsError EINVAL when the device was closed
   */
  share(): SharedDevice;
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

  /**
   * The address of a datagram's sender (`ibv_init_ah_from_wc`, protocol/packets.md 1.6): the IP header turned round, its hop
   * limit, traffic class and flow label.
   *
   * @param portNum the port that it came in by
   * @param wc completion of the receive request; without `WcFlags.GRH` the address has no route, and RoCE cannot use it
   * @param grh the first 40 bytes of its buffer
   * @throws VerbsError EINVAL for a datagram that went to a multicast group, one that went to no GID of the port, a port
   *   that does not exist, or fewer than 40 bytes; EPROTONOSUPPORT when they are no IP header
   */
  initAhFromWc(portNum: number, wc: WorkCompletion, grh: Uint8Array): AhAttr;

  /** Work queues apart from QPs (`ibv_create_wq`), which this device does not have. @throws VerbsError EOPNOTSUPP */
  createWq(init?: unknown): never;
  /** Tables of them (`ibv_create_rwq_ind_table`). @throws VerbsError EOPNOTSUPP */
  createRwqIndTable(init?: unknown): never;
  /** Memory of the device (`ibv_alloc_dm`), which this one does not have. @throws VerbsError EOPNOTSUPP */
  allocDm(attr?: unknown): never;
  /** What completion counters of the device can do (`ibv_query_comp_cntr_caps`). */
  queryCompCntrCaps(): CompCntrCaps;

  /** What the NIC has counted, under the names of Linux's `rdma statistic`: `sent_pkts`, `rcvd_rnr_err` and so on. */
  counters(): Readonly<Record<string, number>>;
  /** What a completion, or an asynchronous event, says, in a sentence with the numbers, and what to look at next. */
  explain(what: WorkCompletion | ExplainableEvent): string;

  /**
   * Takes the NIC down (`ibv_close_device`). Whatever was made from the context and still exists ends with it, as it
   * does when a process closes the device of a real adapter; using it afterwards gives EINVAL.
   *
   * @throws VerbsError EINVAL when it was closed before
   */
  close(): void;
}
