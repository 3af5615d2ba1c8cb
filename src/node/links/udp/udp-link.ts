/** The link that real packets go by: UDP sockets at port 4791, by system calls. */
import type { Gid } from '../../../device/ibta/index.js';
import {
  type FramePort,
  GroupTable,
  LinkError,
  type LinkStatus,
  type PacketReceiver,
  type PolledLink,
} from '../../../device/link/index.js';
import { ROCE_PORT } from '../../../device/wire/index.js';
import {
  NativeBlock,
  nativeHostProblem,
  PollSet,
  SOCKADDR_BYTES,
  sockaddrLength,
  type UdpSocket,
  writeSockaddr,
} from '../../system/index.js';
import { addressStatus, type LocalAddress, openFirstFree } from './udp-address.js';
import type { KeptPackets } from './kept-packets.js';
import { FrameCounts, UdpFrames } from './udp-frames.js';
import { UdpArrivals, UdpReceiver } from './udp-receiver.js';
import { NO_SEGMENTATION, probeSegmentation } from './udp-segmentation.js';
import { UdpSink } from './udp-sink.js';
import { droppedPackets, openAddressSocket, openGroupSocket, receiveBufferBytes } from './udp-socket.js';

export interface UdpLinkOptions {
  /** IPv4 or IPv6 address of this machine; without it the first free one of 127.0.0.1 to 127.0.0.254. */
  readonly address?: string | undefined;
  /** `false` sends and receives each packet on its own. Default: as the kernel can. */
  readonly segmentation?: boolean | undefined;
  /** Datagrams without a byte in them say "wake up", and nothing else. Default: they are packets like others, and bad ones. */
  readonly wakeable?: boolean | undefined;
  /** By which a stand-in takes packets while nobody calls `receive`. Needs `wakeable`. */
  readonly kept?: KeptPackets | undefined;
}

/** What arrives elsewhere than at the link's own address. */
interface Side {
  readonly fd: number;
  receive(receiver: PacketReceiver, maxPackets: number): number;
}

class GroupSide implements Side {
  readonly fd: number;
  readonly #receiver: UdpReceiver;

  constructor(
    readonly socket: UdpSocket,
    arrivals: UdpArrivals,
    group: Gid,
    canJoin: boolean,
  ) {
    this.fd = socket.fd;
    this.#receiver = new UdpReceiver(socket, arrivals, group, canJoin);
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    return this.#receiver.receive(receiver, maxPackets);
  }
}

/**
 * A NIC's address on the real network.
 *
 * Packets of equal size to one peer that are committed one after the other leave by one system call, and arrive by one.
 */
export class UdpLink implements PolledLink {
  readonly gid: Gid;
  readonly ipv6: boolean;
  readonly address: string;
  readonly maxPacketBytes: number;
  /** For `poll`: readable when packets to the own address have arrived. All there is to poll is in {@link pollFds}. */
  readonly fd: number;
  /**
   * What the kernel sets aside for packets that have arrived. Each takes its size and some more of it: 768 bytes at least,
   * about twice its size at worst.
   */
  readonly receiveBufferBytes: number;
  readonly sink: UdpSink;
  readonly #socket: UdpSocket;
  readonly #local: LocalAddress;
  readonly #kept: KeptPackets | undefined;
  readonly #arrivals: UdpArrivals;
  readonly #receiver: UdpReceiver;
  readonly #groups: GroupTable<GroupSide>;
  readonly #frameCounts = new FrameCounts();
  readonly #wakeName = new NativeBlock(SOCKADDR_BYTES);
  #frames: UdpFrames | undefined;
  /** Groups and frames, and what tells which of them have something. */
  #sides: readonly Side[] = [];
  #sidePoll: PollSet | undefined;
  #pollFds: readonly number[];
  /** Dropped by sockets of groups that were left since. */
  #droppedBefore = 0;
  #status: LinkStatus = { up: true, present: true };
  #open = true;

  private constructor(
    socket: UdpSocket,
    address: LocalAddress,
    { segmentation = true, wakeable = false, kept }: UdpLinkOptions,
  ) {
    this.#socket = socket;
    this.#kept = kept;
    this.#local = address;
    this.gid = address.gid;
    this.ipv6 = address.ipv6;
    this.address = address.text;
    this.maxPacketBytes = address.maxPacketBytes;
    this.fd = socket.fd;
    this.#pollFds = [socket.fd];
    this.receiveBufferBytes = receiveBufferBytes(socket);
    const { send, receive } = segmentation ? probeSegmentation(address) : NO_SEGMENTATION;
    this.sink = new UdpSink(socket, address, this.maxPacketBytes, send, this.receiveBufferBytes);
    this.#arrivals = new UdpArrivals(address.ipv6, wakeable);
    this.#receiver = new UdpReceiver(socket, this.#arrivals, address.gid, receive);
    this.#groups = new GroupTable(
      address.ipv6,
      (group) => new GroupSide(openGroupSocket(group, address), this.#arrivals, group, receive),
      (side) => {
        this.#droppedBefore += droppedPackets(side.socket);
        side.socket.close();
      },
    );
  }

