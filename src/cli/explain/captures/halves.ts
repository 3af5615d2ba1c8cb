/** Which host requested what of which, over which queue pairs. */
import { OpcodeBit, opcodeBits, OpcodeService } from '../../../device/wire/index.js';
import type { Agreement } from './agreements.js';
import { psnOf, type Sighting } from './sighting.js';

/** The requests that one queue pair sends to another, and what comes back. A connection has two of these at most. */
export interface Half {
  readonly requester: string;
  readonly responder: string;
  readonly service: string;
  /** The responder's queue pair, as the requests name it. */
  readonly qpn: number;
  answersQpn: number | undefined;
  readonly requests: Sighting[];
  answers: Sighting[];
  /** Packets that came damaged, and were this half's as far as what stands in them can be believed. */
  readonly damaged: Sighting[];
  /** Who ended the connection, where connection managers said so. */
  over: Agreement['over'];
}

const SERVICES: Readonly<Partial<Record<number, string>>> = {
  [OpcodeService.RC]: 'RC',
  [OpcodeService.UC]: 'UC',
  [OpcodeService.UD]: 'UD',
  [OpcodeService.XRC]: 'XRC',
};

const isRequest = ({ packet }: Sighting): boolean => (opcodeBits[packet.bth.opcode] & OpcodeBit.REQUEST) !== 0;
const GSI_QPN = 1;

function nameOf({ source, destination, packet }: Sighting): string {
  return `${source} ${destination} ${packet.bth.destQp} ${packet.bth.opcode >>> 5}`;
}

/** Puts packets of the same sender, receiver, queue pair and service together. */
function streams(sightings: readonly Sighting[]): Map<string, Sighting[]> {
  const all = new Map<string, Sighting[]>();
  for (const sighting of sightings) {
    const name = nameOf(sighting);
    const stream = all.get(name);
    if (stream === undefined) all.set(name, [sighting]);
    else stream.push(sighting);
  }
  return all;
}

/** How many of the answers name PSNs that were asked with. */
function fit(half: Half, answers: readonly Sighting[]): number {
  const asked = new Set(half.requests.map(psnOf));
  return answers.filter((answer) => asked.has(psnOf(answer))).length;
}

/** Which agreement a half is under, and by which number answers then name its requester's queue pair. */
function agreed(
  { requester, responder, qpn }: Half,
  agreements: readonly Agreement[],
): { agreement: Agreement; answersQpn: number } | undefined {
  for (const agreement of agreements)
    for (const [i, end] of agreement.ends.entries()) {
      const other = agreement.ends[1 - i];
      if (end.address === responder && end.qpn === qpn && other.address === requester)
        return { agreement, answersQpn: other.qpn };
    }
  return undefined;
}

/**
 * Gives answers to those who asked. The numbers of the two queue pairs of a connection stand together in what connection
 * managers say, and in no other packet: without that, answers belong to whom they name PSNs of.
 */
function pair(halves: readonly Half[], answerStreams: readonly Sighting[][], agreements: readonly Agreement[]): void {
  const left = new Set(answerStreams);
  const goesWith = (half: Half, [answer]: readonly Sighting[]): boolean =>
    answer.source === half.responder &&
    answer.destination === half.requester &&
    SERVICES[answer.packet.bth.opcode >>> 5] === half.service;
  const join = (half: Half, answers: Sighting[]): void => {
    half.answers = answers;
    half.answersQpn = answers[0].packet.bth.destQp;
    left.delete(answers);
  };
  for (const half of halves) {
    const known = agreed(half, agreements);
    if (known === undefined) continue;
    half.over = known.agreement.over;
    half.answersQpn = known.answersQpn;
    const answers = [...left].find((each) => goesWith(half, each) && each[0].packet.bth.destQp === known.answersQpn);
    if (answers !== undefined) join(half, answers);
  }
  for (const half of halves) {
    if (half.answersQpn !== undefined) continue;
    const ranked = [...left]
      .filter((answers) => goesWith(half, answers))
      .map((answers) => ({ answers, score: fit(half, answers) }))
      .sort((a, b) => b.score - a.score);
    if (ranked.length > 0 && ranked[0].score > 0) join(half, ranked[0].answers);
  }
  // Where PSNs were not agreed upon, nothing fits; but then there may be only one that they can be for.
  for (const half of halves) {
    if (half.answersQpn !== undefined) continue;
    const candidates = [...left].filter((answers) => goesWith(half, answers));
    if (candidates.length === 1) join(half, candidates[0]);
  }
}

/** Whether a packet belongs to a half, by what stands in it. */
function isOf(sighting: Sighting, { requester, responder, qpn, answersQpn }: Half): boolean {
  const { source, destination, packet } = sighting;
  return isRequest(sighting)
    ? source === requester && destination === responder && packet.bth.destQp === qpn
    : source === responder && destination === requester && (answersQpn ?? packet.bth.destQp) === packet.bth.destQp;
}

/** Every half of a connection, and every way of datagrams, in the order in which they began. */
export function halvesOf(sightings: readonly Sighting[], agreements: readonly Agreement[]): Half[] {
  const data = sightings.filter(
    ({ packet }) => SERVICES[packet.bth.opcode >>> 5] !== undefined && packet.bth.destQp !== GSI_QPN,
  );
  const whole = data.filter(({ damaged }) => !damaged);
  const halves = [...streams(whole.filter(isRequest)).values()].map((requests): Half => {
    const { source, destination, packet } = requests[0];
    return {
      requester: source,
      responder: destination,
      service: SERVICES[packet.bth.opcode >>> 5] ?? '',
      qpn: packet.bth.destQp,
      answersQpn: undefined,
      requests,
      answers: [],
      damaged: [],
      over: undefined,
    };
  });
  pair(halves, [...streams(whole.filter((sighting) => !isRequest(sighting))).values()], agreements);
  for (const sighting of data)
    if (sighting.damaged) halves.find((half) => isOf(sighting, half))?.damaged.push(sighting);
  return halves;
}
