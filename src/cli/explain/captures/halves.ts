/** Which host requested what of which, over which queue pairs. */
import {
  Ecn,
  OpcodeBit,
  opcodeBits,
  OpcodeService,
  PacketBit,
  type PacketTable,
  rethOffset,
} from '../../../device/wire/index.js';
import { psnDiff } from '../../../entry/index.js';
import { type Agreement, agreementsOf } from './agreements.js';
import { isSamePacket } from './row-index.js';
import type { Sightings } from './sightings.js';

/** The requests that one queue pair sends to another, and what comes back. A connection has two of these at most. */
export interface Half {
  readonly requester: string;
  readonly responder: string;
  readonly service: string;
  /** The responder's queue pair, as the requests name it. */
  readonly qpn: number;
  answersQpn: number | undefined;
  /** Rows, in their order. */
  readonly requests: Uint32Array;
  answers: Uint32Array;
  /** Rows of packets that came damaged, and were this half's as far as what stands in them can be believed. */
  readonly damaged: number[];
  /** Who ended the connection, where connection managers said so. */
  over: Agreement['over'];
  /** When its first and its last request was seen, and when requests of the same numbers are another connection's. */
  readonly fromUs: number;
  readonly lastUs: number;
  readonly toUs: number;
  /** Packets with a mark of congestion (ECN CE) among requests and answers. */
  marked: number;
}

/** Packets of the same sender, receiver, queue pair and service. */
interface Stream {
  readonly flow: number;
  readonly source: string;
  readonly destination: string;
  readonly qpn: number;
  readonly service: string;
  readonly rows: Uint32Array;
}

const SERVICES: Readonly<Partial<Record<number, string>>> = {
  [OpcodeService.RC]: 'RC',
  [OpcodeService.UC]: 'UC',
  [OpcodeService.UD]: 'UD',
  [OpcodeService.XRC]: 'XRC',
};
const GSI_QPN = 1;
const PSNS = 1 << 24;

/** PSNs of one connection do not step further than that, but by the PSNs of a READ. */
const STEP = 1 << 16;
/** A pause after which a step of PSNs begins another connection. */
const PAUSE_US = 20_000;
/** A connection's first request may be seen this much before what its connection managers said. */
const EARLY_US = 100;

const isRequest = (table: PacketTable, row: number): boolean =>
  (opcodeBits[table.opcode(row)] & OpcodeBit.REQUEST) !== 0;

interface Streams {
  readonly requests: Stream[];
  readonly answers: Stream[];
  readonly damaged: readonly number[];
}

/** Sorts packets, but those of connection managers. */
function streamsOf(sightings: Sightings): Streams {
  const { table, flows } = sightings;
  const isData = Array.from(
    { length: flows.size },
    (_, flow) => SERVICES[flows.service(flow)] !== undefined && flows.qpn(flow) !== GSI_QPN,
  );
  // By flow and kind.
  const counts = new Uint32Array(2 * flows.size);
  const damaged: number[] = [];
  for (const row of sightings.rows()) {
    const flow = table.flow(row);
    if (!isData[flow]) continue;
    if (sightings.isDamaged(row)) damaged.push(row);
    else counts[2 * flow + Number(isRequest(table, row))] += 1;
  }
  const lists = new Map<number, Uint32Array>();
  const used = new Uint32Array(counts.length);
  for (const row of sightings.rows()) {
    const flow = table.flow(row);
    if (!isData[flow] || sightings.isDamaged(row)) continue;
    const key = 2 * flow + Number(isRequest(table, row));
    let list = lists.get(key);
    if (list === undefined) lists.set(key, (list = new Uint32Array(counts[key])));
    list[used[key]++] = row;
  }
  const all = [...lists].map(([key, rows]) => {
    const flow = key >> 1;
    const service = SERVICES[flows.service(flow)] ?? '';
    const ends = { source: flows.source(flow), destination: flows.destination(flow), qpn: flows.qpn(flow) };
    return { key, stream: { flow, ...ends, service, rows } };
  });
  const of = (kind: number): Stream[] => all.filter(({ key }) => (key & 1) === kind).map(({ stream }) => stream);
  return { requests: of(1), answers: of(0), damaged };
}

/**
 * When a queue pair's number passes to another connection, as far as packets show it: after a pause PSNs go on elsewhere. Each
 * group of files is looked through by itself.
 */
