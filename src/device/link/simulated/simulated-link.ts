import { type Gid, ipFromGid, isIpv4Gid } from '../../ibta/index.js';
import { Ecn, isMulticastGid, PacketMeta, type Path } from '../../wire/index.js';
import { GroupTable } from '../group-table.js';
import { LinkError } from '../link-error.js';
import type { FramePort, Link, LinkStatus, PacketReceiver } from '../link.js';
import { changedConditions, type LinkConditions, PERFECT_CONDITIONS } from './conditions.js';
import { Direction } from './direction.js';
import { type SimulatedFrame, type SimulatedPacket, wireBytes } from './packet.js';
import { SimulatedFrames } from './simulated-frames.js';
import type { SimulatedNetwork } from './simulated-network.js';

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

/** A host's end of a {@link SimulatedNetwork}. */
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
    private readonly network: SimulatedNetwork,
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
    this.sink = new SimulatedSink(network, this, burstPackets * this.maxPacketBytes);
    this.#groups = new GroupTable(
      this.ipv6,
      (group) => {
        const name = ipFromGid(group);
        network.enterGroup(name, this);
        return name;
      },
      (name) => network.leaveGroup(name, this),
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
    this.#frames ??= new SimulatedFrames(this.network, this, () => {
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
    this.network.detach(this.address);
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

/** A packet that lies in the arena and waits for the flush. */
interface Pending {
  readonly path: Path;
  readonly offset: number;
  readonly lengthBytes: number;
}

/** The arena in which a NIC builds packets for a simulated link. It is used anew after each flush. */
export class SimulatedSink {
  readonly bytes: Uint8Array;
  ipId = 0;
  sentPackets = 0;
  sentBytes = 0;

  readonly #pending: Pending[] = [];
  readonly #directions = new WeakMap<Path, Direction>();
  #used = 0;
  #reserved: Pending | undefined;

  constructor(
    private readonly network: SimulatedNetwork,
    private readonly link: SimulatedLink,
    arenaBytes: number,
  ) {
    this.bytes = new Uint8Array(arenaBytes);
  }

  reserve(path: Path, lengthBytes: number): number {
    if (lengthBytes > this.link.maxPacketBytes)
      throw new RangeError(`a packet of ${lengthBytes} bytes exceeds the link's ${this.link.maxPacketBytes}`);
    this.#reserved = undefined;
    if (this.#used + lengthBytes > this.bytes.length) return -1;
    this.#reserved = { path, offset: this.#used, lengthBytes };
    this.ipId = this.network.hidesIpId ? this.#pending.length & 0xffff : 0;
    return this.#used;
  }

  commit(): void {
    if (this.#reserved === undefined) throw new Error('commit without a reservation');
    this.#pending.push(this.#reserved);
    this.#used += this.#reserved.lengthBytes;
    this.#reserved = undefined;
  }

  /** Puts everything committed on the wire. */
  flush(): void {
    if (this.#pending.length === 0) {
      this.discard();
      return;
    }
    const ipId = this.network.hidesIpId ? -1 : 0;
    // A script that sees one of them may have this very host send something, in the same arena.
    const batch = this.#pending.map(({ path, offset, lengthBytes }) => ({
      path,
      bytes: this.bytes.slice(offset, offset + lengthBytes),
    }));
    this.discard();
    for (const { path, bytes } of batch) {
      // Or it may have ended the host.
      if (this.link.closed) break;
      this.sentPackets += 1;
      this.sentBytes += bytes.length;
      const header = {
        ipv6: path.ipv6,
        // The address of the socket, whatever the path claims: nobody can send from another's.
        source: this.link.gid,
        destination: path.dgid,
        sourcePort: path.sourcePort,
        trafficClass: path.trafficClass,
        hopLimit: path.hopLimit,
        flowLabel: path.flowLabel,
        ipId: path.ipv6 ? 0 : ipId,
      };
      if (isMulticastGid(path.dgid)) this.network.sendToGroup(this.link.address, bytes, header);
      else this.network.send(this.#directionOf(path), bytes, header);
    }
  }

  /** Forgets everything committed. */
  discard(): void {
    this.#pending.length = 0;
    this.#used = 0;
    this.#reserved = undefined;
  }

  #directionOf(path: Path): Direction {
    const known = this.#directions.get(path);
    if (known !== undefined) return known;
    const direction = this.network.direction(this.link.address, ipFromGid(path.dgid));
    this.#directions.set(path, direction);
    return direction;
  }
}
