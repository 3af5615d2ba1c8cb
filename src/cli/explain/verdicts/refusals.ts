/** What speaks for which reason of a refusal. */
import { hex, NakCode, OpcodeBit, opcodeBits } from '../../../device/wire/index.js';
import type { Request } from '../requests/requests.js';
import type { Study } from '../requests/study.js';
import { type Answer, greatest } from '../requests/answers.js';
import { count, memoryOf } from '../requests/words.js';

const TAG_MASK = 0xff;
/** How our NICs begin what they say beside a refusal. */
const REFUSED = 'refused ';
const ATOMIC_BYTES = 8n;

const rights: readonly (readonly [bit: number, right: string])[] = [
  [OpcodeBit.READ_REQUEST, 'REMOTE_READ'],
  [OpcodeBit.ATOMIC, 'REMOTE_ATOMIC'],
  [OpcodeBit.FLUSH, 'FLUSH_GLOBAL or FLUSH_PERSISTENT'],
  [OpcodeBit.WRITE | OpcodeBit.ATOMIC_WRITE, 'REMOTE_WRITE'],
];

const bitsOf = ({ packets }: Request): number => opcodeBits[packets[0].packet.bth.opcode];
const rightFor = (request: Request): string | undefined => rights.find(([bit]) => (bitsOf(request) & bit) !== 0)?.[1];

/** Requests before this one that were answered. */
function answeredBefore({ requests, acknowledged }: Study, request: Request): Request[] {
  return requests.filter(({ last }) => last < request.first && last <= acknowledged);
}

/** What the capture shows of a key that was refused. */
function keyHints(study: Study, request: Request): string[] {
  const memory = memoryOf(request);
  if (memory === undefined) return [];
  const { rkey, va } = memory;
  const name = hex(rkey, 8);
  const end = va + BigInt(request.lengthBytes);
  const closed = study.requests.find(
    ({ first, packets }) => first < request.first && packets.some(({ packet }) => packet.invalidateRkey === rkey),
  );
  if (closed !== undefined)
    return [`rkey ${name} had been closed by the SEND with invalidate of PSN ${hex(closed.packets[0].packet.bth.psn)}`];
  const earlier = answeredBefore(study, request).flatMap((one) => {
    const used = memoryOf(one);
    return used === undefined ? [] : [{ ...used, end: used.va + BigInt(one.lengthBytes), right: rightFor(one) }];
  });
  const same = earlier.filter((one) => one.rkey === rkey);
  const right = rightFor(request) ?? '';
  if (same.length > 0) {
    const from = same.reduce((least, one) => (one.va < least ? one.va : least), same[0].va);
    const to = same.reduce((most, one) => (one.end > most ? one.end : most), same[0].end);
    const reach = `rkey ${name} opened ${hex(from)} to ${hex(to)} before`;
    if (va < from || end > to)
      return [`${reach}, and this reaches from ${hex(va)} to ${hex(end)}: is that inside the region?`];
    if (same.every((one) => one.right !== right))
      return [`${reach}, for ${same[0].right ?? 'others'}: does it allow ${right} as well?`];
    return [`${reach}: the region was deregistered, the window closed, or the memory unmapped, since then`];
  }
  const sibling = earlier.find((one) => (one.rkey & ~TAG_MASK) === (rkey & ~TAG_MASK));
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
  const sentAt = request.packets[0].sent[0]?.order ?? 0;
  const answered = greatest(answers.filter(({ order }) => order <= sentAt).map(({ place }) => place));
  return requests.filter(
    (one) => one.first <= request.first && one.last > answered && (bitsOf(one) & WITH_ANSWERS) !== 0,
  ).length;
}

function invalidHints(study: Study, request: Request, answer: Answer): string[] {
  const bits = bitsOf(request);
  const memory = memoryOf(request);
  if ((bits & OpcodeBit.ATOMIC) !== 0 && memory !== undefined && memory.va % ATOMIC_BYTES !== 0n)
    return [`its address ${hex(memory.va)} is not a multiple of 8, as that of an atomic must be`];
  const hints: string[] = [];
  const { packet } = request.packets[0];
  if (packet.xrceth !== undefined)
    hints.push(
      `is ${hex(packet.xrceth.srqn)} the number of a shared receive queue in the XRC domain of that queue pair?`,
    );
  if ((bits & OpcodeBit.SEND) !== 0) {
    hints.push(`is the receive request that the peer posted at least ${count(request.lengthBytes, 'byte')} long?`);
  } else {
    hints.push(`do the peer's qpAccessFlags have ${rightFor(request) ?? 'what it takes'}?`);
  }
  if ((bits & (OpcodeBit.READ_REQUEST | OpcodeBit.ATOMIC)) !== 0)
    hints.push(
      `${count(outstanding(study, request), 'READ or atomic')} outstanding with it: is the peer's maxDestRdAtomic as large?`,
    );
  const payload = greatest(request.packets.map((one) => one.packet.payloadBytes));
  if (payload > 0 && answer.place === request.first)
    hints.push(`its packets have up to ${count(payload, 'byte')}: is the peer's pathMtu as large?`);
  return hints;
}

/** What the responder itself said of a refusal, beside its packet. */
function ownReason({ given }: Study, { place, code }: Answer): string | undefined {
  const said = given.find((one) => one.place === place && one.code === code && one.comment?.startsWith(REFUSED));
  return said?.comment;
}

export function refusalHints(study: Study, request: Request | undefined, answer: Answer): string[] {
  const reason = ownReason(study, answer);
  if (reason !== undefined) return [reason];
  if (request === undefined) return ['which the capture does not show'];
  switch (answer.code) {
    case NakCode.REMOTE_ACCESS_ERROR:
      if (memoryOf(request) === undefined) return ['it was to close a key that is not open to this peer, or is none'];
      return keyHints(study, request);
    case NakCode.INVALID_REQUEST:
      return invalidHints(study, request, answer);
    default:
      return [
        'the peer could not carry it out for a reason of its own (a receive request of bad memory, a queue that failed): its completions say which',
      ];
  }
}
