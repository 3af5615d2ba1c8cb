/** Finding out whether the kernel cuts and joins datagrams (UDP_SEGMENT since Linux 4.18, UDP_GRO since 5.0). */
import {
  ANCILLARY_BYTES,
  MessageBlock,
  NativeBlock,
  PollSet,
  sockaddrLength,
  UdpSocket,
  writeSockaddr,
} from '../../system/index.js';
import type { LocalAddress } from './udp-address.js';

export const SOL_UDP = 17;
export const UDP_SEGMENT = 103;
export const UDP_GRO = 104;

/** What the kernel can do. */
export interface Segmentation {
  /** One send may be cut into many packets. */
  readonly send: boolean;
  /** Many packets may be received as one. */
  readonly receive: boolean;
}

export const NO_SEGMENTATION: Segmentation = { send: false, receive: false };

const SEGMENT_BYTES = 100;
const SEGMENTS = 3;
const SEND_BYTES = SEGMENT_BYTES * (SEGMENTS - 1) + SEGMENT_BYTES / 2;
/** Loopback delivers before the send returns, as a rule; a machine out of breath may take longer. */
const PATIENCE_US = 20_000;

function openAt(address: LocalAddress): UdpSocket {
  const socket = new UdpSocket(address.ipv6);
  socket.bind({ ip: address.gid, port: 0, scopeId: address.scopeId });
  return socket;
}

/** Sends three segments by one call. @returns whether the kernel accepted them */
function sendSegments(from: UdpSocket, to: UdpSocket, address: LocalAddress): boolean {
  const payload = new NativeBlock(SEND_BYTES);
  const message = new MessageBlock(1, ANCILLARY_BYTES);
  message.setBuffer(0, payload.address);
  message.setBufferLength(0, SEND_BYTES);
  const destination = { ip: address.gid, port: to.localPort(), scopeId: address.scopeId };
  writeSockaddr(message.bytes, message.nameOffset(0), address.ipv6, destination);
  message.setNameLength(0, sockaddrLength(address.ipv6));
  const control = message.controlOffset(0);
  message.writeAncillaryHeader(control, SOL_UDP, UDP_SEGMENT, 2);
  message.setAncillaryValue(control, SEGMENT_BYTES);
  message.setControlLength(0, ANCILLARY_BYTES);
  return from.native.libc.sendmsg(from.fd, message.address(0), 0) === SEND_BYTES;
}

function receiveLengths(socket: UdpSocket, expected: number): number[] {
  const buffer = new NativeBlock(4 * SEND_BYTES);
  const poll = new PollSet([socket.fd]);
  const lengths: number[] = [];
  while (lengths.length < expected && poll.wait(PATIENCE_US) > 0) {
    const length = socket.native.libc.recv(socket.fd, buffer.address, buffer.bytes.length, 0);
    if (length < 0) break;
    lengths.push(length);
  }
  return lengths;
}

/** Three datagrams sent by one call must arrive as three, and as one where joining is asked for. */
function probe(address: LocalAddress): Segmentation {
  const sockets: UdpSocket[] = [];
  try {
    const sender = openAt(address);
    sockets.push(sender);
    const apart = openAt(address);
    sockets.push(apart);
    const wanted = [SEGMENT_BYTES, SEGMENT_BYTES, SEGMENT_BYTES / 2];
    const send = sendSegments(sender, apart, address) && receiveLengths(apart, SEGMENTS).join() === wanted.join();
    if (!send) return NO_SEGMENTATION;
    const joined = openAt(address);
    sockets.push(joined);
    const receive =
      joined.setOption(SOL_UDP, UDP_GRO, 1) &&
      sendSegments(sender, joined, address) &&
      receiveLengths(joined, 1).join() === String(SEND_BYTES);
    return { send, receive };
  } catch {
    // Whatever is in the way, the plain calls still work.
    return NO_SEGMENTATION;
  } finally {
    for (const socket of sockets) socket.close();
  }
}

const known = new Map<boolean, Segmentation>();

/**
 * Tries it out, between sockets at the link's own address, so that no packet leaves the machine. Once for each IP version;
 * what a device further on makes of segments is not known before something is sent there.
 */
export function probeSegmentation(address: LocalAddress): Segmentation {
  const found = known.get(address.ipv6) ?? probe(address);
  known.set(address.ipv6, found);
  return found;
}
