import { QpType, RejectReason } from '../../../../device/ibta/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Actor } from './actor.js';
import { Client } from './client.js';
import type { CmRun } from './run.js';
import type { Server } from './server.js';

/** What a client has to do with: the one server that its request came to, if it came to any. */
interface Story {
  readonly run: CmRun;
  readonly client: Client;
  readonly server: Server | undefined;
}

type Reason = (story: Story) => boolean;
/** Why an event may have come, by its name and status. */
type Reasons = Readonly<Partial<Record<string, Reason>>>;

const isGone = (actor: Actor | undefined): boolean => actor?.state === 'destroyed';
const confirms = ({ client }: Story, ...ways: readonly Client['plan']['confirm'][]): boolean =>
  client.plan.external && ways.includes(client.plan.confirm);
const listenerOf = ({ run, client: { plan } }: Story) =>
  run.plan.listeners.find(
    ({ host, space, port }) => host === plan.target && space === plan.space && port === plan.port,
  );

/** Nobody was there to answer, at least for a time. */
const nobodyListened: Reason = (story) => {
  const listener = listenerOf(story);
  return listener === undefined || listener.fromUs > 0 || listener.untilUs < Infinity;
};
/** Questions for datagram queue pairs, and partings, cannot be told to be patient. */
const IMPATIENT_US = 60e6;
const neverAnswered: Reason = ({ client, server }) =>
  client.plan.target === 'nowhere' ||
  server?.plan.answer === 'never' ||
  (client.space === 'UDP' && server !== undefined && server.plan.afterUs > IMPATIENT_US);
const isSlowToPart = ({ plan: { end } }: Actor): boolean => end.answer === 'ignore' || end.answerAfterUs > IMPATIENT_US;
/** More than any way there and back in calm. */
const CROSSING_US = 50_000;
/** Refused by whoever was asked, in one way or another. */
const refused: Reason = ({ server }) =>
  server !== undefined && (server.plan.answer === 'reject' || server.plan.partsAtOnce || isGone(server));

/** Where nothing is lost, only the programs themselves can be why a conversation does not come to what was asked for. */
const clientReasons: Reasons = {
  'UNREACHABLE -110': neverAnswered,
  'UNREACHABLE 1': nobodyListened,
  'UNREACHABLE 2': refused,
  [`REJECTED ${RejectReason.TIMEOUT}`]: (story) => confirms(story, 'never'),
  [`REJECTED ${RejectReason.INVALID_SERVICE_ID}`]: nobodyListened,
  [`REJECTED ${RejectReason.CONSUMER_DEFINED}`]: refused,
  'DISCONNECTED -110': ({ server }) => server !== undefined && isSlowToPart(server),
};

const serverReasons: Reasons = {
  'UNREACHABLE -110': (story) => confirms(story, 'never'),
  [`REJECTED ${RejectReason.TIMEOUT}`]: ({ client }) => isGone(client) || client.history.includes('UNREACHABLE -110'),
  [`REJECTED ${RejectReason.CONSUMER_DEFINED}`]: (story) =>
    isGone(story.client) || confirms(story, 'reject', 'disconnect'),
  'DISCONNECTED -110': ({ client }) => isSlowToPart(client),
};

/** Events that need no excuse. */
const GOOD: ReadonlySet<string> = new Set([
  'ADDR_RESOLVED',
  'ROUTE_RESOLVED',
  'CONNECT_RESPONSE',
  'ESTABLISHED',
  'DISCONNECTED',
  'TIMEWAIT_EXIT',
]);

function checkHistory(actor: Actor, reasons: Reasons, story: Story): void {
  for (const event of actor.history)
    check(GOOD.has(event) || reasons[event]?.(story) === true, () => {
      const other = actor === story.client ? story.server : story.client;
      return `${actor.toString()}: why ${event}? The other side is ${String(other)}`;
    });
}

/** Where nothing is lost, both sides agree on what has become of a connection, and each message has arrived. */
function checkPair(actor: Actor, other: Actor | undefined): void {
  if (actor.state !== 'up' || actor.qp?.qpType !== QpType.RC) return;
  check(
    other?.state === 'up' && other.peerQpn === actor.qp.qpNum,
    () => `${actor.toString()} is up, but not ${String(other)}`,
  );
  const { received, failures } = actor.traffic ?? { received: [], failures: [] };
  check(failures.length === 0, () => `requests of ${actor.toString()} failed: ${failures.join(', ')}`);
  check(
    received.length === other.plan.messages && received.every(({ sender }) => sender === other.number),
    () => `${actor.toString()} got ${received.length} of ${other.plan.messages} messages of ${other.toString()}`,
  );
}

/** Datagrams arrive as well, as long as there is a queue pair for them. */
function checkDatagrams(client: Client, server: Server | undefined): void {
  if (!client.wasUp || server?.state !== 'over' || isGone(client)) return;
  const came = server.traffic?.received.filter(({ sender }) => sender === client.number).length;
  check(
    came === client.plan.messages && client.traffic?.failures.length === 0,
    () => `${server.toString()} got ${came ?? 0} of ${client.plan.messages} datagrams of ${client.toString()}`,
  );
}

/** A request is taken for another only when it was repeated while its refusal was on its way. */
function checkCrossing(story: Story, again: Server): void {
  const { client, server } = story;
  const sinceUs = again.askedUs - (server?.answeredUs ?? Infinity);
  check(
    refused(story) && sinceUs >= 0 && sinceUs <= CROSSING_US && !again.wasUp,
    () => `${client.toString()} was taken for another by ${again.toString()}`,
  );
}

/** What must hold of the conversations of a run in which nothing is lost or late. */
export function checkCalm(run: CmRun): void {
  for (const client of run.actors) {
    if (!(client instanceof Client)) continue;
    const [server, ...again] = run.serversOf(client) as readonly [Server | undefined, ...Server[]]; // there may be none
    const story = { run, client, server };
    for (const other of again) checkCrossing(story, other);
    checkHistory(client, clientReasons, story);
    if (server !== undefined) checkHistory(server, serverReasons, story);
    if (client.space === 'UDP') checkDatagrams(client, server);
    checkPair(client, server);
    if (server !== undefined) checkPair(server, client);
  }
}
