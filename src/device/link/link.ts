import { Errno, type ErrnoName, type Gid } from '../ibta/index.js';
import type { PacketMeta, PacketSink } from '../wire/index.js';

export type { PacketSink };

/** A link, or a capture of one, that could not be opened. The message is a sentence with what to do about it. */
export class LinkError extends Error {
  override readonly name = 'LinkError';

  constructor(
    readonly errno: ErrnoName,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The name among those that verbs report; anything rarer is an input/output error. */
export function errnoNameOf(code: string): ErrnoName {
  for (const name in Errno) if (name === code) return name as keyof typeof Errno; // its own key, which `in` gives as a string
  return 'EIO';
}

/** `error.code` of an error of Node or of a system call. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export interface PacketReceiver {
  /** Takes one packet (BTH to ICRC). `bytes` is scratch afterwards; neither it nor `meta` may be kept. */
  receive(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void;
  /**
   * Takes one Ethernet frame, from the destination's MAC to the end of the payload (no FCS). None come but while a
   * {@link FramePort} is open, and none that hold RoCEv2 packets. `bytes` is scratch afterwards.
   */
  receiveFrame?(bytes: Uint8Array, offset: number, lengthBytes: number): void;
  /** The NIC by whose memory packets came (`PacketMeta.way`) is gone, and nothing more will come from it. */
  onGone?(way: number): void;
}

/** Ethernet frames in and out, as they are: what arrives goes to {@link PacketReceiver.receiveFrame}. */
export interface FramePort {
  /** The own address, six bytes. */
  readonly mac: Uint8Array;
  /** Longest frame that can be sent, its header included, without FCS. */
  readonly maxFrameBytes: number;
  /**
   * Sends one frame at once; `bytes` can be used again afterwards.
   *
   * @returns 0, or the number of the errno: `EINVAL` when there is no whole Ethernet header, `EMSGSIZE` beyond
   * {@link maxFrameBytes}, `ENETDOWN` when the interface is down or the port closed
   */
  send(bytes: Uint8Array, offset: number, lengthBytes: number): number;
  /** Idempotent. */
  close(): void;
}

export interface LinkStatus {
  readonly up: boolean;
  /** The address still belongs to this machine. */
  readonly present: boolean;
}

/** One address on a network: packets out, packets in, nothing else. */
export interface Link {
  readonly gid: Gid;
  readonly ipv6: boolean;
  /** Largest packet, BTH to ICRC, that leaves without fragmentation. */
  readonly maxPacketBytes: number;
  readonly sink: PacketSink;
  /**
   * Whether a call was left in its midst, by an error or by an interruption, where the link cannot go on. Elsewhere it can: packets
   * are lost or come twice, as on any network. Default: never.
   */
  readonly isBroken?: boolean;
  /**
   * Hands what has arrived to `receiver`, without waiting.
   *
   * @param maxPackets stop after about so many (a link that gets packets in bunches finishes the bunch)
   * @returns how many packets and frames were handed over
   */
  receive(receiver: PacketReceiver, maxPackets: number): number;
  /**
   * When {@link receive} and {@link flush} must be called even if nothing happens, on the caller's clock; Infinity
   * when they need not. Default: never, since the link holds nothing back.
   */
  nextDueUs?(): number;
  /** Sends what was committed. Packets that the network does not take are dropped and counted, as on a wire. */
  flush(): void;
  /**
   * Has packets to a multicast group arrive (protocol/services.md 3.5), the own ones included; their `meta.destination` is the group.
   * Joins are counted: it takes as many calls of {@link leaveGroup} to leave. Sending to a group needs no join.
   *
   * @throws LinkError `EINVAL` when it is not a group, or one of the other IP version; `ENOMEM` beyond {@link MAX_GROUPS};
   * else what the machine says, `ENETUNREACH` where its interface carries no such packets
   */
  joinGroup(group: Gid): void;
  /** Undoes one {@link joinGroup}; nothing when there is none to undo. */
  leaveGroup(group: Gid): void;
  /** What {@link refresh} saw last; all well before the first time. */
  status(): LinkStatus;
  /** Looks at the address and its interface: tens of µs, so not for every turn. */
  refresh(): LinkStatus;
  /**
   * Opens the way for Ethernet frames; the same port again while it is open. Copies of all that arrives at the interface
   * go through it, so it is not to be opened before somebody wants them.
   *
   * @throws LinkError `EPERM` when the process may not, `EOPNOTSUPP` when the link carries no Ethernet
   */
  openFrames(): FramePort;
  /** Idempotent; every later call does nothing. */
  close(): void;
  /** What has happened so far, by name. */
  statistics(): Record<string, number>;
}

export interface PolledLink extends Link {
  readonly address: string;
  /**
   * For `poll`: one of them becomes readable when {@link Link.receive} has something to give, for those who have said that
   * they will sleep. The same array for as long as they are the same.
   */
  readonly pollFds: readonly number[];
  /**
   * Says that nobody looks until {@link wakeUp}, but waits for {@link pollFds}.
   *
   * @returns false when something is there already, and nobody should sleep
   */
  fallAsleep(): boolean;
  wakeUp(): void;
  /**
   * Says whether the event loop waits for {@link pollFds}, whatever else polls or sleeps at the same time.
   *
   * @returns true when something is there already, which nothing may announce any more
   */
  setWatched(watched: boolean): boolean;
  /** The NIC takes no more turns: peers that can see it are not to wait for any. */
  forsake?(): void;
}

/** Groups that a link can be in. Each may take a socket of its own. */
export const MAX_GROUPS = 64;
