/** Connections that connection managers asked for and did not get: what was said, and why it came to nothing. */
import { CmAttribute, type CmMessage, Direction } from '../../../device/wire/index.js';
import { formatMicroseconds, RejectReason, rejectReasonStr } from '../../../entry/index.js';
import { formatService } from '../../dump/cm-names.js';
import { type CmSighting, isCm, type Sightings } from '../captures/sightings.js';
import { count } from '../numbers.js';
import { Cause, type Verdict } from './cause.js';

export interface Conversation {
  readonly requester: string;
  readonly responder: string;
  /** `TCP:7174`. */
  readonly service: string;
  /** Why there is no connection, or that it ended without an answer; undefined where all went well. */
  readonly verdict: Verdict | undefined;
}

type Said = readonly CmSighting[];

interface Parties {
  readonly sightings: Sightings;
  readonly traffic: Traffic;
  readonly requester: string;
  readonly responder: string;
  /** What was said about this connection, by either. */
  readonly said: Said;
}

/** What was seen of packets between hosts. */
class Traffic {
  /** When the last packet was seen, by source and destination. */
  readonly #lastUs = new Map<string, number>();
  /** Queue pairs that packets came to, with source and destination. */
  readonly #cameTo = new Set<string>();

  constructor(sightings: Sightings) {
    const { table, flows } = sightings;
    const lastRow: (number | undefined)[] = [];
    const came: boolean[] = [];
    for (const row of sightings.rows()) {
      const flow = table.flow(row);
      const last = lastRow[flow];
      if (last === undefined || table.timeNs(row) > table.timeNs(last)) lastRow[flow] = row;
      came[flow] ||= table.direction(row) !== Direction.OUT;
    }
    for (const [flow, row] of lastRow.entries()) {
      if (row === undefined) continue;
      const ends = `${flows.source(flow)} ${flows.destination(flow)}`;
      this.#lastUs.set(ends, Math.max(this.#lastUs.get(ends) ?? 0, sightings.timeUs(row)));
      if (came[flow]) this.#cameTo.add(`${ends} ${flows.qpn(flow)}`);
    }
  }

  lastUs(source: string, destination: string): number | undefined {
    return this.#lastUs.get(`${source} ${destination}`);
  }

  hasCome(source: string, destination: string, qpn: number): boolean {
    return this.#cameTo.has(`${source} ${destination} ${qpn}`);
  }
}

/** The messages of one side: as sent, or where that was not captured, as received. */
function sent<A extends CmAttribute>({ sightings, said }: Parties, who: string, attribute: A) {
  return said.filter(
    (message): message is CmSighting<Extract<CmMessage, { readonly attribute: A }>> =>
      isCm(message, attribute) &&
      message.source === who &&
      (message.direction !== Direction.IN || !sightings.isVantage(who)),
  );
}

/** Whether it is known that nothing of that kind came to the other. */
function noneCame({ sightings, said }: Parties, to: string, attribute: CmAttribute): boolean {
  const came = said.some(
    ({ cm, destination, direction }) => cm.attribute === attribute && destination === to && direction !== Direction.OUT,
  );
  return sightings.isVantage(to) && !came;
}

function tries(messages: Said): string {
  const times = count(messages.length, 'time');
  if (messages.length < 2) return times;
  return `${times} in ${formatMicroseconds(messages[messages.length - 1].timeUs - messages[0].timeUs)}`;
}

/** A sentence, and what it is based on. */
interface Finding {
  readonly text: string;
  readonly evidence: string;
}

const RejectReasonName = new Map<number, string>(
  Object.entries(RejectReason).map(([name, code]) => [code, name.toLowerCase().replaceAll('_', ' ')]),
);

/** A refusal has a reason; but a side that has accepted, or waited in vain, gives up by the same message. */
function refusal(parties: Parties): Finding | undefined {
  for (const message of parties.said) {
    if (!isCm(message, CmAttribute.REJ) || message.cm.reason === RejectReason.TIMEOUT) continue;
    const { source, cm } = message;
    const because = rejectReasonStr(cm.reason);
    if (source === parties.requester)
      return { text: 'the requester took its request back (REJ)', evidence: `${source} took it back: ${because}` };
    if (sent(parties, source, CmAttribute.REP).length === 0)
      return {
        text: `the peer refused (REJ): ${RejectReasonName.get(cm.reason) ?? `reason ${cm.reason}`}`,
        evidence: `${source} refused: ${because}`,
      };
  }
  return undefined;
}

/** Why it goes no further than a request. */
function unanswered(parties: Parties): Finding {
  const { sightings, requester, responder } = parties;
  const asked = `the REQ was sent ${tries(sent(parties, requester, CmAttribute.REQ))}`;
  if (noneCame(parties, responder, CmAttribute.REQ))
    return {
      text: 'the REQ never arrived: it is lost on the way there, or nobody is there',
      evidence: `${asked}, and never arrived at ${responder}: it is lost on the way there, or nobody is there`,
    };
  if (sent(parties, responder, CmAttribute.MRA).length > 0)
    return {
      text: 'the peer asked for time (MRA), and its program neither accepted nor rejected',
      evidence: `${asked}; ${responder} asked for time (MRA), and then its program neither accepted nor rejected`,
    };
  if (sightings.isVantage(responder))
    return {
      text: 'the REQ arrived, and the peer answered nothing: its program neither accepted nor rejected',
      evidence: `${asked} and arrived, and ${responder} answered nothing: its program neither accepted nor rejected, or stood still`,
    };
  return {
    text: 'the REQ was not answered: nobody is there, or the way there or back is cut',
    evidence: `${asked}, and nothing came back: nobody is there, or the way there or back is cut; a capture at ${responder} would tell`,
  };
}

