/** One line a packet. */
import { formatPacket, hex } from '../../device/wire/index.js';
import type { Examined } from './examine.js';
import { formatMad } from './mad.js';

/** No packet is longer: 4096 bytes of payload, the longest headers, padding and ICRC fit well. */
const LONGEST_PACKET_BYTES = 4200;

/** Seconds with six digits after the point. */
export function formatTime(timeNs: bigint): string {
  const sign = timeNs < 0n ? '-' : '';
  const microseconds = (timeNs < 0n ? -timeNs : timeNs) / 1000n;
  return `${sign}${microseconds / 1_000_000n}.${String(microseconds % 1_000_000n).padStart(6, '0')}`;
}

/** `icrc=ok`, or what is wrong with it. */
export function formatVerdict({ verdict, storedIcrc, expectedIcrc, datagram }: Examined): string {
  if (verdict === 'ok') return 'icrc=ok';
  if (verdict === 'cut') return `icrc=? (the capture holds ${datagram.capturedLength} of ${datagram.length} bytes)`;
  if (storedIcrc === undefined || expectedIcrc === undefined) return 'icrc=WRONG (no room for one)';
  const values = `has ${hex(storedIcrc, 8)}, should have ${hex(expectedIcrc, 8)}`;
  // A capture on a sender with segmentation offload shows a whole train of packets as one datagram.
  const hint = datagram.length > LONGEST_PACKET_BYTES ? '; too long for one packet: captured before segmentation?' : '';
  return `icrc=WRONG (${values}${hint})`;
}

/** As tcpdump names them where it listens on several interfaces. */
const DIRECTION_WORDS = { in: 'In ', out: 'Out' } as const;

/** Time, direction where it is known, addresses, opcode, QPN, PSN, flags, headers, payload length, ICRC verdict. */
export function formatLine(examined: Examined): string {
  const { timeNs, direction, addresses, datagram, packet, refusal, mad, meaning } = examined;
  const words = [formatTime(timeNs).padStart(10)];
  if (direction !== undefined) words.push(DIRECTION_WORDS[direction]);
  words.push(`${addresses.source} > ${addresses.destination}`);
  if (datagram.roceVersion === 1) words.push('RoCEv1');
  words.push(packet === undefined ? `UNREADABLE (${refusal ?? 'no packet'})` : formatPacket(packet));
  if (mad !== undefined) words.push(formatMad(mad));
  if (meaning !== undefined) words.push(`[${meaning}]`);
  words.push(formatVerdict(examined));
  return words.join(' ');
}
