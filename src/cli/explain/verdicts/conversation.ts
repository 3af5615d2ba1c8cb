/** Connections that connection managers asked for and did not get: what was said, and why it came to nothing. */
import { CmAttribute, type CmMessage } from '../../../device/wire/index.js';
import { formatMicroseconds, RejectReason, rejectReasonStr } from '../../../entry/index.js';
import { formatService } from '../../dump/cm-names.js';
import { Cause, type Verdict } from './cause.js';
import type { Sightings } from '../captures/sightings.js';
import type { Sighting } from '../captures/sighting.js';
import { count } from '../requests/words.js';

export interface Conversation {
  readonly requester: string;
  readonly responder: string;
  /** `TCP:7174`. */
  readonly service: string;
  /** Why there is no connection, or that it ended without an answer; undefined where all went well. */
  readonly verdict: Verdict | undefined;
}

type Said<M extends CmMessage> = Sighting & { readonly cm: M };

interface Parties {
  readonly sightings: Sightings;
  readonly requester: string;
  readonly responder: string;
  /** What was said about this connection, by either. */
  readonly said: readonly Said<CmMessage>[];
}

const isCm = (sighting: Sighting): sighting is Said<CmMessage> => sighting.cm !== undefined && !sighting.damaged;

/** The messages of one side: as sent, or where that was not captured, as received. */
function sent({ sightings, said }: Parties, who: string, attribute: CmAttribute): Said<CmMessage>[] {
  return said.filter(
    ({ cm, source, direction }) =>
      cm.attribute === attribute && source === who && (direction !== 'in' || !sightings.isVantage(who)),
  );
}

/** Whether it is known that nothing of that kind came to the other. */
function noneCame({ sightings, said }: Parties, to: string, attribute: CmAttribute): boolean {
  const came = said.some(
    ({ cm, destination, direction }) => cm.attribute === attribute && destination === to && direction !== 'out',
  );
  return sightings.isVantage(to) && !came;
}

function tries(messages: readonly Sighting[]): string {
  const times = count(messages.length, 'time');
  if (messages.length < 2) return times;
  return `${times} in ${formatMicroseconds(messages[messages.length - 1].timeUs - messages[0].timeUs)}`;
}

/** A refusal has a reason; but a side that has accepted, or waited in vain, gives up by the same message. */
function refusal(parties: Parties): string | undefined {
  for (const { cm, source } of parties.said) {
    if (cm.attribute !== CmAttribute.REJ || cm.reason === RejectReason.TIMEOUT) continue;
    const because = rejectReasonStr(cm.reason);
    if (source === parties.requester) return `${source} took it back: ${because}`;
    if (sent(parties, source, CmAttribute.REP).length === 0) return `${source} refused: ${because}`;
  }
  return undefined;
}

/** Why it goes no further than a request. */
function unanswered(parties: Parties): string {
  const { sightings, requester, responder } = parties;
  const asked = `the REQ was sent ${tries(sent(parties, requester, CmAttribute.REQ))}`;
  if (noneCame(parties, responder, CmAttribute.REQ))
    return `${asked}, and never arrived at ${responder}: it is lost on the way there, or nobody is there`;
  if (sent(parties, responder, CmAttribute.MRA).length > 0)
    return `${asked}; ${responder} asked for time (MRA), and then its program neither accepted nor rejected`;
  if (sightings.isVantage(responder))
    return `${asked} and arrived, and ${responder} answered nothing: its program neither accepted nor rejected, or stood still`;
  return `${asked}, and nothing came back: nobody is there, or the way there or back is cut; a capture at ${responder} would tell`;
}

