/** Captures in code: RoCEv2 over IPv4 with the right ICRC, as other people's senders send it. */
import { gidFromIp } from '../../../device/ibta/index.js';
import {
  BTH_BYTES,
  buildIpUdpHeader,
  crc32,
  createPath,
  ICRC_BYTES,
  LinkType,
  Opcode,
  pathHeader,
  pcapngHeader,
  pcapngPacket,
  putU32,
  sealIcrc,
  writeAeth,
  writeBth,
  writeDeth,
  writeReth,
} from '../../../device/wire/index.js';

export const A = '198.51.100.1';
export const B = '198.51.100.2';
/** Queue pairs of A and of B. */
export const QP_A = 0x11;
export const QP_B = 0x22;
const GSI_QKEY = 0x80010000;
const IP_UDP_BYTES = 28;
/** Syndromes. */
export const ACK = 0x1f;
export const REMOTE_ACCESS = 0x62;

/** What is not named is as in a WRITE or SEND of A to B. */
export interface PacketFields {
  readonly from?: string;
  readonly to?: string;
  readonly qpn?: number;
  readonly ackRequest?: boolean;
  readonly fecn?: boolean;
  readonly ecn?: number;
  readonly ipId?: number;
  readonly sourcePort?: number;
}

/** From its IP header on. */
export function packet(
  opcode: number,
  psn: number,
  extension: Uint8Array,
  payload: Uint8Array,
  fields: PacketFields = {},
): Uint8Array {
  const { from = A, to = B, qpn = QP_B, ackRequest = false, fecn = false, ecn = 0, ipId = 1 } = fields;
  const padding = -payload.length & 3;
  const length = BTH_BYTES + extension.length + payload.length + padding + ICRC_BYTES;
  const bytes = new Uint8Array(IP_UDP_BYTES + length);
  const path = createPath({
    sgid: gidFromIp(from),
    dgid: gidFromIp(to),
    trafficClass: ecn,
    sourcePort: fields.sourcePort ?? 0xc000,
  });
  buildIpUdpHeader(bytes, 0, pathHeader(path, ipId), length);
  writeBth(bytes, IP_UDP_BYTES, opcode, padding, 0, ackRequest ? 1 : 0, 0xffff, qpn, psn);
  if (fecn) bytes[IP_UDP_BYTES + 4] |= 0x80;
  bytes.set(extension, IP_UDP_BYTES + BTH_BYTES);
  bytes.set(payload, IP_UDP_BYTES + BTH_BYTES + extension.length);
  sealIcrc(crc32, path, bytes, IP_UDP_BYTES, length, ipId);
  return bytes;
}

const none = new Uint8Array(0);

function reth(va: number, rkey: number, length: number): Uint8Array {
  const bytes = new Uint8Array(16);
  writeReth(bytes, 0, 0, va, rkey, length);
  return bytes;
}

function aeth(syndrome: number, msn: number): Uint8Array {
  const bytes = new Uint8Array(4);
  writeAeth(bytes, 0, syndrome, msn);
  return bytes;
}

export const write = (psn: number, fields: PacketFields & { va?: number; rkey?: number; bytes?: number } = {}) =>
  packet(
    Opcode.RC_WRITE_ONLY,
    psn,
    reth(fields.va ?? 0x1000, fields.rkey ?? 1, fields.bytes ?? 16),
    new Uint8Array(fields.bytes ?? 16).fill(0x7a),
    { ackRequest: true, ...fields },
  );

export const send = (psn: number, fields: PacketFields & { opcode?: number; bytes?: number; fill?: number } = {}) =>
  packet(
    fields.opcode ?? Opcode.RC_SEND_ONLY,
    psn,
    none,
    new Uint8Array(fields.bytes ?? 16).fill(fields.fill ?? 0x79),
    {
      ackRequest: true,
      ...fields,
    },
  );

export const readRequest = (psn: number, length: number, fields: PacketFields = {}) =>
  packet(Opcode.RC_READ_REQUEST, psn, reth(0x1000, 1, length), none, { ackRequest: true, ...fields });

