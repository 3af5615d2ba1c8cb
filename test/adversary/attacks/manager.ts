import { gidFromIp, nodeGuid } from '../../../src/device/ibta/index.js';
import { type CmMessage, serviceId } from '../../../src/device/wire/index.js';
import { PortSpace, RejectReason } from '../../../src/entry/index.js';
import {
  dreq,
  guidInfo,
  mra,
  rej,
  rep,
  req,
  rtu,
  sidrRep,
  sidrReq,
} from '../../../src/device/cm/test/support/messages.js';
import type { Goal } from '../judge.js';
import type { Knowledge } from '../knowledge.js';
import { ADVERSARY, FRIEND, PORT, SILENT, SLOW, UDP_PORT, VICTIM } from '../addresses.js';
import type { Testbed } from '../testbed.js';
import type { Attack } from './attack.js';

/** So seldom that 24 bits are enough. */
const SELDOM = 0.05;
const FLOOD = 10;

const row = (name: string, goal: Goal, fire: Attack['fire'], weight = 0.5): Attack => ({
  name,
  knower: 'stranger',
  goal,
  fire,
  weight,
});

/** A message that claims to come from somebody. */
const as =
  (who: string, message: (testbed: Testbed, knowledge: Knowledge) => CmMessage) =>
  (testbed: Testbed, knowledge: Knowledge) =>
    testbed.forge.say(who, message(testbed, knowledge));

const anybody = ({ choices }: Knowledge): string => `10.9.${choices.below(4)}.${1 + choices.below(250)}`;
const wayFrom = (who: string) => ({ from: { gid: gidFromIp(who) }, to: { gid: gidFromIp(VICTIM) } });
const service = serviceId(PortSpace.TCP, PORT);

function request(who: string, { choices }: Knowledge): CmMessage {
  const localCommId = choices.u32() >>> 0;
  return req(wayFrom(who), { localCommId, localQpn: choices.u32() & 0xffffff, serviceId: service });
}

function question(who: string, { choices }: Knowledge): CmMessage {
  const requestId = choices.u32() >>> 0;
  return sidrReq(wayFrom(who), { requestId, serviceId: serviceId(PortSpace.UDP, UDP_PORT) });
}

/** As many as an insider takes to be noticed, or one. */
const flood =
  (who: (knowledge: Knowledge) => string, message: (who: string, knowledge: Knowledge) => CmMessage): Attack['fire'] =>
  ({ forge }, knowledge) => {
    for (let i = 0; i < (knowledge.insider ? FLOOD : 1); i += 1) {
      const from = who(knowledge);
      forge.say(from, message(from, knowledge));
    }
  };

/** How a connection is named by the friend that it is with: its own name is only known to those who heard it. */
const named = ({ secrets }: Testbed, knowledge: Knowledge, which: 'established' | 'agreed') => ({
  localCommId: knowledge.guess(secrets.peersCommId[which]),
  remoteCommId: knowledge.guess(secrets.commId[which]),
});

const forSilent = ({ secrets }: Testbed, knowledge: Knowledge) => ({
  localCommId: knowledge.choices.u32() >>> 0,
  remoteCommId: knowledge.guess(secrets.commId.asking),
});

export const strangersMessages: readonly Attack[] = [
  row(
    'REQ, ever others',
    'grow',
    flood(() => ADVERSARY, request),
  ),
  row('REQ from everywhere', 'grow', flood(anybody, request)),
  row(
    'SIDR_REQ, ever others',
    'grow',
    flood(() => ADVERSARY, question),
  ),
  row('SIDR_REQ from everywhere', 'grow', flood(anybody, question)),
  row(
    'REQ for a queue pair that is connected',
    'end',
    as(FRIEND, ({ secrets }, knowledge) =>
      req(wayFrom(FRIEND), {
        localCommId: knowledge.choices.u32() >>> 0,
        localQpn: knowledge.guess(secrets.friendQpn),
        localCaGuid: nodeGuid(gidFromIp(FRIEND)),
        serviceId: service,
      }),
    ),
    SELDOM,
  ),
  row(
    'REP',
    'make',
    as(SILENT, (...of) => rep(forSilent(...of))),
  ),
  row(
    'REJ of a request',
    'end',
    as(SILENT, (...of) => rej(forSilent(...of))),
  ),
  row(
    'MRA',
    'disturb',
    as(SILENT, (...of) => mra(forSilent(...of), 0, 31)),
  ),
  row(
    'RTU',
    'make',
    as(SLOW, (...of) => rtu(named(...of, 'agreed'))),
  ),
  row(
    'REJ of an answer',
    'end',
    as(SLOW, (...of) => rej(named(...of, 'agreed'))),
  ),
  row(
    'DREQ',
    'end',
    as(FRIEND, (testbed, knowledge) =>
      dreq(named(testbed, knowledge, 'established'), knowledge.guess(testbed.secrets.ownQpn)),
    ),
  ),
  row(
    'REJ of a connection',
    'end',
    as(FRIEND, (...of) => rej(named(...of, 'established'))),
  ),
  row(
    'REJ for a timeout',
    'end',
    as(FRIEND, ({ secrets }, knowledge) => {
      const localCommId = knowledge.guess(secrets.peersCommId.established);
      const { additionalInfo, rejectedInfoLength } = guidInfo(nodeGuid(gidFromIp(FRIEND)));
      return rej(
        { localCommId, remoteCommId: 0 },
        { reason: RejectReason.TIMEOUT, additionalInfo, rejectedInfoLength },
      );
    }),
  ),
  row(
    'SIDR_REP',
    'make',
    as(SILENT, ({ secrets }, knowledge) => sidrRep(knowledge.guess(secrets.commId.resolving))),
  ),
];

/** A guest that knows all names, and is not who they belong to. An insider is. */
const knowing = (
  who: string,
  name: string,
  goal: Goal,
  message: (testbed: Testbed, knowledge: Knowledge) => CmMessage,
): Attack => ({
  name: `${name} with the right names, from another address`,
  knower: 'guest',
  goal,
  weight: 0.3,
  fire: (testbed, knowledge) => testbed.forge.say(knowledge.instead(ADVERSARY, who), message(testbed, knowledge)),
});

const namesOf = ({ commId, peer }: { readonly commId: number; readonly peer: { readonly commId: number } }) => ({
  localCommId: peer.commId,
  remoteCommId: commId,
});

/** What somebody can say who knows how connections of others are named. */
export const guestsMessages: readonly Attack[] = [
  knowing(SILENT, 'REP', 'make', ({ conversations }) => rep({ remoteCommId: conversations.asking.commId })),
  knowing(SILENT, 'REJ', 'end', ({ conversations }) => rej({ remoteCommId: conversations.asking.commId })),
  knowing(SILENT, 'SIDR_REP', 'make', ({ conversations }) => sidrRep(conversations.resolving.commId)),
  knowing(SLOW, 'RTU', 'make', ({ conversations }) => rtu(namesOf(conversations.agreed))),
  knowing(FRIEND, 'DREQ', 'end', ({ conversations: { established, ownQpn } }) => dreq(namesOf(established), ownQpn)),
  knowing(FRIEND, 'REQ for a queue pair that is connected', 'end', ({ conversations }, { choices }) =>
    req(wayFrom(FRIEND), {
      localCommId: choices.u32() >>> 0,
      localQpn: conversations.friendQpn,
      localCaGuid: nodeGuid(gidFromIp(FRIEND)),
      serviceId: service,
    }),
  ),
];
