import { type Gid, ipFromGid, isIpv4Gid } from '../../ibta/index.js';
import { Ecn, PacketMeta } from '../../wire/index.js';
import { GroupTable } from '../group-table.js';
import { type FramePort, type Link, LinkError, type LinkStatus, type PacketReceiver } from '../link.js';
import { changedConditions, type LinkConditions, PERFECT_CONDITIONS } from './conditions.js';
import { Direction, type Medium } from './direction.js';
import { type SimulatedFrame, type SimulatedPacket, wireBytes } from './packet.js';
import { SimulatedFrames } from './simulated-frames.js';
import { SimulatedSink } from './simulated-sink.js';

/** What a simulated host's end of the network is like. */
export interface SimulatedLinkOptions {
  /** Largest packet, BTH to ICRC. Default: a payload of 4096 bytes under any headers. */
  readonly maxPacketBytes?: number;
  /** Packets of that size that fit between two flushes. */
  readonly burstPackets?: number;
  /** IP bytes that wait to be received; what finds no room is dropped, as by a full socket buffer. */
  readonly inboxLimitBytes?: number;
  /** What is taken while more waits is marked, as links do that see their socket's buffer fill. */
  readonly inboxMarkBytes?: number;
  /** The last hop to the host, which all who send to it share. Default: none. */
  readonly port?: Partial<Pick<LinkConditions, 'bandwidthBytesPerUs' | 'queueLimitBytes' | 'markAboveBytes'>>;
}

const DEFAULT_MAX_PACKET_BYTES = 4096 + 96;
const DEFAULT_BURST_PACKETS = 32;

/** A host's end of a `SimulatedNetwork`. */
export class SimulatedLink implements Link {
  readonly ipv6: boolean;
  readonly maxPacketBytes: number;
  readonly sink: SimulatedSink;

  /** @internal The last hop. */
  readonly port: Direction | undefined;

  readonly #inboxLimitBytes: number;
  readonly #inboxMarkBytes: number;
  readonly #meta = new PacketMeta();
  readonly #groups: GroupTable<string>;
  #frames: SimulatedFrames | undefined;
  /** What has arrived; what is before #taken is received already. */
  #inbox: (SimulatedPacket | SimulatedFrame)[] = [];
  #taken = 0;
  #inboxBytes = 0;
  #receivedPackets = 0;
  #receivedBytes = 0;
  #inboxDropped = 0;
  #closed = false;

  constructor(
    private readonly medium: Medium,
    readonly address: string,
    readonly gid: Gid,
    /** The host's address on the Ethernet. */
    readonly mac: Uint8Array,
    options: SimulatedLinkOptions,
  ) {
    this.ipv6 = !isIpv4Gid(gid);
    this.maxPacketBytes = options.maxPacketBytes ?? DEFAULT_MAX_PACKET_BYTES;
    this.#inboxLimitBytes = options.inboxLimitBytes ?? Infinity;
    this.#inboxMarkBytes = options.inboxMarkBytes ?? Infinity;
    if (options.port !== undefined)
      this.port = new Direction('', address, changedConditions({ ...PERFECT_CONDITIONS, delayUs: 0 }, options.port));
    const burstPackets = options.burstPackets ?? DEFAULT_BURST_PACKETS;
    this.sink = new SimulatedSink(medium, this, burstPackets * this.maxPacketBytes);
    this.#groups = new GroupTable(
      this.ipv6,
      (group) => {
        const name = ipFromGid(group);
        medium.enterGroup(name, this);
        return name;
      },
      (name) => medium.leaveGroup(name, this),
    );
  }

  joinGroup(group: Gid): void {
    if (!this.#closed) this.#groups.join(group);
  }

  leaveGroup(group: Gid): void {
    this.#groups.leave(group);
  }

  status(): LinkStatus {
    return { up: !this.#closed, present: !this.#closed };
  }

  refresh(): LinkStatus {
    return this.status();
  }

  openFrames(): FramePort {
    if (this.#closed) throw new LinkError('ENETDOWN', 'the link is closed.');
    this.#frames ??= new SimulatedFrames(this.medium, this, () => {
      this.#frames = undefined;
    });
    return this.#frames;
  }

  /** @internal Whether frames are wanted. */
  get takesFrames(): boolean {
    return this.#frames !== undefined;
  }

  flush(): void {
    if (this.#closed) this.sink.discard();
    else this.sink.flush();
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    const meta = this.#meta;
    let received = 0;
    while (received < maxPackets && this.#taken < this.#inbox.length) {
      const arrived = this.#inbox[this.#taken];
      const { bytes, header } = arrived;
      this.#taken += 1;
      received += 1;
      const long = this.#inboxBytes > this.#inboxMarkBytes;
      this.#inboxBytes -= wireBytes(arrived);
      if (header === undefined) {
        receiver.receiveFrame?.(bytes, 0, bytes.length);
        continue;
      }
      this.#receivedPackets += 1;
      this.#receivedBytes += bytes.length;
      meta.ipv6 = header.ipv6;
      meta.source.set(header.source);
      meta.destination.set(header.destination);
      meta.sourcePort = header.sourcePort;
      meta.trafficClass = header.trafficClass;
      if (long && (header.trafficClass & Ecn.MASK) !== Ecn.NOT_ECT) meta.trafficClass |= Ecn.CE;
      meta.hopLimit = header.hopLimit;
      meta.flowLabel = header.flowLabel;
      meta.ipId = header.ipId;
      receiver.receive(bytes, 0, bytes.length, meta);
    }
    if (this.#taken === this.#inbox.length && this.#taken > 0) {
      this.#inbox = [];
      this.#taken = 0;
    }
    return received;
  }

  /** Packets and frames that have arrived and were not received yet. */
  get waiting(): number {
    return this.#inbox.length - this.#taken;
  }

  /** @internal */
  get closed(): boolean {
    return this.#closed;
  }

  /** @internal Takes what arrives; false when there is no room for it. */
  accept(arriving: SimulatedPacket | SimulatedFrame): boolean {
    const bytes = wireBytes(arriving);
    if (this.#inboxBytes + bytes > this.#inboxLimitBytes) {
      this.#inboxDropped += 1;
      return false;
    }
    this.#inboxBytes += bytes;
    this.#inbox.push(arriving);
    return true;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#frames?.close();
    this.#groups.clear();
    this.medium.detach(this.address);
    this.#inbox = [];
    this.#taken = 0;
  }

  statistics(): Record<string, number> {
    return {
      sent_packets: this.sink.sentPackets,
      sent_bytes: this.sink.sentBytes,
      received_packets: this.#receivedPackets,
      received_bytes: this.#receivedBytes,
      inbox_dropped: this.#inboxDropped,
    };
  }
}
