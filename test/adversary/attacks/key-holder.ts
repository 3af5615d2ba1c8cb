import { Opcode } from '../../../src/device/wire/index.js';
import type { Mr } from '../../../src/entry/index.js';
import type { Goal } from '../judge.js';
import type { Knowledge } from '../knowledge.js';
import { ADVERSARY } from '../addresses.js';
import { ASKED_BYTES, MESSAGE_BYTES, type Testbed, WINDOW_BYTES, WINDOW_OFFSET } from '../testbed.js';
import type { Attack } from './attack.js';
import { ONE_SIDED, say } from './guest.js';

const PACKET = 256;
/** More than the path MTU, to which an answer in one packet is not held. */
const LONG_PACKET = 1024;

const row = (name: string, goal: Goal, fire: Attack['fire'], weight = 1): Attack => ({
  name,
  knower: 'key holder',
  goal,
  fire,
  weight,
});

const inWindow = ({ hidden }: Testbed, offset = 0): bigint => hidden.addr + BigInt(WINDOW_OFFSET + offset);

/** An address such that 8 bytes from there are not all in the window. */
function outside({ hidden }: Testbed, { choices }: Knowledge): bigint {
  const beyond = WINDOW_OFFSET + WINDOW_BYTES;
  const offset = choices.of([
    WINDOW_OFFSET - 8,
    WINDOW_OFFSET - 1,
    beyond,
    beyond - 1,
    beyond + 8 * choices.below(32),
    8 * choices.below(WINDOW_OFFSET / 8),
    2 ** 32,
    -(2 ** 32) + WINDOW_OFFSET,
  ]);
  return BigInt.asUintN(64, hidden.addr + BigInt(offset));
}

/** Every one-sided request, to memory that a key does not open, or in a way in which it does not. */
const forEach = (
  name: string,
  target: (testbed: Testbed, knowledge: Knowledge) => Pick<Mr, 'rkey' | 'addr'>,
  weight = 1,
): Attack[] =>
  ONE_SIDED.map(([operation, opcode, goal, fields]) =>
    row(
      `${operation} ${name}`,
      goal,
      (testbed, knowledge) => {
        const { rkey, addr } = target(testbed, knowledge);
        say(testbed, opcode, { rkey, va: addr, ...fields });
      },
      weight,
    ),
  );

const window: readonly Attack[] = [
  ...forEach('beyond the window', (testbed, knowledge) => ({
    rkey: testbed.windowRkey,
    addr: knowledge.instead(outside(testbed, knowledge), inWindow(testbed)),
  })),
  row('WRITE that is too long for the window', 'write', (testbed, knowledge) =>
    say(testbed, Opcode.RC_WRITE_FIRST, {
      rkey: testbed.windowRkey,
      va: inWindow(testbed),
      payload: PACKET,
      length: knowledge.instead(WINDOW_BYTES + 1, WINDOW_BYTES),
    }),
  ),
  row('WRITE whose length wraps around', 'write', (testbed, knowledge) =>
    say(testbed, Opcode.RC_WRITE_ONLY, {
      rkey: testbed.windowRkey,
      va: inWindow(testbed),
      payload: 16,
      length: knowledge.instead(knowledge.choices.of([2 ** 32 - 1, 2 ** 31 + 1, 2 ** 32 - 16]), 16),
    }),
  ),
  row('WRITE that goes on behind its length', 'write', (testbed) => {
    const { windowRkey: rkey } = testbed;
    const beginning = { rkey, va: inWindow(testbed), payload: PACKET, length: WINDOW_BYTES };
    say(testbed, Opcode.RC_WRITE_FIRST, beginning);
    say(testbed, Opcode.RC_WRITE_MIDDLE, { payload: PACKET }, 1);
    say(testbed, Opcode.RC_WRITE_LAST, { payload: PACKET }, 2);
  }),
  row(
    'WRITE into a window that is taken back meanwhile',
    'write',
    (testbed, knowledge) => {
      const { windowRkey: rkey } = testbed;
      say(testbed, Opcode.RC_WRITE_FIRST, { rkey, va: inWindow(testbed), payload: PACKET, length: WINDOW_BYTES });
      testbed.settle(20);
      if (knowledge.insider) return;
      testbed.revokeWindow();
      testbed.victimMemory.keep();
      say(testbed, Opcode.RC_WRITE_LAST, { payload: PACKET });
      testbed.settle(20);
    },
    0.2,
  ),
  ...forEach(
    'with the key that the window had before',
    (testbed, knowledge) => ({
      rkey: knowledge.instead(testbed.lastWindowRkey, testbed.windowRkey),
      addr: inWindow(testbed),
    }),
    0.5,
  ),
  row('WRITE over UC through the window of another queue pair', 'write', (testbed, knowledge) => {
    const fields = { rkey: testbed.windowRkey, va: inWindow(testbed), payload: 16 };
    if (knowledge.insider) say(testbed, Opcode.RC_WRITE_ONLY, fields);
    else testbed.forge.send(ADVERSARY, Opcode.UC_WRITE_ONLY, testbed.guestUc.qp.qpNum, fields);
  }),
  row('WRITE over XRC through the window of another queue pair', 'write', (testbed, knowledge) => {
    const fields = { rkey: testbed.windowRkey, va: inWindow(testbed), payload: 16 };
    const { guestXrc, guestSrq, forge } = testbed;
    if (knowledge.insider) say(testbed, Opcode.RC_WRITE_ONLY, fields);
    else
      forge.send(ADVERSARY, Opcode.XRC_WRITE_ONLY, guestXrc.qp.qpNum, {
        ...fields,
        psn: guestXrc.psn,
        srqn: guestSrq.srqNum,
      });
  }),
  row(
    'WRITE through a window that was taken back',
    'write',
    (testbed, knowledge) => {
      const { windowRkey: rkey } = testbed;
      if (!knowledge.insider) testbed.revokeWindow();
      testbed.victimMemory.keep();
      say(testbed, Opcode.RC_WRITE_ONLY, { rkey, va: inWindow(testbed), payload: 16 });
    },
    0.2,
  ),
];

