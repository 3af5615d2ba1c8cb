import { Aeth, NakCode, Opcode, OpcodeService } from '../../../src/device/wire/index.js';
import type { Fields } from '../forge.js';
import type { Goal } from '../judge.js';
import type { Knowledge } from '../knowledge.js';
import { ADVERSARY, FRIEND, SILENT, VICTIM } from '../addresses.js';
import type { Testbed } from '../testbed.js';
import type { Attack } from './attack.js';

const PAYLOAD = 16;
const PACKET = 256;
/** More than any path MTU, and no less than a socket would take. */
const OVERSIZE = [257, 1025, 4097, 9000, 65000];
/** So seldom that 24 bits are enough. */
const SELDOM = 0.05;
const CNP_BYTES = 16;

const asFriend =
  (opcode: Opcode, fields: (testbed: Testbed, knowledge: Knowledge) => Fields) =>
  (testbed: Testbed, knowledge: Knowledge): void => {
    const { qpn, psn } = testbed.secrets;
    const numbers = { psn: knowledge.guess(psn.rc), ...fields(testbed, knowledge) };
    testbed.forge.send(FRIEND, opcode, knowledge.guess(qpn.rc), numbers);
  };

const memory = (testbed: Testbed, knowledge: Knowledge): Fields => ({
  rkey: knowledge.guess(testbed.secrets.friendsKey),
  // Where memory is can be guessed, so it is told.
  va: testbed.main.addr + BigInt(8 * knowledge.choices.below(64)),
});

const row = (name: string, goal: Goal, fire: Attack['fire'], weight = 1): Attack => ({
  name,
  knower: 'stranger',
  goal,
  fire,
  weight,
});

const reliable: readonly Attack[] = [
  row(
    'SEND',
    'complete',
    asFriend(Opcode.RC_SEND_ONLY, () => ({ payload: PAYLOAD })),
  ),
  row(
    'SEND with immediate',
    'complete',
    asFriend(Opcode.RC_SEND_ONLY_IMM, () => ({ payload: PAYLOAD })),
  ),
  row(
    'WRITE',
    'write',
    asFriend(Opcode.RC_WRITE_ONLY, (...of) => ({ ...memory(...of), payload: PAYLOAD })),
  ),
  row(
    'WRITE with immediate',
    'complete',
    asFriend(Opcode.RC_WRITE_ONLY_IMM, (...of) => ({ ...memory(...of), payload: PAYLOAD })),
  ),
  row(
    'WRITE, first packet',
    'write',
    asFriend(Opcode.RC_WRITE_FIRST, (...of) => ({
      ...memory(...of),
      va: of[0].main.addr,
      payload: PACKET,
      length: 2 * PACKET,
    })),
  ),
  row(
    'READ',
    'read',
    asFriend(Opcode.RC_READ_REQUEST, (...of) => ({ ...memory(...of), length: PAYLOAD })),
  ),
  row('COMPARE_SWAP', 'read', asFriend(Opcode.RC_COMPARE_SWAP, memory)),
  row('FETCH_ADD', 'write', asFriend(Opcode.RC_FETCH_ADD, memory)),
  row(
    'ATOMIC_WRITE',
    'write',
    asFriend(Opcode.RC_ATOMIC_WRITE, (...of) => ({ ...memory(...of), payload: 8 })),
  ),
  row(
    'SEND with invalidate',
    'close',
    asFriend(Opcode.RC_SEND_ONLY_INVALIDATE, ({ secrets }, knowledge) => ({
      invalidate: knowledge.guess(secrets.friendsWindow),
    })),
  ),
  row(
    'request out of order',
    'end',
    asFriend(Opcode.RC_SEND_MIDDLE, () => ({ payload: PACKET })),
  ),
  row(
    'packet that is too long',
    'end',
    asFriend(Opcode.RC_SEND_ONLY, (_, { choices }) => ({ payload: choices.of(OVERSIZE) })),
    SELDOM,
  ),
];

/** As from a peer that is being waited for. */
const answer =
  (which: 'sending' | 'reading', opcode: Opcode, fields: Fields) =>
  ({ forge, secrets }: Testbed, knowledge: Knowledge): void =>
    forge.send(SILENT, opcode, knowledge.guess(secrets.qpn[which]), {
      psn: knowledge.guess(secrets.psn[which]),
      ...fields,
    });