function psnCuts(sightings: Sightings, { rows, service }: Stream): number[] {
  const { table } = sightings;
  // Datagrams of several senders have PSNs of their own.
  if (service === 'UD') return [];
  const cuts: number[] = [];
  const last = new Map<number, { first: number; psn: number; us: number; room: number }>();
  for (const row of rows) {
    const group = sightings.group(row);
    const psn = table.psn(row);
    const us = sightings.timeUs(row);
    const before = last.get(group);
    if (before === undefined) {
      last.set(group, { first: row, psn, us, room: roomOf(table, row) });
      continue;
    }
    const step = psnDiff(psn, before.psn);
    const isElsewhere = step < -STEP || step > STEP + before.room;
    // A program that always begins with the same PSN begins again, and does not ask for the same.
    const restarts = step < 0 && psn === table.psn(before.first) && !isSamePacket(table, before.first, row);
    if ((isElsewhere || restarts) && us - before.us >= PAUSE_US) {
      cuts.push((us + before.us) / 2);
      before.first = row;
      before.psn = psn;
      before.room = 0;
    }
    if (psnDiff(psn, before.psn) >= 0) {
      before.psn = psn;
      before.room = roomOf(table, row);
    }
    before.us = us;
  }
  return cuts;
}

const LEAST_MTU = 256;
const RETH_LENGTH_AT = 12;

/** PSNs that a READ's responses take at most. */
function roomOf(table: PacketTable, row: number): number {
  if ((opcodeBits[table.opcode(row)] & OpcodeBit.READ_REQUEST) === 0) return 0;
  const headers = table.headers(row);
  const at = table.headerAt(row) + rethOffset[table.opcode(row)] + RETH_LENGTH_AT;
  const length = headers[at] * 0x1000000 + ((headers[at + 1] << 16) | (headers[at + 2] << 8) | headers[at + 3]);
  return Math.ceil(length / LEAST_MTU);
}

/** The agreements of a stream of requests, and by which number answers then name its requester's queue pair. */
function agreementsFor(
  stream: Stream,
  agreements: readonly Agreement[],
): { agreement: Agreement; answersQpn: number }[] {
  return agreements.flatMap((agreement) =>
    agreement.ends.flatMap((end, i) => {
      const other = agreement.ends[1 - i];
      return end.address === stream.destination && end.qpn === stream.qpn && other.address === stream.source
        ? [{ agreement, answersQpn: other.qpn }]
        : [];
    }),
  );
}

/** Cuts times close to each other are one. */
function merged(cuts: readonly number[]): number[] {
  return [...cuts].sort((a, b) => a - b).filter((cut, i, all) => i === 0 || cut - all[i - 1] > PAUSE_US);
}

/** Distributes rows over the spans between cuts. */
function spans(sightings: Sightings, rows: Uint32Array, cuts: readonly number[]): Uint32Array[] {
  if (cuts.length === 0) return [rows];
  const spanOf = (row: number): number => {
    const us = sightings.timeUs(row);
    let span = 0;
    while (span < cuts.length && us >= cuts[span]) span += 1;
    return span;
  };
  const lists = Array.from({ length: cuts.length + 1 }, (): number[] => []);
  for (const row of rows) lists[spanOf(row)].push(row);
  return lists.map((list) => Uint32Array.from(list));
}

/** The halves of one stream of requests, one for each connection that used its numbers. */
function cutStream(sightings: Sightings, stream: Stream, agreements: readonly Agreement[]): Half[] {
  const known = agreementsFor(stream, agreements);
  const agreedAt = known.map(({ agreement }) => agreement.fromUs - EARLY_US);
  // What was there before the first one is of another connection as well.
  const firstUs = sightings.timeUs(stream.rows[0]);
  const byCm = agreedAt.filter((us) => us > firstUs);
  const byPsn = psnCuts(sightings, stream).filter((us) => !agreedAt.some((at) => Math.abs(at - us) < PAUSE_US));
  // Connection managers know best: within what they agreed upon PSNs cut nothing.
  const cuts = merged(known.length > 0 ? byCm : byPsn);
  return spans(sightings, stream.rows, cuts).flatMap((requests, i): Half[] => {
    if (requests.length === 0) return [];
    const toUs = cuts[i] ?? Infinity;
    let [fromUs, lastUs] = [Infinity, -Infinity];
    for (const row of requests) {
      fromUs = Math.min(fromUs, sightings.timeUs(row));
      lastUs = Math.max(lastUs, sightings.timeUs(row));
    }
    const agreement = known.findLast(({ agreement: { fromUs: from } }) => from - EARLY_US <= fromUs);
    return [
      {
        requester: stream.source,
        responder: stream.destination,
        service: stream.service,
        qpn: stream.qpn,
        answersQpn: agreement?.answersQpn,
        requests,
        answers: new Uint32Array(0),
        damaged: [],
        over: agreement?.agreement.over,
        fromUs,
        lastUs,
        toUs,
        marked: 0,
      },
    ];
  });
}