/** What goes back from B to A. */
const BACK = { from: B, to: A, qpn: QP_A } as const;

export const ack = (psn: number, msn = 1, fields: PacketFields & { syndrome?: number } = {}) =>
  packet(Opcode.RC_ACKNOWLEDGE, psn, aeth(fields.syndrome ?? ACK, msn), none, { ...BACK, ...fields });

/** The responses to a READ. */
export function responses(psn: number, lengths: readonly number[], fields: PacketFields = {}): Uint8Array[] {
  return lengths.map((bytes, i) => {
    const isFirst = i === 0;
    const isLast = i === lengths.length - 1;
    const opcode = isFirst
      ? isLast
        ? Opcode.RC_READ_RESP_ONLY
        : Opcode.RC_READ_RESP_FIRST
      : isLast
        ? Opcode.RC_READ_RESP_LAST
        : Opcode.RC_READ_RESP_MIDDLE;
    const extension = isFirst || isLast ? aeth(ACK, 1) : none;
    return packet(opcode, psn + i, extension, new Uint8Array(bytes).fill(0x78), { ...BACK, ...fields });
  });
}

export const cnp = (qpn: number, fields: PacketFields = {}) =>
  packet(Opcode.CNP, 0, none, new Uint8Array(16), { ...BACK, qpn, ...fields });

const MAD_BYTES = 256;
const MAD_HEADER_BYTES = 24;

/** A message of connection managers, by its attribute ID and the words that it has at offsets of its body. */
function cm(attribute: number, words: Readonly<Record<number, number>>, psn: number, fields: PacketFields): Uint8Array {
  const mad = new Uint8Array(MAD_BYTES);
  mad.set([1, 7, 2, 3]);
  mad[15] = psn;
  mad[17] = attribute;
  for (const [at, word] of Object.entries(words)) putU32(mad, MAD_HEADER_BYTES + Number(at), word);
  const deth = new Uint8Array(8);
  writeDeth(deth, 0, GSI_QKEY, 1);
  return packet(Opcode.UD_SEND_ONLY, psn, deth, mad, { qpn: 1, ...fields });
}

/** Ways of messages of connection managers. */
export const FORTH = { from: A, to: B } as const;
export const BACKWARDS = { from: B, to: A } as const;

/** REQ, REP, RTU, DREQ and DREP of a connection that A asks for. */
export function connection(activeId: number, passiveId: number, activeQpn: number, passiveQpn: number, psn: number) {
  return {
    req: cm(0x10, { 0: activeId, 8: 0, 12: 0x01061c06, 32: activeQpn << 8, 44: psn << 8, 48: 0xffff37f0 }, 10, FORTH),
    rep: cm(0x13, { 0: passiveId, 4: activeId, 12: passiveQpn << 8, 20: psn << 8 }, 20, BACKWARDS),
    rtu: cm(0x14, { 0: activeId, 4: passiveId }, 11, FORTH),
    dreq: cm(0x15, { 0: activeId, 4: passiveId, 8: passiveQpn << 8 }, 12, FORTH),
    drep: cm(0x16, { 0: passiveId, 4: activeId }, 21, BACKWARDS),
  };
}

const START_NS = 1_700_000_000_000_000_000n;
const NS_PER_SECOND = 1e9;

/** A capture of raw IP: packets with the seconds at which they came by. */
export function timed(packets: readonly (readonly [seconds: number, packet: Uint8Array])[]): Uint8Array {
  return Buffer.concat([
    pcapngHeader({ linkType: LinkType.RAW }),
    ...packets.map(([seconds, bytes]) => pcapngPacket(START_NS + BigInt(Math.round(seconds * NS_PER_SECOND)), bytes)),
  ]);
}

/** The same with a millisecond between packets. */
export const capture = (packets: readonly Uint8Array[], fromSeconds = 0): Uint8Array =>
  timed(packets.map((bytes, i) => [fromSeconds + i / 1000, bytes] as const));