  /**
   * @throws LinkError: `EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES`, `EINVAL` (not an address), `ENOSYS` (no system calls on this
   * machine; the DgramLink then does the same, slowly)
   */
  static open(options: UdpLinkOptions = {}): UdpLink {
    const problem = nativeHostProblem();
    if (problem !== undefined) throw new LinkError('ENOSYS', `UDP by system calls is not possible: ${problem}.`);
    return openFirstFree(options.address, ROCE_PORT, (address) => {
      const socket = openAddressSocket(address);
      try {
        return new UdpLink(socket, address, options);
      } catch (error) {
        socket.close();
        throw error;
      }
    });
  }

  /** They change when groups or frames come or go. */
  get pollFds(): readonly number[] {
    return this.#pollFds;
  }

  /** What has arrived stays readable, so there is nothing to say. */
  fallAsleep(): boolean {
    return true;
  }

  wakeUp(): void {
    // As above.
  }

  setWatched(): boolean {
    return false;
  }

  /** Sends an empty datagram to the NIC at an address. */
  wake(gid: Gid): void {
    if (!this.#open) return;
    const { bytes, address } = this.#wakeName;
    const { ipv6 } = this;
    writeSockaddr(bytes, 0, ipv6, { ip: gid, port: ROCE_PORT, scopeId: this.#local.scopeId });
    this.#socket.native.libc.sendto(this.fd, address, 0, 0, address, sockaddrLength(ipv6));
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    if (!this.#open) return 0;
    const kept = this.#kept;
    if (kept?.beat() !== true) return this.#receiveBySockets(receiver, maxPackets);
    const received = kept.receive(receiver, maxPackets, this.ipv6, this.gid);
    return received + this.#receiveBySockets(receiver, maxPackets);
  }

  #receiveBySockets(receiver: PacketReceiver, maxPackets: number): number {
    // A receiver may have closed the link.
    if (!this.#open) return 0;
    const received = this.#receiver.receive(receiver, maxPackets);
    const poll = this.#sidePoll;
    return poll === undefined ? received : received + this.#receiveAside(poll, receiver, maxPackets);
  }

  #receiveAside(poll: PollSet, receiver: PacketReceiver, maxPackets: number): number {
    if (poll.wait(0) === 0) return 0;
    const sides = this.#sides;
    let received = 0;
    for (let i = 0; i < sides.length; i += 1) {
      // A receiver may leave a group, upon which its number may be that of another file.
      if (sides !== this.#sides) break;
      if (poll.isReady(i)) received += sides[i].receive(receiver, maxPackets);
    }
    return received;
  }

  flush(): void {
    if (this.#open) this.sink.flush();
    else this.sink.discard();
  }

  joinGroup(group: Gid): void {
    if (!this.#open) return;
    this.#groups.join(group);
    this.#sidesChanged();
  }

  leaveGroup(group: Gid): void {
    this.#groups.leave(group);
    this.#sidesChanged();
  }

  #sidesChanged(): void {
    const sides: Side[] = [...this.#groups.memberships()];
    if (this.#frames !== undefined) sides.push(this.#frames);
    if (sides.length === this.#sides.length && sides.every((side, i) => side === this.#sides[i])) return;
    const fds = sides.map(({ fd }) => fd);
    this.#sides = sides;
    this.#sidePoll = sides.length === 0 ? undefined : new PollSet(fds);
    this.#pollFds = [this.fd, ...fds];
  }

  status(): LinkStatus {
    return this.#status;
  }

  refresh(): LinkStatus {
    if (this.#open) this.#status = addressStatus(this.#local);
    return this.#status;
  }

  openFrames(): FramePort {
    if (!this.#open) throw new LinkError('ENETDOWN', 'the link is closed.');
    this.#frames ??= UdpFrames.open(this.#local, this.#frameCounts, () => {
      this.#frames = undefined;
      this.#sidesChanged();
    });
    this.#sidesChanged();
    return this.#frames;
  }

  close(): void {
    if (!this.#open) return;
    this.#frames?.close();
    this.#groups.clear();
    this.#sidesChanged();
    this.#open = false;
    this.#kept?.close();
    this.#socket.close();
  }

  statistics(): Record<string, number> {
    const { sink } = this;
    const arrivals = this.#arrivals;
    const frames = this.#frameCounts;
    return {
      sent_packets: sink.sentPackets,
      sent_bytes: sink.sentBytes,
      send_calls: sink.sendCalls,
      send_err: sink.sendErrors,
      received_packets: arrivals.packets,
      received_bytes: arrivals.bytes,
      receive_calls: arrivals.calls,
      receive_truncated: arrivals.truncated,
      receive_dropped: this.#dropped(),
      sent_frames: frames.sent,
      frame_send_err: frames.sendErrors,
      received_frames: frames.received,
      frames_truncated: frames.truncated,
      ...this.#standInCounts(),
    };
  }

  #standInCounts(): Record<string, number> {
    if (this.#kept === undefined) return {};
    const { rnrNaks, mras, kept, dropped } = this.#kept.counts;
    return { stand_in_rnr_naks: rnrNaks, stand_in_mras: mras, stand_in_kept: kept, stand_in_dropped: dropped };
  }

  #dropped(): number {
    if (!this.#open) return 0;
    let dropped = this.#droppedBefore + droppedPackets(this.#socket);
    for (const { socket } of this.#groups.memberships()) dropped += droppedPackets(socket);
    return dropped;
  }
}
