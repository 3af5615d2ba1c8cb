/** Requests and numbers in words. */
import {
  atomicEthOffset,
  getU24,
  getU32,
  hex,
  iethOffset,
  OpcodeBit,
  opcodeBits,
  PacketBit,
  rethOffset,
  xrcethOffset,
} from '../../../device/wire/index.js';
import { formatMicroseconds } from '../../../entry/index.js';
import type { Sightings } from '../captures/sightings.js';
import { count } from '../numbers.js';
import type { Request, Requests } from './requests.js';
import type { Study } from './study.js';

const KINDS: readonly (readonly [bit: number, name: string])[] = [
  [OpcodeBit.READ_REQUEST, 'READ'],
  [OpcodeBit.ATOMIC_WRITE, 'ATOMIC_WRITE'],
  [OpcodeBit.ATOMIC, 'atomic'],
  [OpcodeBit.FLUSH, 'FLUSH'],
  [OpcodeBit.WRITE, 'WRITE'],
  [OpcodeBit.SEND, 'SEND'],
];

function nameOfKind(opcode: number): string {
  const bits = opcodeBits[opcode];
  const [, name] = KINDS.find(([bit]) => (bits & bit) !== 0) ?? [0, 'packet'];
  if ((bits & OpcodeBit.IMM) !== 0) return `${name} with immediate`;
  return (bits & OpcodeBit.INVALIDATE) !== 0 ? `${name} with invalidate` : name;
}

const NAMES = Array.from({ length: 256 }, (_, opcode) => nameOfKind(opcode));

/** `SEND with invalidate`. */
export const kindOf = (opcode: number): string => NAMES[opcode];

/** What is known of how often something was sent: `was sent 4 times in 12 ms, then no more`. */
export function attemptWords({ atRequester, half, sightings }: Study, attempts: readonly number[]): string {
  const times = count(attempts.length, 'time');
  const spanUs = sightings.timeUs(attempts[attempts.length - 1] ?? 0) - sightings.timeUs(attempts[0] ?? 0);
  const span = attempts.length < 2 ? '' : ` in ${formatMicroseconds(spanUs)}, then no more`;
  return atRequester ? `was sent ${times}${span}` : `of ${half.requester} came by ${times}${span}`;
}

/** The memory that a packet names: by its RETH or AtomicETH. */
export function memoryOf(
  { table }: Sightings,
  row: number,
): { readonly va: bigint; readonly rkey: number } | undefined {
  const opcode = table.opcode(row);
  const offset = rethOffset[opcode] || atomicEthOffset[opcode];
  if (offset === 0 || (table.bits(row) & PacketBit.HEADERS_CUT) !== 0) return undefined;
  const headers = table.headers(row);
  const at = table.headerAt(row) + offset;
  const word = (n: number): bigint => BigInt(getU32(headers, at + 4 * n) >>> 0);
  return { va: (word(0) << 32n) | word(1), rkey: Number(word(2)) };
}

/** The key that a packet closes. */
export function invalidatedKey({ table }: Sightings, row: number): number | undefined {
  const offset = iethOffset[table.opcode(row)];
  if (offset === 0 || (table.bits(row) & PacketBit.HEADERS_CUT) !== 0) return undefined;
  return getU32(table.headers(row), table.headerAt(row) + offset) >>> 0;
}

/** The shared receive queue that a packet names. */
export function srqnOf({ table }: Sightings, row: number): number | undefined {
  const offset = xrcethOffset[table.opcode(row)];
  return offset === 0 ? undefined : getU24(table.headers(row), table.headerAt(row) + offset + 1);
}

/** `messages: DATA 64 B, credit to 16`, where a protocol means something by a request. */
function meaningOf({ packets, sightings }: Requests, { end }: Request): string {
  const rows = [...packets.sent.of(end - 1), ...packets.arrived.of(end - 1)];
  const meaning = rows.map((row) => sightings.meaning(row)).find((text) => text !== undefined);
  return meaning === undefined ? '' : ` [${meaning}]`;
}

/** The row of a request's last packet, which has the opcode that names it. */
export const lastRow = ({ packets }: Requests, { end }: Request): number => packets.rows[end - 1];

/** `WRITE of 64 bytes (PSN 0x4a31)`: never longer than some 60 letters. */
export function nameRequest(requests: Requests, request: Request): string {
  const { table } = requests.sightings;
  const bytes = request.lengthBytes === undefined ? '' : ` of ${count(request.lengthBytes, 'byte')}`;
  return `${kindOf(table.opcode(lastRow(requests, request)))}${bytes} (PSN ${hex(table.psn(request.row))})`;
}

/** `WRITE of 64 bytes at 0x1000 with rkey 0x12345678 (PSN 0x4a31)`. */
export function formatRequest(requests: Requests, request: Request): string {
  const { sightings, packets } = requests;
  const { table } = sightings;
  const memory = memoryOf(sightings, request.row);
  const place = memory === undefined ? '' : ` at ${hex(memory.va)} with rkey ${hex(memory.rkey, 8)}`;
  const key = invalidatedKey(sightings, packets.rows[request.end - 1]);
  const closes = key === undefined ? '' : `, closing rkey ${hex(key, 8)}`;
  const srqn = srqnOf(sightings, request.row);
  const queue = srqn === undefined ? '' : `, for shared receive queue ${hex(srqn)}`;
  const kind = kindOf(table.opcode(lastRow(requests, request)));
  const bytes = request.lengthBytes === undefined ? 'unknown length' : count(request.lengthBytes, 'byte');
  return `${kind} of ${bytes}${place}${closes}${queue} (PSN ${hex(table.psn(request.row))})${meaningOf(requests, request)}`;
}