/** Which PSNs were asked with: a bit for each. One at a time is in use. */
const askedPsns = new Uint8Array(PSNS >> 3);

/** How many of the answers of a stream, while a half lasts, name PSNs that it asked with. */
function fit(sightings: Sightings, half: Half, { rows }: Stream): number {
  const { table } = sightings;
  for (const row of half.requests) askedPsns[table.psn(row) >> 3] |= 1 << (table.psn(row) & 7);
  let found = 0;
  for (const row of rows) {
    const us = sightings.timeUs(row);
    const psn = table.psn(row);
    if (us >= half.fromUs - EARLY_US && us < half.toUs && (askedPsns[psn >> 3] & (1 << (psn & 7))) !== 0) found += 1;
  }
  for (const row of half.requests) askedPsns[table.psn(row) >> 3] = 0;
  return found;
}

const overlap = (a: Half, b: Half): boolean => a.fromUs <= b.lastUs && b.fromUs <= a.lastUs;

/**
 * Gives answers to those who asked. The numbers of the two queue pairs of a connection stand together in what connection
 * managers say, and in no other packet: without that, answers belong to whom they name PSNs of.
 */
function pair(sightings: Sightings, halves: readonly Half[], answers: readonly Stream[]): void {
  const claims = new Map<Stream, Half[]>();
  const goesWith = (half: Half, stream: Stream): boolean =>
    stream.source === half.responder && stream.destination === half.requester && stream.service === half.service;
  const isFree = (half: Half, stream: Stream): boolean =>
    !(claims.get(stream) ?? []).some((other) => overlap(half, other));
  const claim = (half: Half, stream: Stream): void => {
    claims.set(stream, [...(claims.get(stream) ?? []), half]);
    half.answersQpn = stream.qpn;
  };
  const agreed = halves.filter(({ answersQpn }) => answersQpn !== undefined);
  const open = new Set(halves.filter(({ answersQpn }) => answersQpn === undefined));
  for (const half of agreed) {
    const stream = answers.find((each) => goesWith(half, each) && each.qpn === half.answersQpn);
    if (stream !== undefined) claim(half, stream);
  }
  for (const half of open) {
    const ranked = answers
      .filter((stream) => goesWith(half, stream) && isFree(half, stream))
      .map((stream) => ({ stream, score: fit(sightings, half, stream) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score);
    if (ranked.length === 0) continue;
    claim(half, ranked[0].stream);
    open.delete(half);
  }
  // Where PSNs were not agreed upon, nothing fits; but then there may be only one that they can be for.
  for (const half of open) {
    const candidates = answers.filter((stream) => goesWith(half, stream) && isFree(half, stream));
    if (candidates.length === 1) claim(half, candidates[0]);
  }
  for (const [stream, claimants] of claims) {
    claimants.sort((a, b) => a.fromUs - b.fromUs);
    const parts = spans(
      sightings,
      stream.rows,
      claimants.slice(1).map(({ fromUs }) => fromUs - EARLY_US),
    );
    for (const [i, half] of claimants.entries()) half.answers = parts[i];
  }
}

/** Whether a damaged packet belongs to a half, by what stands in it. */
function isOf(sightings: Sightings, row: number, half: Half): boolean {
  const { table, flows } = sightings;
  const { requester, responder, qpn, answersQpn, toUs } = half;
  const [source, destination] = [sightings.source(row), sightings.destination(row)];
  if (sightings.timeUs(row) >= toUs) return false;
  const destQp = flows.qpn(table.flow(row));
  return isRequest(table, row)
    ? source === requester && destination === responder && destQp === qpn
    : source === responder && destination === requester && (answersQpn ?? destQp) === destQp;
}

function marks({ table }: Sightings, rows: Uint32Array): number {
  let n = 0;
  for (const row of rows) if (table.ecn(row) === Ecn.CE || (table.bits(row) & PacketBit.FECN) !== 0) n += 1;
  return n;
}

/** Every half of a connection, and every way of datagrams, in the order in which they began. */
export function halvesOf(sightings: Sightings): Half[] {
  const { requests, answers, damaged } = streamsOf(sightings);
  const agreements = agreementsOf(sightings);
  const halves = requests
    .flatMap((stream) => cutStream(sightings, stream, agreements))
    .sort((a, b) => a.requests[0] - b.requests[0]);
  pair(sightings, halves, answers);
  for (const row of damaged) halves.find((half) => isOf(sightings, row, half))?.damaged.push(row);
  for (const half of halves) half.marked = marks(sightings, half.requests) + marks(sightings, half.answers);
  return halves;
}