/** Why an acceptance did not come to be a connection. */
function incomplete(parties: Parties): string | undefined {
  const { sightings, requester, responder } = parties;
  const reps = sent(parties, responder, CmAttribute.REP);
  const confirmed = sent(parties, requester, CmAttribute.RTU).length > 0;
  if (confirmed && !noneCame(parties, responder, CmAttribute.RTU)) return undefined;
  // The first packet of data says as much as an RTU.
  const qpns = new Set(reps.map(({ cm }) => (cm.attribute === CmAttribute.REP ? cm.localQpn : 0)));
  const data = sightings.all.some(
    ({ source, destination, packet, direction }) =>
      source === requester && destination === responder && qpns.has(packet.bth.destQp) && direction !== 'out',
  );
  if (data) return undefined;
  const accepted = `${responder} accepted (REP, ${tries(reps)})`;
  if (confirmed)
    return `${accepted}, and the RTU of ${requester} never arrived: that side has a connection, and ${responder} has none`;
  return noneCame(parties, requester, CmAttribute.REP)
    ? `${accepted}, and that never arrived at ${requester}: answers are lost on the way back`
    : `${accepted}, and ${requester} never confirmed it (RTU): its program gave up or died, or the RTU is lost`;
}

/** DREQs after which one may say that there was no answer, and not only that there was none yet. */
const TRIED = 3;

/** Of a connection that there was: whether a side asked for its end, and the other was no longer there. */
function silence(parties: Parties): Verdict | undefined {
  const { sightings, requester, responder } = parties;
  for (const [by, other] of [
    [requester, responder],
    [responder, requester],
  ]) {
    const dreqs = sent(parties, by, CmAttribute.DREQ);
    const isAnswered = [CmAttribute.DREP, CmAttribute.DREQ].some((kind) => sent(parties, other, kind).length > 0);
    if (dreqs.length === 0 || isAnswered) continue;
    const isLost = noneCame(parties, other, CmAttribute.DREQ);
    if (!isLost && dreqs.length < TRIED) continue;
    const last = sightings.all.reduce(
      (us, { source, destination, timeUs }) => (source === other && destination === by ? Math.max(us, timeUs) : us),
      0,
    );
    const asked = `the DREQ of ${by} at ${secondsText(dreqs[0].timeUs)} was sent ${tries(dreqs)} and never answered`;
    const where = isLost ? `, and did not arrive at ${other}` : '';
    return {
      cause: Cause.FELL_SILENT,
      text: `the connection was made, and ${other} was silent from ${secondsText(last)} on: ${asked}${where}; its program was killed, its host stopped, or the way there was cut`,
    };
  }
  return undefined;
}

const secondsText = (us: number): string => `${(us / 1e6).toFixed(3)} s`;

function verdictOf(parties: Parties): Verdict | undefined {
  const refused = refusal(parties);
  if (refused !== undefined) return { cause: Cause.NOT_CONNECTED, text: refused };
  const answered = sent(parties, parties.responder, CmAttribute.REP).length > 0;
  const text = answered ? incomplete(parties) : unanswered(parties);
  if (text === undefined) return silence(parties);
  const over =
    parties.said.some(({ cm }) => cm.attribute === CmAttribute.REJ) ||
    sent(parties, parties.requester, CmAttribute.REQ).length > 1;
  return { cause: over ? Cause.NOT_CONNECTED : Cause.UNFINISHED, text };
}

/** Messages by the connection that they are about: who asked for it, whom, and by which number it goes with the former. */
function byConnection(messages: readonly Said<CmMessage>[]): Map<string, Said<CmMessage>[]> {
  const all = new Map<string, Said<CmMessage>[]>();
  const put = (message: Said<CmMessage>, requester: string, responder: string, commId: number): void => {
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
  const conversations: Conversation[] = [];
  for (const said of byConnection(sightings.all.filter(isCm)).values()) {
    const req = said.find(({ cm }) => cm.attribute === CmAttribute.REQ);
    if (req?.cm.attribute !== CmAttribute.REQ) continue;
    const { source: requester, destination: responder, cm } = req;
    const verdict = verdictOf({ sightings, requester, responder, said });
    conversations.push({ requester, responder, service: formatService(cm.serviceId), verdict });
  }
  return conversations;
}
