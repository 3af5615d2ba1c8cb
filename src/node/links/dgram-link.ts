/** The slow way through, where no system calls can be made: Node's own UDP sockets. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { type Gid, gidFromIp, ipFromGid } from '../../device/ibta/index.js';
import {
  type ArenaPacket,
  ArenaSink,
  GroupTable,
  type Link,
  LinkError,
  type LinkStatus,
  type PacketReceiver,
  type PacketSink,
} from '../../device/link/index.js';
import { PacketMeta, ROCE_PORT } from '../../device/wire/index.js';
import { addressStatus, groupError, type LocalAddress, openFirstFree } from './udp/udp-address.js';

const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
/** What waits to be received; more is dropped, as by a full socket buffer. */
const QUEUE_BYTES = 4 * 1024 * 1024;
const QUEUE_PACKETS = 8192;
/** Of packets to groups; the others have the system's, which is 64 nearly everywhere. */
const HOP_LIMIT = 64;

export interface DgramLinkOptions {
  readonly address?: string | undefined;
  /** Why the quick way is not possible, as half a sentence; part of the warning. */
  readonly reason?: string | undefined;
  /** Told once in a process what is lost. Default: a warning of Node. */
  readonly warn?: ((text: string) => void) | undefined;
}

let warned = false;

function warnOnce({ reason, warn }: DgramLinkOptions): void {
  if (warned) return;
  warned = true;
  const text =
    `packets go through node:dgram${reason === undefined ? '' : `, because ${reason}`}. It works, but: ` +
    'a round trip takes some twenty times as long; completions come only while the event loop runs; ' +
    'only memory from alloc() can be registered; over IPv4, Soft-RoCE and real adapters drop our packets, since Node ' +
    'lets the kernel choose an IP identification that the ICRC covers; over IPv6 they understand us, but Soft-RoCE does ' +
    'not reach us, since its packets have no UDP checksum.';
  if (warn === undefined) process.emitWarning(text, { code: 'VERBENA_DGRAM' });
  else warn(text);
}

/**
 * Binding takes a look-up, which answers later even for an address; this one answers at once, so that the link is open, or
 * has failed, when its constructor returns.
 */
function lookUpAtOnce(family: 4 | 6) {
  return (
    hostname: string,
    _options: unknown,
    callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
  ): void => callback(null, hostname, family);
}

/** Opens a socket bound to port 4791 of an address or, with others, of a group. */
function openSocket({ ipv6 }: LocalAddress, ip: string, isGroup: boolean): Socket {
  const socket = createSocket({
    type: ipv6 ? 'udp6' : 'udp4',
    ipv6Only: ipv6,
    reuseAddr: isGroup,
    lookup: lookUpAtOnce(ipv6 ? 6 : 4),
  });
  let failure: Error | undefined;
  const onError = (error: Error): void => {
    failure = error;
  };
  socket.on('error', onError);
  socket.bind({ address: ip, port: ROCE_PORT, exclusive: true });
  socket.off('error', onError);
  if (failure !== undefined) {
    socket.close();
    throw failure;
  }
  return socket;
}

/** The interface of an address, as Node wants it named for multicast. */
function multicastInterface({ gid, ipv6, interfaceName }: LocalAddress): string {
  if (!ipv6) return ipFromGid(gid);
  return interfaceName === undefined ? '::' : `::%${interfaceName}`;
}

function openAddressSocket(address: LocalAddress): Socket {
  const socket = openSocket(address, ipFromGid(address.gid) + address.zone, false);
  try {
    socket.setMulticastInterface(multicastInterface(address));
    socket.setMulticastTTL(HOP_LIMIT);
  } catch {
    // Then the address's interface carries no multicast, and nothing sent to a group leaves.
  }
  return socket;
}

/** @throws LinkError */
function openGroupSocket(group: Gid, address: LocalAddress): Socket {
  const ip = ipFromGid(group);
  const zone = address.ipv6 && address.interfaceName !== undefined ? `%${address.interfaceName}` : '';
  try {
    const socket = openSocket(address, ip + zone, true);
    try {
      socket.addMembership(ip, multicastInterface(address));
    } catch (error) {
      socket.close();
      throw error;
    }
    return socket;
  } catch (error) {
    throw groupError(group, address, error);
  }
}

interface Arrived {
  readonly bytes: Uint8Array;
  readonly from: RemoteInfo;
  readonly to: Gid;
}

/**
 * A NIC's address on the real network, by `node:dgram`. Packets arrive while the event loop runs, and wait in memory.
 *
 * What the kernel makes of its packets (measured on Linux 6): IPv4 has DF set and an identification that counts up from
 * anywhere, so the ICRC, sealed for 0, is right only for receivers that find out the identification. IPv6 has none.
 */
export class DgramLink implements Link {
  readonly gid: Gid;
  readonly ipv6: boolean;
  readonly address: string;
  readonly maxPacketBytes: number;
  /** What the kernel sets aside for packets that have arrived. */
  readonly receiveBufferBytes: number;
  readonly sink: PacketSink;
  /** Called from the event loop after each packet that arrived. */
  onReadable: (() => void) | undefined;

  readonly #sink: ArenaSink;
  readonly #socket: Socket;
  readonly #local: LocalAddress;
  readonly #groups: GroupTable<Socket>;
  readonly #meta = new PacketMeta();
  #queue: Arrived[] = [];
  #taken = 0;
  #queueBytes = 0;
  #status: LinkStatus = { up: true, present: true };
  #referenced = false;
  #open = true;
  #sentPackets = 0;
  #sentBytes = 0;
  #sendErrors = 0;
  #receivedPackets = 0;
  #receivedBytes = 0;
  #dropped = 0;

