/** Packets in words. */
import { Aeth, NakCode } from './headers.js';
import type { Packet } from './packet.js';

/** A number in hexadecimal with at least `digits` digits. */
export function hex(value: number | bigint, digits = 1): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}

const NAK_NAMES = new Map<number, string>(Object.entries(NakCode).map(([name, code]) => [code, name]));

/** What an AETH syndrome says (protocol/packets.md 1.4). */
export function formatSyndrome(syndrome: number): string {
  const value = syndrome & Aeth.VALUE_MASK;
  switch (syndrome & Aeth.KIND_MASK) {
    case Aeth.ACK:
      return value === Aeth.CREDITS_NOT_IN_USE ? 'ACK' : `ACK credits=${value}`;
    case Aeth.RNR_NAK:
      return `RNR_NAK timer=${value}`;
    case Aeth.NAK:
      return `NAK ${NAK_NAMES.get(value) ?? String(value)}`;
    default:
      return `reserved ${hex(syndrome, 2)}`;
  }
}

/** The extension headers that the packet has, on one line: `reth{va=0x7f0012340000 rkey=0x1a2b len=4096}`. */
export function formatExtensions(packet: Packet): string {
  const { deth, xrceth, feth, reth, atomicEth, aeth, atomicAck, immData, invalidateRkey } = packet;
  const words: string[] = [];
  if (deth) words.push(`deth{qkey=${hex(deth.qkey, 8)} src_qp=${hex(deth.sourceQp, 6)}}`);
  if (xrceth) words.push(`xrceth{srqn=${hex(xrceth.srqn, 6)}}`);
  if (feth) words.push(`feth{placement=${feth.placement} selectivity=${feth.selectivity}}`);
  if (reth) words.push(`reth{va=${hex(reth.va)} rkey=${hex(reth.rkey, 8)} len=${reth.length}}`);
  if (atomicEth) {
    const { va, rkey, swap, compare } = atomicEth;
    words.push(`atomic{va=${hex(va)} rkey=${hex(rkey, 8)} swap=${hex(swap)} compare=${hex(compare)}}`);
  }
  if (aeth) words.push(`aeth{${formatSyndrome(aeth.syndrome)} msn=${aeth.msn}}`);
  if (atomicAck) words.push(`atomicack{original=${hex(atomicAck.original)}}`);
  if (immData !== undefined) words.push(`imm{${hex(immData, 8)}}`);
  if (invalidateRkey !== undefined) words.push(`ieth{rkey=${hex(invalidateRkey, 8)}}`);
  return words.join(' ');
}

/** A packet on one line: opcode, QPN, PSN, the bits that are set, the headers that it has, payload length. */
export function formatPacket(packet: Packet): string {
  const { bth } = packet;
  const flags = [
    bth.ackRequest ? 'ack_req' : '',
    bth.solicited ? 'solicited' : '',
    bth.fecn ? 'fecn' : '',
    bth.becn ? 'becn' : '',
  ];
  return [
    packet.name,
    `qpn=${hex(bth.destQp, 6)}`,
    `psn=${hex(bth.psn, 6)}`,
    ...flags,
    formatExtensions(packet),
    `payload=${packet.payload.length}`,
  ]
    .filter((word) => word !== '')
    .join(' ');
}