const answers: readonly Attack[] = [
  row('ACK', 'complete', answer('sending', Opcode.RC_ACKNOWLEDGE, {})),
  row('NAK', 'end', answer('sending', Opcode.RC_ACKNOWLEDGE, { syndrome: Aeth.NAK | NakCode.REMOTE_ACCESS_ERROR })),
  row('READ response', 'write', answer('reading', Opcode.RC_READ_RESP_ONLY, { payload: 64 })),
  row('atomic acknowledgement', 'end', answer('reading', Opcode.RC_ATOMIC_ACKNOWLEDGE, {})),
];

const others: readonly Attack[] = [
  row(
    'SEND over UC',
    'complete',
    ({ forge, secrets }, knowledge) =>
      forge.send(FRIEND, Opcode.UC_SEND_ONLY, knowledge.guess(secrets.qpn.uc), { psn: 0, payload: PAYLOAD }),
    SELDOM,
  ),
  row('WRITE over UC', 'write', (testbed, knowledge) =>
    testbed.forge.send(FRIEND, Opcode.UC_WRITE_ONLY, knowledge.guess(testbed.secrets.qpn.uc), {
      ...memory(testbed, knowledge),
      payload: PAYLOAD,
    }),
  ),
  row('datagram', 'complete', ({ forge, secrets }, knowledge) =>
    forge.send(ADVERSARY, Opcode.UD_SEND_ONLY, knowledge.guess(secrets.qpn.ud), {
      qkey: knowledge.guess(secrets.qkey),
      payload: PAYLOAD,
    }),
  ),
  row('datagram with immediate', 'complete', ({ forge, secrets }, knowledge) =>
    forge.send(FRIEND, Opcode.UD_SEND_ONLY_IMM, knowledge.guess(secrets.qpn.ud), {
      qkey: knowledge.guess(secrets.qkey),
      payload: PAYLOAD,
    }),
  ),
  ...(
    [
      ['SEND', Opcode.XRC_SEND_ONLY, 'complete', { payload: PAYLOAD }],
      ['WRITE', Opcode.XRC_WRITE_ONLY, 'write', { payload: PAYLOAD }],
      ['READ', Opcode.XRC_READ_REQUEST, 'read', { length: PAYLOAD }],
      ['FETCH_ADD', Opcode.XRC_FETCH_ADD, 'write', {}],
    ] as const
  ).map(([name, opcode, goal, fields]) =>
    row(`${name} over XRC`, goal, (testbed, knowledge) => {
      const { secrets, forge } = testbed;
      const numbers = { psn: knowledge.guess(secrets.psn.xrc), srqn: knowledge.guess(secrets.srqn) };
      const place = name === 'SEND' ? {} : memory(testbed, knowledge);
      forge.send(FRIEND, opcode, knowledge.guess(secrets.qpn.xrc), { ...numbers, ...place, ...fields });
    }),
  ),
  row(
    'congestion notification',
    'disturb',
    ({ forge, secrets }, knowledge) =>
      forge.send(SILENT, Opcode.CNP, knowledge.guess(secrets.qpn.sending), { becn: true, payload: CNP_BYTES }),
    SELDOM,
  ),
];

/** What somebody can try who can send packets here from any address, and reads none. */
export const strangersPackets: readonly Attack[] = [...reliable, ...answers, ...others];

/**
 * Reliable connections know what they have had. Unreliable ones do not, whoever sends it: replays to them are not tried.
 */
export const replays: readonly Attack[] = [
  {
    name: 'packet sent again',
    knower: 'witness',
    goal: 'complete',
    weight: 4,
    fire: ({ cluster, friends }, knowledge) => {
      // Of what never arrived the first is the packet that is expected.
      if (knowledge.insider) friends.intercept(cluster);
      const packet = knowledge.insider ? friends.seen[0] : knowledge.choices.of(friends.seen.filter(isReliable));
      cluster.network.inject(FRIEND, VICTIM, packet);
    },
  },
];

function isReliable(packet: Uint8Array): boolean {
  const service = packet[0] >>> 5;
  return service === OpcodeService.RC || service === OpcodeService.XRC;
}
