import { Opcode } from '../../../src/device/wire/index.js';
import type { Fields } from '../forge.js';
import type { Goal } from '../judge.js';
import type { Knowledge, Secret } from '../knowledge.js';
import { ADVERSARY, FRIEND } from '../addresses.js';
import type { Testbed } from '../testbed.js';
import type { Attack } from './attack.js';

const PAYLOAD = 16;
const CNP_BYTES = 16;

/** The requests that name memory: what each does with a key that opens it, and what it says beside key and address. */
export const ONE_SIDED = [
  ['WRITE', Opcode.RC_WRITE_ONLY, 'write', { payload: PAYLOAD }],
  ['WRITE with immediate', Opcode.RC_WRITE_ONLY_IMM, 'write', { payload: PAYLOAD }],
  ['READ', Opcode.RC_READ_REQUEST, 'read', { length: PAYLOAD }],
  ['COMPARE_SWAP', Opcode.RC_COMPARE_SWAP, 'read', {}],
  ['FETCH_ADD', Opcode.RC_FETCH_ADD, 'write', {}],
  ['ATOMIC_WRITE', Opcode.RC_ATOMIC_WRITE, 'write', { payload: 8 }],
] as const satisfies readonly (readonly [string, Opcode, Goal, Fields])[];

/** Over the adversary's own reliable connection, of which it knows everything. */
export function say(testbed: Testbed, opcode: Opcode, fields: Fields, psnAhead = 0): void {
  const { guest, forge } = testbed;
  forge.send(ADVERSARY, opcode, guest.qp.qpNum, { psn: (guest.psn + psnAhead) & 0xffffff, ...fields });
}

const row = (name: string, goal: Goal, fire: Attack['fire'], weight = 1): Attack => ({
  name,
  knower: 'guest',
  goal,
  fire,
  weight,
});

const place = ({ roomy }: Testbed, { choices }: Knowledge): Fields => ({
  va: roomy.addr + BigInt(8 * choices.below(64)),
});

const guesses: readonly Attack[] = [
  ...ONE_SIDED.map(([name, opcode, goal, fields]) =>
    row(`${name} with a key that was guessed`, goal, (testbed, knowledge) =>
      say(testbed, opcode, {
        ...place(testbed, knowledge),
        ...fields,
        rkey: knowledge.guess(testbed.secrets.guestsKey),
      }),
    ),
  ),
  row('SEND with invalidate of a key that was guessed', 'close', (testbed, knowledge) =>
    say(testbed, Opcode.RC_SEND_ONLY_INVALIDATE, { invalidate: knowledge.guess(testbed.secrets.guestsWindow) }),
  ),
  row('WRITE over UC with a key that was guessed', 'write', (testbed, knowledge) =>
    testbed.forge.send(ADVERSARY, Opcode.UC_WRITE_ONLY, testbed.guestUc.qp.qpNum, {
      ...place(testbed, knowledge),
      payload: PAYLOAD,
      rkey: knowledge.guess(testbed.secrets.guestsKey),
    }),
  ),
  row('datagram with a Q_Key that was guessed', 'complete', ({ forge, friends, secrets }, knowledge) =>
    forge.send(ADVERSARY, Opcode.UD_SEND_ONLY, friends.ud.qp.qpNum, {
      qkey: knowledge.guess(secrets.qkey),
      payload: PAYLOAD,
    }),
  ),
  row('SEND over XRC to a shared receive queue that was guessed', 'complete', (testbed, knowledge) => {
    const { friends, guestSrq, guestXrc, forge } = testbed;
    const any: Secret = { bits: 24, truths: () => [guestSrq.srqNum], near: () => [friends.srq.srqNum] };
    // Its own is the only one that it may name.
    const guess = knowledge.guess(any);
    const srqn = knowledge.instead(guess === guestSrq.srqNum ? friends.srq.srqNum : guess, guestSrq.srqNum);
    forge.send(ADVERSARY, Opcode.XRC_SEND_ONLY, guestXrc.qp.qpNum, { psn: guestXrc.psn, srqn, payload: PAYLOAD });
  }),
];

/** Knows every number of others, and has another address. */
const fromElsewhere: readonly Attack[] = [
  ...ONE_SIDED.map(([name, opcode, goal, fields]) =>
    row(
      `${name} to a connection of others, all numbers right`,
      goal,
      ({ forge, friends, main }, knowledge) =>
        forge.send(knowledge.instead(ADVERSARY, FRIEND), opcode, friends.rc.qp.qpNum, {
          psn: friends.rc.psn,
          rkey: main.rkey,
          va: main.addr,
          ...fields,
        }),
      0.3,
    ),
  ),
  row(
    'SEND to a connection of others, all numbers right',
    'complete',
    ({ forge, friends }, knowledge) =>
      forge.send(knowledge.instead(ADVERSARY, FRIEND), Opcode.RC_SEND_ONLY, friends.rc.qp.qpNum, {
        psn: friends.rc.psn,
        payload: PAYLOAD,
      }),
    0.3,
  ),
  row(
    'SEND over UC to a connection of others',
    'complete',
    ({ forge, friends }, knowledge) =>
      forge.send(knowledge.instead(ADVERSARY, FRIEND), Opcode.UC_SEND_ONLY, friends.uc.qp.qpNum, { payload: PAYLOAD }),
    0.3,
  ),
  row(
    'SEND over XRC to a connection of others, all numbers right',
    'complete',
    ({ forge, friends }, knowledge) =>
      forge.send(knowledge.instead(ADVERSARY, FRIEND), Opcode.XRC_SEND_ONLY, friends.xrc.qp.qpNum, {
        psn: friends.xrc.psn,
        srqn: friends.srq.srqNum,
        payload: PAYLOAD,
      }),
    0.3,
  ),
  row(
    'congestion notification for a connection of others',
    'disturb',
    ({ forge, sending }, knowledge) =>
      forge.send(knowledge.instead(ADVERSARY, '10.0.0.3'), Opcode.CNP, sending.qp.qpNum, {
        becn: true,
        payload: CNP_BYTES,
      }),
    0.3,
  ),
];

/** Knows the number of a queue of others, in a domain that is not its own. */
const otherDomains: readonly Attack[] = [
  row(
    'SEND over XRC to a shared receive queue of another domain',
    'complete',
    ({ forge, friends, guestSrq, guestXrc }, knowledge) =>
      forge.send(ADVERSARY, Opcode.XRC_SEND_ONLY, guestXrc.qp.qpNum, {
        psn: guestXrc.psn,
        srqn: knowledge.instead(friends.srq.srqNum, guestSrq.srqNum),
        payload: PAYLOAD,
      }),
    0.3,
  ),
];

/** What somebody can try who is connected, and was given no key. */
export const guestsPackets: readonly Attack[] = [...guesses, ...fromElsewhere, ...otherDomains];