/** Why an acceptance did not come to be a connection. */
function incomplete(parties: Parties): Finding | undefined {
  const { requester, responder, traffic } = parties;
  const reps = sent(parties, responder, CmAttribute.REP);
  const confirmed = sent(parties, requester, CmAttribute.RTU).length > 0;
  if (confirmed && !noneCame(parties, responder, CmAttribute.RTU)) return undefined;
  // The first packet of data says as much as an RTU.
  if (reps.some(({ cm }) => traffic.hasCome(requester, responder, cm.localQpn))) return undefined;
  const accepted = `${responder} accepted (REP, ${tries(reps)})`;
  if (confirmed)
    return {
      text: 'the RTU never arrived: the requester has a connection, and the peer has none',
      evidence: `${accepted}, and the RTU of ${requester} never arrived: that side has a connection, and ${responder} has none`,
    };
  return noneCame(parties, requester, CmAttribute.REP)
    ? {
        text: 'the peer accepted, and its REP never arrived: answers are lost on the way back',
        evidence: `${accepted}, and that never arrived at ${requester}: answers are lost on the way back`,
      }
    : {
        text: 'the peer accepted, and the requester never confirmed it (RTU)',
        evidence: `${accepted}, and ${requester} never confirmed it (RTU): its program gave up or died, or the RTU is lost`,
      };
}

/** DREQs after which one may say that there was no answer, and not only that there was none yet. */
const TRIED = 3;

/** Of a connection that there was: whether a side asked for its end, and the other was no longer there. */
function silence(parties: Parties): Verdict | undefined {
  const { traffic, requester, responder } = parties;
  for (const [by, other] of [
    [requester, responder],
    [responder, requester],
  ]) {
    const dreqs = sent(parties, by, CmAttribute.DREQ);
    const isAnswered = [CmAttribute.DREP, CmAttribute.DREQ].some((kind) => sent(parties, other, kind).length > 0);
    if (dreqs.length === 0 || isAnswered) continue;
    const isLost = noneCame(parties, other, CmAttribute.DREQ);
    if (!isLost && dreqs.length < TRIED) continue;
    const last = traffic.lastUs(other, by) ?? 0;
    const asked = `the DREQ of ${by} at ${secondsText(dreqs[0].timeUs)} was sent ${tries(dreqs)} and never answered`;
    const where = isLost ? `, and did not arrive at ${other}` : '';
    return {
      cause: Cause.FELL_SILENT,
      text: `the connection was made, and a peer was silent from ${secondsText(last)} on: the DREQ was never answered`,
      evidence: [
        `the connection was made, and ${other} was silent from ${secondsText(last)} on: ${asked}${where}; its program was killed, its host stopped, or the way there was cut`,
      ],
    };
  }
  return undefined;
}

const secondsText = (us: number): string => `${(us / 1e6).toFixed(3)} s`;

/** Messages of the requester that answer a REP. */
const AFTER_REP = [CmAttribute.RTU, CmAttribute.DREQ, CmAttribute.DREP] as const;

function verdictOf(parties: Parties): Verdict | undefined {
  const { requester, responder, traffic } = parties;
  const refused = refusal(parties);
  if (refused !== undefined) return { cause: Cause.NOT_CONNECTED, text: refused.text, evidence: [refused.evidence] };
  const isAccepted = sent(parties, responder, CmAttribute.REP).length > 0;
  if (!isAccepted && AFTER_REP.some((attribute) => sent(parties, requester, attribute).length > 0))
    // The REP came, though the capture lacks it, perhaps with all else of that direction.
    return traffic.lastUs(responder, requester) === undefined ? undefined : silence(parties);
  const found = isAccepted ? incomplete(parties) : unanswered(parties);
  if (found === undefined) return silence(parties);
  const over =
    parties.said.some((message) => isCm(message, CmAttribute.REJ)) ||
    sent(parties, requester, CmAttribute.REQ).length > 1;
  return { cause: over ? Cause.NOT_CONNECTED : Cause.UNFINISHED, text: found.text, evidence: [found.evidence] };
}

/** Messages by the connection that they are about: who asked for it, whom, and by which number it goes with the former. */
function byConnection(messages: Said): Map<string, CmSighting[]> {
  const all = new Map<string, CmSighting[]>();
  const put = (message: CmSighting, requester: string, responder: string, commId: number): void => {
    const name = `${requester} ${responder} ${commId}`;
    const known = all.get(name);
    if (known === undefined) all.set(name, [message]);
    else known.push(message);
  };
  for (const message of messages) {
    const { cm, source, destination } = message;
    // Which of the two it comes from shows by who sent the REQ.
    if ('localCommId' in cm) put(message, source, destination, cm.localCommId);
    if ('remoteCommId' in cm) put(message, destination, source, cm.remoteCommId);
  }
  return all;
}

/** Every connection that was asked for, in the order in which they were. */
export function conversationsOf(sightings: Sightings): Conversation[] {
  if (sightings.cms.length === 0) return [];
  const traffic = new Traffic(sightings);
  const conversations: Conversation[] = [];
  for (const said of byConnection(sightings.cms).values()) {
    const req = said.find((message) => isCm(message, CmAttribute.REQ));
    if (req === undefined || !isCm(req, CmAttribute.REQ)) continue;
    const { source: requester, destination: responder, cm } = req;
    const verdict = verdictOf({ sightings, traffic, requester, responder, said });
    conversations.push({ requester, responder, service: formatService(cm.serviceId), verdict });
  }
  return conversations;
}