  private constructor(socket: Socket, address: LocalAddress) {
    this.#socket = socket;
    this.#local = address;
    this.gid = address.gid;
    this.ipv6 = address.ipv6;
    this.address = address.text;
    this.maxPacketBytes = address.maxPacketBytes;
    this.#sink = new ArenaSink(address.maxPacketBytes);
    this.sink = this.#sink;
    this.#meta.ipv6 = address.ipv6;
    this.#groups = new GroupTable(
      address.ipv6,
      (group) => {
        const member = openGroupSocket(group, address);
        this.#listen(member, group);
        return member;
      },
      (member) => member.close(),
    );
    this.#listen(socket, address.gid);
    this.receiveBufferBytes = socket.getRecvBufferSize();
  }

  #listen(socket: Socket, to: Gid): void {
    try {
      socket.setRecvBufferSize(SOCKET_BUFFER_BYTES);
      socket.setSendBufferSize(SOCKET_BUFFER_BYTES);
    } catch {
      // What the system grants has to do.
    }
    // A packet that could not be sent is a packet lost.
    socket.on('error', () => {
      this.#sendErrors += 1;
    });
    socket.on('message', ({ buffer, byteOffset, byteLength }, from) => {
      // A plain view: a Buffer's `slice` is not that of other arrays.
      this.#arrived({ bytes: new Uint8Array(buffer, byteOffset, byteLength), from, to });
    });
    if (!this.#referenced) socket.unref();
  }

  /** @throws LinkError `EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES`, `EINVAL` (not an address) */
  static open(options: DgramLinkOptions = {}): DgramLink {
    const link = openFirstFree(
      options.address,
      ROCE_PORT,
      (address) => new DgramLink(openAddressSocket(address), address),
    );
    warnOnce(options);
    return link;
  }

  /** Keeps the process alive, for as long as somebody waits for a packet. */
  ref(): void {
    this.#setReferenced(true);
  }

  unref(): void {
    this.#setReferenced(false);
  }

  #setReferenced(referenced: boolean): void {
    if (!this.#open) return;
    this.#referenced = referenced;
    for (const socket of [this.#socket, ...this.#groups.memberships()]) {
      if (referenced) socket.ref();
      else socket.unref();
    }
  }

  joinGroup(group: Gid): void {
    if (this.#open) this.#groups.join(group);
  }

  leaveGroup(group: Gid): void {
    this.#groups.leave(group);
  }

  status(): LinkStatus {
    return this.#status;
  }

  refresh(): LinkStatus {
    if (this.#open) this.#status = addressStatus(this.#local);
    return this.#status;
  }

  /** @throws LinkError always: Node has no sockets for Ethernet frames */
  openFrames(): never {
    throw new LinkError('EOPNOTSUPP', 'Ethernet frames need system calls, which this NIC does without.');
  }

  #arrived(packet: Arrived): void {
    if (!this.#open) return;
    const full = this.#queue.length - this.#taken >= QUEUE_PACKETS;
    if (full || this.#queueBytes + packet.bytes.length > QUEUE_BYTES) {
      this.#dropped += 1;
    } else {
      this.#queue.push(packet);
      this.#queueBytes += packet.bytes.length;
    }
    this.onReadable?.();
  }

  receive(receiver: PacketReceiver, maxPackets: number): number {
    let packets = 0;
    while (packets < maxPackets && this.#taken < this.#queue.length) {
      const { bytes, from, to } = this.#queue[this.#taken];
      this.#taken += 1;
      this.#queueBytes -= bytes.length;
      this.#meta.source.set(gidFromIp(from.address.replace(/%.*$/, '')));
      this.#meta.destination.set(to);
      this.#meta.sourcePort = from.port;
      this.#meta.ipId = -1;
      packets += 1;
      this.#receivedPackets += 1;
      this.#receivedBytes += bytes.length;
      receiver.receive(bytes, 0, bytes.length, this.#meta);
    }
    if (this.#taken === this.#queue.length || this.#taken >= QUEUE_PACKETS) {
      this.#queue.splice(0, this.#taken);
      this.#taken = 0;
    }
    return packets;
  }

  flush(): void {
    if (this.#open) for (const packet of this.#sink.pending) this.#send(packet);
    this.#sink.discard();
  }

  #send({ path, offset, lengthBytes }: ArenaPacket): void {
    // A copy: a packet that the kernel does not take at once waits in libuv, and the arena is used again meanwhile.
    const packet = Buffer.from(this.#sink.bytes.subarray(offset, offset + lengthBytes));
    this.#socket.send(packet, 0, lengthBytes, ROCE_PORT, ipFromGid(path.dgid) + this.#local.zone, (error) => {
      if (error !== null) this.#sendErrors += 1;
    });
    this.#sentPackets += 1;
    this.#sentBytes += lengthBytes;
  }

  close(): void {
    if (!this.#open) return;
    this.#groups.clear();
    this.#open = false;
    this.onReadable = undefined;
    this.#queue = [];
    this.#taken = 0;
    this.#socket.close();
  }

  statistics(): Record<string, number> {
    return {
      sent_packets: this.#sentPackets,
      sent_bytes: this.#sentBytes,
      send_err: this.#sendErrors,
      received_packets: this.#receivedPackets,
      received_bytes: this.#receivedBytes,
      receive_dropped: this.#dropped,
    };
  }
}
