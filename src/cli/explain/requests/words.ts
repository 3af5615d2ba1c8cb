/** Requests and numbers in words. */
import { hex, OpcodeBit, opcodeBits } from '../../../device/wire/index.js';
import { formatMicroseconds } from '../../../entry/index.js';
import type { Request } from './requests.js';
import type { SeenPacket, Sighting } from '../captures/sighting.js';
import type { Study } from './study.js';

export const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

const KINDS: readonly (readonly [bit: number, name: string])[] = [
  [OpcodeBit.READ_REQUEST, 'READ'],
  [OpcodeBit.ATOMIC_WRITE, 'ATOMIC_WRITE'],
  [OpcodeBit.ATOMIC, 'atomic'],
  [OpcodeBit.FLUSH, 'FLUSH'],
  [OpcodeBit.WRITE, 'WRITE'],
  [OpcodeBit.SEND, 'SEND'],
];

/** `SEND with invalidate`. */
export function kindOf({ bth }: SeenPacket): string {
  const bits = opcodeBits[bth.opcode];
  const [, name] = KINDS.find(([bit]) => (bits & bit) !== 0) ?? [0, 'packet'];
  if ((bits & OpcodeBit.IMM) !== 0) return `${name} with immediate`;
  return (bits & OpcodeBit.INVALIDATE) !== 0 ? `${name} with invalidate` : name;
}

/** What is known of how often something was sent: `was sent 4 times in 12 ms, then no more`. */
export function attemptWords({ atRequester, half }: Study, attempts: readonly Sighting[]): string {
  const times = count(attempts.length, 'time');
  const spanUs = (attempts.at(-1)?.timeUs ?? 0) - (attempts.at(0)?.timeUs ?? 0);
  const span = attempts.length === 1 ? '' : ` in ${formatMicroseconds(spanUs)}, then no more`;
  return atRequester ? `was sent ${times}${span}` : `of ${half.requester} came by ${times}${span}`;
}

export function memoryOf({ packets }: Request): { readonly va: bigint; readonly rkey: number } | undefined {
  const { reth, atomicEth } = packets[0].packet;
  return reth ?? atomicEth;
}

/** `messages: DATA 64 B, credit to 16`, where a protocol means something by a request. */
function meaningOf({ packets }: Request): string {
  const last = packets.at(-1);
  const meaning = last && [...last.sent, ...last.arrived].find((sighting) => sighting.meaning !== undefined)?.meaning;
  return meaning === undefined ? '' : ` [${meaning}]`;
}

/** `WRITE of 64 bytes to 0x1000 with rkey 0x12345678 (PSN 0x4a31)`. */
export function formatRequest(request: Request): string {
  const { packet } = request.packets[0];
  const memory = memoryOf(request);
  const place = memory === undefined ? '' : ` at ${hex(memory.va)} with rkey ${hex(memory.rkey, 8)}`;
  const key = request.packets.map((one) => one.packet.invalidateRkey).find((rkey) => rkey !== undefined);
  const closes = key === undefined ? '' : `, closing rkey ${hex(key, 8)}`;
  const queue = packet.xrceth === undefined ? '' : `, for shared receive queue ${hex(packet.xrceth.srqn)}`;
  const last = request.packets.at(-1)?.packet ?? packet;
  return `${kindOf(last)} of ${count(request.lengthBytes, 'byte')}${place}${closes}${queue} (PSN ${hex(packet.bth.psn)})${meaningOf(request)}`;
}
