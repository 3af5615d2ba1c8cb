/**
 * A peer made by hand: a UDP socket that answers a request packet as it likes. What goes on the wire is protocol/packets.md 1.1
 * to 1.7; nothing of the product is used to make it.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

const ROCE_PORT = 4791;
const BTH_BYTES = 12;
const ICRC_BYTES = 4;
const IP_AND_UDP_BYTES = 28;
const FULL_PKEY = 0xffff;
/** 127.64 to 127.95: not among the addresses that providers choose. */
const FIRST_NET = 64;
const NETS = 32;
const ATTEMPTS = 100;

/** AETH of an ACK without credits that acknowledges the first message (protocol/packets.md 1.4). */
export const ACK_AETH = Uint8Array.of(0x1f, 0, 0, 1);

/** What came: a request, or an acknowledgement. */
export interface Packet {
  readonly opcode: number;
  readonly psn: number;
  readonly destQpn: number;
  readonly body: Uint8Array;
}

/** The invariant CRC of a packet from `source` to `target`, whose IP header has identification 0 (protocol/packets.md 1.7). */
function icrcOf(source: string, target: string, packet: Uint8Array): number {
  const udpBytes = 8 + packet.length;
  const ipBytes = 20 + udpBytes;
  const address = (text: string): number[] => text.split('.').map(Number);
  const masked = Uint8Array.from(packet.subarray(0, packet.length - ICRC_BYTES));
  masked[4] = 0xff;
  const header = [
    ...new Array<number>(8).fill(0xff),
    ...[0x45, 0xff, ipBytes >> 8, ipBytes & 0xff, 0, 0, 0x40, 0, 0xff, 17, 0xff, 0xff],
    ...address(source),
    ...address(target),
    ...[ROCE_PORT >> 8, ROCE_PORT & 0xff, ROCE_PORT >> 8, ROCE_PORT & 0xff, udpBytes >> 8, udpBytes & 0xff, 0xff, 0xff],
  ];
  if (header.length !== 8 + IP_AND_UDP_BYTES) throw new Error('a header of another length');
  return crc32(masked, crc32(Uint8Array.from(header)));
}

/** Binds a socket on an address of the loopback network that nobody else has. */
async function openSocket(): Promise<Socket> {
  for (let attempt = 0; ; attempt += 1) {
    const place = (process.pid * 31 + attempt) % (NETS * 0xffff);
    const socket = createSocket('udp4');
    const address = `127.${FIRST_NET + (place >> 16)}.${(place >> 8) & 0xff}.${1 + (place % 254)}`;
    try {
      const listening = once(socket, 'listening');
      socket.bind(ROCE_PORT, address);
      await listening;
      return socket;
    } catch (error) {
      socket.close();
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

export class HandPeer implements Disposable {
  private constructor(private readonly socket: Socket) {}

  static async open(): Promise<HandPeer> {
    return new HandPeer(await openSocket());
  }

  get address(): string {
    return this.socket.address().address;
  }

  /** The packet that `act` has a device send. */
  async receive(act: () => void): Promise<Packet> {
    const arrival = once(this.socket, 'message');
    act();
    const [data] = (await arrival) as [Buffer]; // what a datagram socket emits
    return {
      opcode: data[0],
      destQpn: data.readUIntBE(5, 3),
      psn: data.readUIntBE(9, 3),
      body: Uint8Array.from(data.subarray(BTH_BYTES, data.length - ICRC_BYTES)),
    };
  }

  async send(target: string, destQpn: number, packet: Omit<Packet, 'destQpn'>): Promise<void> {
    const { opcode, psn, body } = packet;
    const bytes = Buffer.alloc(BTH_BYTES + body.length + ICRC_BYTES);
    bytes[0] = opcode;
    bytes.writeUInt16BE(FULL_PKEY, 2);
    bytes.writeUIntBE(destQpn, 5, 3);
    bytes.writeUIntBE(psn, 9, 3);
    bytes.set(body, BTH_BYTES);
    bytes.writeUInt32LE(icrcOf(this.address, target, bytes), bytes.length - ICRC_BYTES);
    const send = promisify<Uint8Array, number, string, number>(this.socket.send.bind(this.socket));
    await send(bytes, ROCE_PORT, target);
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }
}