const regions: readonly Attack[] = [
  ...ONE_SIDED.filter(([name]) => name !== 'READ').map(([operation, opcode, goal, fields]) =>
    row(`${operation} with a key for reading`, goal, (testbed, knowledge) => {
      const { rkey, addr } = knowledge.instead(testbed.readable, testbed.roomy);
      say(testbed, opcode, { rkey, va: addr, ...fields });
    }),
  ),
  row('READ beyond the region', 'read', (testbed, knowledge) => {
    const { rkey, addr, length } = testbed.readable;
    const beyond = knowledge.choices.of([-8, length - 8, length, 2 * length]);
    say(testbed, Opcode.RC_READ_REQUEST, { rkey, va: addr + BigInt(knowledge.instead(beyond, 0)), length: 16 });
  }),
  row('READ that is too long for the region', 'read', (testbed, knowledge) => {
    const { rkey, addr, length } = testbed.readable;
    const tooLong = knowledge.choices.of([length + 1, 2 * length, 2 ** 31, 2 ** 32 - 1]);
    say(testbed, Opcode.RC_READ_REQUEST, { rkey, va: addr, length: knowledge.instead(tooLong, length) });
  }),
  ...forEach('with a key of another domain', ({ other, roomy }, knowledge) => knowledge.instead(other, roomy), 0.5),
  ...forEach("with a friend's key", ({ main, roomy }, knowledge) => knowledge.instead(main, roomy), 0.5),
  ...forEach(
    'with the key of a region that is gone',
    ({ gone, roomy }, knowledge) => knowledge.instead(gone, roomy),
    0.5,
  ),
  row('SEND with invalidate of a key of another domain', 'close', (testbed, knowledge) => {
    const { other, main, friendsWindow, guestsWindow } = testbed;
    const forbidden = knowledge.choices.of([other.rkey, main.rkey, friendsWindow]);
    say(testbed, Opcode.RC_SEND_ONLY_INVALIDATE, { invalidate: knowledge.instead(forbidden, guestsWindow) });
  }),
  row('SEND with invalidate of a region of its own domain', 'close', (testbed, knowledge) => {
    const { roomy, guestsWindow } = testbed;
    say(testbed, Opcode.RC_SEND_ONLY_INVALIDATE, { invalidate: knowledge.instead(roomy.rkey, guestsWindow) });
  }),
];

const answers: readonly Attack[] = [
  row(
    'READ response that is longer than asked for',
    'write',
    (testbed, knowledge) => {
      const { guest, forge } = testbed;
      const psn = testbed.askGuest();
      const payload = knowledge.instead(
        knowledge.choices.of([ASKED_BYTES + 1, 2 * ASKED_BYTES, LONG_PACKET]),
        ASKED_BYTES,
      );
      forge.send(ADVERSARY, Opcode.RC_READ_RESP_ONLY, guest.qp.qpNum, { psn, payload });
      testbed.settle(20);
    },
    0.2,
  ),
  row(
    'READ response in more packets than asked for',
    'write',
    (testbed, knowledge) => {
      const { guest, forge } = testbed;
      const psn = testbed.askGuest();
      if (knowledge.insider)
        forge.send(ADVERSARY, Opcode.RC_READ_RESP_ONLY, guest.qp.qpNum, { psn, payload: ASKED_BYTES });
      else {
        forge.send(ADVERSARY, Opcode.RC_READ_RESP_FIRST, guest.qp.qpNum, { psn, payload: PACKET });
        forge.send(ADVERSARY, Opcode.RC_READ_RESP_MIDDLE, guest.qp.qpNum, { psn: psn + 1, payload: PACKET });
      }
      testbed.settle(20);
    },
    0.2,
  ),
  row('SEND that is longer than the receive request', 'write', (testbed, knowledge) =>
    say(testbed, Opcode.RC_SEND_ONLY, {
      payload: knowledge.instead(
        knowledge.choices.of([MESSAGE_BYTES + 1, 2 * MESSAGE_BYTES, LONG_PACKET]),
        MESSAGE_BYTES,
      ),
    }),
  ),
  row('SEND in more packets than the receive request holds', 'write', (testbed, knowledge) => {
    if (knowledge.insider) say(testbed, Opcode.RC_SEND_ONLY, { payload: MESSAGE_BYTES });
    else {
      say(testbed, Opcode.RC_SEND_FIRST, { payload: PACKET });
      say(testbed, Opcode.RC_SEND_LAST, { payload: PACKET }, 1);
    }
  }),
];

/** What somebody can try who was given a window, and a key for reading. */
export const keyHoldersPackets: readonly Attack[] = [...window, ...regions, ...answers];
