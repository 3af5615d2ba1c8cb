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

/** An agreement as one end sees it, and by which number answers then name its requester's queue pair. */
interface Known {
  readonly agreement: Agreement;
  readonly answersQpn: number;
}

const nameOf = (source: string, destination: string, qpn: number): string => `${source} ${destination} ${qpn}`;

/** Adds to a list by name. */
function put<T>(lists: Map<string, T[]>, name: string, one: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [one]);
  else list.push(one);
}

/** Agreements by requester, responder and the responder's queue pair. */
function agreementsByEnd(agreements: readonly Agreement[]): Map<string, Known[]> {
  const known = new Map<string, Known[]>();
  for (const agreement of agreements)
    for (const [i, end] of agreement.ends.entries()) {
      const other = agreement.ends[1 - i];
      put(known, nameOf(other.address, end.address, end.qpn), { agreement, answersQpn: other.qpn });
    }
  return known;
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
function cutStream(sightings: Sightings, stream: Stream, known: readonly Known[]): Half[] {
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

/** PSNs are looked up by their upper bits. */
const BUCKET_BITS = 12;
/** Answers of a stream by which its half is looked for. */
const SAMPLES = 16;

/** Halves by the PSNs that they asked with: of 10,000 queue pairs only a few can be those that an answer is for. */
class PsnIndex {
  readonly #halves = new Map<string, Set<Half>>();

  constructor(
    private readonly sightings: Sightings,
    halves: Iterable<Half>,
  ) {
    for (const half of halves) {
      const buckets = new Set<number>();
      for (const row of half.requests) buckets.add(sightings.table.psn(row) >> BUCKET_BITS);
      for (const bucket of buckets) {
        const name = PsnIndex.#nameOf(half.responder, half.requester, half.service, bucket);
        const known = this.#halves.get(name);
        if (known === undefined) this.#halves.set(name, new Set([half]));
        else known.add(half);
      }
    }
  }

  /** Those that a stream of answers may be for. */
  candidates({ source, destination, service, rows }: Stream): Set<Half> {
    const step = Math.max(1, Math.floor(rows.length / SAMPLES));
    const found = new Set<Half>();
    for (let i = 0; i < rows.length; i += step) {
      const bucket = this.sightings.table.psn(rows[i]) >> BUCKET_BITS;
      const halves = this.#halves.get(PsnIndex.#nameOf(source, destination, service, bucket)) ?? [];
      for (const half of halves) found.add(half);
    }
    return found;
  }

  static #nameOf(source: string, destination: string, service: string, bucket: number): string {
    return `${source} ${destination} ${service} ${bucket}`;
  }
}

/**
 * Gives answers to those who asked. The numbers of the two queue pairs of a connection stand together in what connection
 * managers say, and in no other packet: without that, answers belong to whom they name PSNs of.
 */
function pair(sightings: Sightings, halves: readonly Half[], answers: readonly Stream[]): void {
  const claims = new Map<Stream, Half[]>();
  const streams = new Map<string, Stream[]>();
  for (const stream of answers) put(streams, `${stream.source} ${stream.destination} ${stream.service}`, stream);
  const streamsFor = ({ responder, requester, service }: Half): readonly Stream[] =>
    streams.get(`${responder} ${requester} ${service}`) ?? [];
  const isFree = (half: Half, stream: Stream): boolean =>
    !(claims.get(stream) ?? []).some((other) => overlap(half, other));
  const claim = (half: Half, stream: Stream): void => {
    const list = claims.get(stream);
    if (list === undefined) claims.set(stream, [half]);
    else list.push(half);
    half.answersQpn = stream.qpn;
  };
  const open = new Set(halves.filter(({ answersQpn }) => answersQpn === undefined));
  const byQpn = new Map(
    answers.map((stream) => [`${nameOf(stream.source, stream.destination, stream.qpn)} ${stream.service}`, stream]),
  );
  for (const half of halves) {
    if (half.answersQpn === undefined) continue;
    const stream = byQpn.get(`${nameOf(half.responder, half.requester, half.answersQpn)} ${half.service}`);
    if (stream !== undefined) claim(half, stream);
  }
  const index = new PsnIndex(sightings, open);
  const scores = new Map<Half, { readonly stream: Stream; readonly score: number }[]>();
  for (const stream of answers)
    for (const half of index.candidates(stream)) {
      const score = fit(sightings, half, stream);
      if (score > 0) scores.set(half, [...(scores.get(half) ?? []), { stream, score }]);
    }
  for (const half of open) {
    const ranked = (scores.get(half) ?? [])
      .filter(({ stream }) => isFree(half, stream))
      .sort((a, b) => b.score - a.score);
    if (ranked.length === 0) continue;
    claim(half, ranked[0].stream);
    open.delete(half);
  }
  // Where PSNs were not agreed upon, nothing fits; but then there may be only one that they can be for.
  for (const half of open) {
    const candidates = streamsFor(half).filter((stream) => isFree(half, stream));
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

/** Gives damaged packets to the halves that they belong to, by what stands in them. */
function assignDamaged(sightings: Sightings, halves: readonly Half[], damaged: readonly number[]): void {
  if (damaged.length === 0) return;
  const { table, flows } = sightings;
  const byRequests = new Map<string, Half[]>();
  const byAnswers = new Map<string, Half[]>();
  for (const half of halves) {
    put(byRequests, nameOf(half.requester, half.responder, half.qpn), half);
    put(byAnswers, nameOf(half.responder, half.requester, half.answersQpn ?? -1), half);
  }
  for (const row of damaged) {
    const flow = table.flow(row);
    const us = sightings.timeUs(row);
    const name = (qpn: number): string => nameOf(flows.source(flow), flows.destination(flow), qpn);
    const known = isRequest(table, row)
      ? byRequests.get(name(flows.qpn(flow)))
      : (byAnswers.get(name(flows.qpn(flow))) ?? byAnswers.get(name(-1)));
    known?.find(({ toUs }) => us < toUs)?.damaged.push(row);
  }
}

function marks({ table }: Sightings, rows: Uint32Array): number {
  let n = 0;
  for (const row of rows) if (table.ecn(row) === Ecn.CE || (table.bits(row) & PacketBit.FECN) !== 0) n += 1;
  return n;
}

/** Every half of a connection, and every way of datagrams, in the order in which they began. */
export function halvesOf(sightings: Sightings): Half[] {
  const { requests, answers, damaged } = streamsOf(sightings);
  const known = agreementsByEnd(agreementsOf(sightings));
  const halves = requests
    .flatMap((stream) =>
      cutStream(sightings, stream, known.get(nameOf(stream.source, stream.destination, stream.qpn)) ?? []),
    )
    .sort((a, b) => a.requests[0] - b.requests[0]);
  pair(sightings, halves, answers);
  assignDamaged(sightings, halves, damaged);
  for (const half of halves) half.marked = marks(sightings, half.requests) + marks(sightings, half.answers);
  return halves;
}
