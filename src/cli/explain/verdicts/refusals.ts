/** What speaks for which reason of a refusal. */
import { hex, NakCode, OpcodeBit } from '../../../device/wire/index.js';
import { count } from '../numbers.js';
import type { Answer } from '../requests/answers.js';
import type { Request } from '../requests/requests.js';
import type { Study } from '../requests/study.js';
import { invalidatedKey, memoryOf, srqnOf } from '../requests/words.js';

const TAG_MASK = 0xff;
const ATOMIC_BYTES = 8n;

const rights: readonly (readonly [bit: number, right: string])[] = [
  [OpcodeBit.READ_REQUEST, 'REMOTE_READ'],
  [OpcodeBit.ATOMIC, 'REMOTE_ATOMIC'],
  [OpcodeBit.FLUSH, 'FLUSH_GLOBAL or FLUSH_PERSISTENT'],
  [OpcodeBit.WRITE | OpcodeBit.ATOMIC_WRITE, 'REMOTE_WRITE'],
];

const rightFor = (bits: number): string | undefined => rights.find(([bit]) => (bits & bit) !== 0)?.[1];

/** What requests before one, which were answered, did with memory by one key. */
interface Use {
  readonly rkey: number;
  from: bigint;
  to: bigint;
  readonly rights: Set<string>;
}

/** By key. */
function usesBefore(study: Study, request: Request): Map<number, Use> {
  const { requests, sightings, acknowledged } = study;
  const uses = new Map<number, Use>();
  for (const one of requests) {
    if (one.last >= request.first || one.last > acknowledged) continue;
    const memory = memoryOf(sightings, one.row);
    if (memory === undefined) continue;
    const { rkey, va } = memory;
    const end = va + BigInt(one.lengthBytes ?? 0);
    const right = rightFor(requests.bits(one)) ?? 'others';
    const use = uses.get(rkey);
    if (use === undefined) uses.set(rkey, { rkey, from: va, to: end, rights: new Set([right]) });
    else {
      if (va < use.from) use.from = va;
      if (end > use.to) use.to = end;
      use.rights.add(right);
    }
  }
  return uses;
}

/** The packet before a request that closed a key; -1 if there is none. */
function closedBy({ requests, sightings }: Study, request: Request, rkey: number): number {
  const { packets } = requests;
  for (let packet = 0; packet < request.begin; packet += 1)
    if (invalidatedKey(sightings, packets.rows[packet]) === rkey) return packet;
  return -1;
}

/** What the capture shows of a key that was refused. */
function keyHints(study: Study, request: Request): string[] {
  const { requests, sightings } = study;
  const memory = memoryOf(sightings, request.row);
  if (memory === undefined) return [];
  const { rkey, va } = memory;
  const name = hex(rkey, 8);
  const end = va + BigInt(request.lengthBytes ?? 0);
  const closed = closedBy(study, request, rkey);
  if (closed >= 0) {
    const { row } = requests.at(requests.indexOfPacket(closed));
    return [`rkey ${name} had been closed by the SEND with invalidate of PSN ${hex(sightings.table.psn(row))}`];
  }
  const uses = usesBefore(study, request);
  const same = uses.get(rkey);
  const right = rightFor(requests.bits(request)) ?? '';
  if (same !== undefined) {
    const reach = `rkey ${name} opened ${hex(same.from)} to ${hex(same.to)} before`;
    if (va < same.from || end > same.to)
      return [`${reach}, and this reaches from ${hex(va)} to ${hex(end)}: is that inside the region?`];
    if (!same.rights.has(right))
      return [`${reach}, for ${[...same.rights].join(', ')}: does it allow ${right} as well?`];
    return [`${reach}: the region was deregistered, the window closed, or the memory unmapped, since then`];
  }
  const sibling = [...uses.values()].find((one) => (one.rkey & ~TAG_MASK) === (rkey & ~TAG_MASK));
  if (sibling !== undefined)
    return [
      `it differs from rkey ${hex(sibling.rkey, 8)}, which was good, in its low byte alone: is it an old tag of the same window?`,
    ];
  return [
    `rkey ${name} has opened nothing in this capture: is it a key of the peer's, registered and open, in the domain of that queue pair, with ${right}, ` +
      'and are all the bytes inside its region?',
  ];
}

const WITH_ANSWERS = OpcodeBit.READ_REQUEST | OpcodeBit.ATOMIC | OpcodeBit.ATOMIC_WRITE;

/** How many READs and atomics had been sent and not answered when this one was sent, itself included. */
function outstanding({ requests, answers }: Study, request: Request): number {
  const sentAt = Math.max(0, requests.packets.sent.first(request.begin));
  let answered = -Infinity;
  for (const { row, place } of answers) if (row <= sentAt) answered = Math.max(answered, place);
  let n = 0;
  for (const one of requests)
    if (one.first <= request.first && one.last > answered && (requests.bits(one) & WITH_ANSWERS) !== 0) n += 1;
  return n;
}

function invalidHints(study: Study, request: Request, answer: Answer): string[] {
  const { requests, sightings } = study;
  const bits = requests.bits(request);
  const memory = memoryOf(sightings, request.row);
  if ((bits & OpcodeBit.ATOMIC) !== 0 && memory !== undefined && memory.va % ATOMIC_BYTES !== 0n)
    return [`its address ${hex(memory.va)} is not a multiple of 8, as that of an atomic must be`];
  const hints: string[] = [];
  const srqn = srqnOf(sightings, request.row);
  if (srqn !== undefined)
    hints.push(`is ${hex(srqn)} the number of a shared receive queue in the XRC domain of that queue pair?`);
  if ((bits & OpcodeBit.SEND) !== 0)
    hints.push(`is the receive request that the peer posted at least ${count(request.lengthBytes ?? 0, 'byte')} long?`);
  else hints.push(`do the peer's qpAccessFlags have ${rightFor(bits) ?? 'what it takes'}?`);
  if ((bits & (OpcodeBit.READ_REQUEST | OpcodeBit.ATOMIC)) !== 0)
    hints.push(
      `${count(outstanding(study, request), 'READ or atomic')} outstanding with it: is the peer's maxDestRdAtomic as large?`,
    );
  const { rows } = requests.packets;
  const payload = requests.greatestOf(request, (packet) => sightings.table.payloadBytes(rows[packet]));
  if (payload > 0 && answer.place === request.first)
    hints.push(`its packets have up to ${count(payload, 'byte')}: is the peer's pathMtu as large?`);
  return hints;
}

/** What the responder itself said of a refusal, beside its packet. */
function ownReason({ given, sightings }: Study, { place, code }: Answer): string | undefined {
  for (const one of given) {
    if (one.place !== place || one.code !== code) continue;
    const comment = sightings.comment(one.row);
    if (comment !== undefined) return comment;
  }
  return undefined;
}

export function refusalHints(study: Study, request: Request | undefined, answer: Answer): string[] {
  const reason = ownReason(study, answer);
  if (reason !== undefined) return [reason];
  if (request === undefined) return ['the capture does not show that request'];
  switch (answer.code) {
    case NakCode.REMOTE_ACCESS_ERROR:
      if (memoryOf(study.sightings, request.row) === undefined)
        return ['it was to close a key that is not open to this peer, or is none'];
      return keyHints(study, request);
    case NakCode.INVALID_REQUEST:
      return invalidHints(study, request, answer);
    default:
      return [
        'the peer could not carry it out for a reason of its own (a receive request of bad memory, a queue that failed): its completions say which',
      ];
  }
}
