import { Opcode } from '../../../src/device/wire/index.js';
import type { Mr } from '../../../src/index.js';
import type { Goal } from '../judge.js';
import type { Mind } from '../mind.js';
import { ADVERSARY } from '../people.js';
import { ASKED_BYTES, MESSAGE_BYTES, type Scene, WINDOW_BYTES, WINDOW_OFFSET } from '../scene.js';
import type { Attack } from './attack.js';
import { ONE_SIDED, say } from './guest.js';

/** What a packet in the midst of a message has. */
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

const inWindow = ({ hidden }: Scene, offset = 0): bigint => hidden.addr + BigInt(WINDOW_OFFSET + offset);

/** An address such that 8 bytes from there are not all in the window. */
function outside({ hidden }: Scene, { choices }: Mind): bigint {
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
const forEach = (name: string, target: (scene: Scene, mind: Mind) => Pick<Mr, 'rkey' | 'addr'>, weight = 1): Attack[] =>
  ONE_SIDED.map(([operation, opcode, goal, fields]) =>
    row(
      `${operation} ${name}`,
      goal,
      (scene, mind) => {
        const { rkey, addr } = target(scene, mind);
        say(scene, opcode, { rkey, va: addr, ...fields });
      },
      weight,
    ),
  );

const window: readonly Attack[] = [
  ...forEach('beyond the window', (scene, mind) => ({
    rkey: scene.windowRkey,
    addr: mind.instead(outside(scene, mind), inWindow(scene)),
  })),
  row('WRITE that is too long for the window', 'write', (scene, mind) =>
    say(scene, Opcode.RC_WRITE_FIRST, {
      rkey: scene.windowRkey,
      va: inWindow(scene),
      payload: PACKET,
      length: mind.instead(WINDOW_BYTES + 1, WINDOW_BYTES),
    }),
  ),
  row('WRITE whose length wraps around', 'write', (scene, mind) =>
    say(scene, Opcode.RC_WRITE_ONLY, {
      rkey: scene.windowRkey,
      va: inWindow(scene),
      payload: 16,
      length: mind.instead(mind.choices.of([2 ** 32 - 1, 2 ** 31 + 1, 2 ** 32 - 16]), 16),
    }),
  ),
  row('WRITE that goes on behind its length', 'write', (scene) => {
    const { windowRkey: rkey } = scene;
    const beginning = { rkey, va: inWindow(scene), payload: PACKET, length: WINDOW_BYTES };
    say(scene, Opcode.RC_WRITE_FIRST, beginning);
    say(scene, Opcode.RC_WRITE_MIDDLE, { payload: PACKET }, 1);
    say(scene, Opcode.RC_WRITE_LAST, { payload: PACKET }, 2);
  }),
  row(
    'WRITE into a window that is taken back meanwhile',
    'write',
    (scene, mind) => {
      const { windowRkey: rkey } = scene;
      say(scene, Opcode.RC_WRITE_FIRST, { rkey, va: inWindow(scene), payload: PACKET, length: WINDOW_BYTES });
      scene.settle(20);
      if (mind.insider) return;
      scene.revokeWindow();
      scene.estate.keep();
      say(scene, Opcode.RC_WRITE_LAST, { payload: PACKET });
      scene.settle(20);
    },
    0.2,
  ),
  ...forEach(
    'with the key that the window had before',
    (scene, mind) => ({ rkey: mind.instead(scene.lastWindowRkey, scene.windowRkey), addr: inWindow(scene) }),
    0.5,
  ),
  row('WRITE over UC through the window of another queue pair', 'write', (scene, mind) => {
    const fields = { rkey: scene.windowRkey, va: inWindow(scene), payload: 16 };
    if (mind.insider) say(scene, Opcode.RC_WRITE_ONLY, fields);
    else scene.forge.send(ADVERSARY, Opcode.UC_WRITE_ONLY, scene.guestUc.qp.qpNum, fields);
  }),
  row('WRITE over XRC through the window of another queue pair', 'write', (scene, mind) => {
    const fields = { rkey: scene.windowRkey, va: inWindow(scene), payload: 16 };
    const { guestXrc, guestSrq, forge } = scene;
    if (mind.insider) say(scene, Opcode.RC_WRITE_ONLY, fields);
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
    (scene, mind) => {
      const { windowRkey: rkey } = scene;
      if (!mind.insider) scene.revokeWindow();
      scene.estate.keep();
      say(scene, Opcode.RC_WRITE_ONLY, { rkey, va: inWindow(scene), payload: 16 });
    },
    0.2,
  ),
];

const regions: readonly Attack[] = [
  ...ONE_SIDED.filter(([name]) => name !== 'READ').map(([operation, opcode, goal, fields]) =>
    row(`${operation} with a key for reading`, goal, (scene, mind) => {
      const { rkey, addr } = mind.instead(scene.readable, scene.roomy);
      say(scene, opcode, { rkey, va: addr, ...fields });
    }),
  ),
  row('READ beyond the region', 'read', (scene, mind) => {
    const { rkey, addr, length } = scene.readable;
    const beyond = mind.choices.of([-8, length - 8, length, 2 * length]);
    say(scene, Opcode.RC_READ_REQUEST, { rkey, va: addr + BigInt(mind.instead(beyond, 0)), length: 16 });
  }),
  row('READ that is too long for the region', 'read', (scene, mind) => {
    const { rkey, addr, length } = scene.readable;
    const tooLong = mind.choices.of([length + 1, 2 * length, 2 ** 31, 2 ** 32 - 1]);
    say(scene, Opcode.RC_READ_REQUEST, { rkey, va: addr, length: mind.instead(tooLong, length) });
  }),
  ...forEach('with a key of another domain', ({ other, roomy }, mind) => mind.instead(other, roomy), 0.5),
  ...forEach("with a friend's key", ({ main, roomy }, mind) => mind.instead(main, roomy), 0.5),
  ...forEach('with the key of a region that is gone', ({ gone, roomy }, mind) => mind.instead(gone, roomy), 0.5),
  row('SEND with invalidate of a key of another domain', 'close', (scene, mind) =>
    say(scene, Opcode.RC_SEND_ONLY_INVALIDATE, {
      invalidate: mind.instead(mind.choices.of([scene.other.rkey, scene.main.rkey]), scene.roomy.rkey),
    }),
  ),
];

const answers: readonly Attack[] = [
  row(
    'READ response that is longer than asked for',
    'write',
    (scene, mind) => {
      const { guest, forge } = scene;
      const psn = scene.askGuest();
      const payload = mind.instead(mind.choices.of([ASKED_BYTES + 1, 2 * ASKED_BYTES, LONG_PACKET]), ASKED_BYTES);
      forge.send(ADVERSARY, Opcode.RC_READ_RESP_ONLY, guest.qp.qpNum, { psn, payload });
      scene.settle(20);
    },
    0.2,
  ),
  row(
    'READ response in more packets than asked for',
    'write',
    (scene, mind) => {
      const { guest, forge } = scene;
      const psn = scene.askGuest();
      if (mind.insider) forge.send(ADVERSARY, Opcode.RC_READ_RESP_ONLY, guest.qp.qpNum, { psn, payload: ASKED_BYTES });
      else {
        forge.send(ADVERSARY, Opcode.RC_READ_RESP_FIRST, guest.qp.qpNum, { psn, payload: PACKET });
        forge.send(ADVERSARY, Opcode.RC_READ_RESP_MIDDLE, guest.qp.qpNum, { psn: psn + 1, payload: PACKET });
      }
      scene.settle(20);
    },
    0.2,
  ),
  row('SEND that is longer than the receive request', 'write', (scene, mind) =>
    say(scene, Opcode.RC_SEND_ONLY, {
      payload: mind.instead(mind.choices.of([MESSAGE_BYTES + 1, 2 * MESSAGE_BYTES, LONG_PACKET]), MESSAGE_BYTES),
    }),
  ),
  row('SEND in more packets than the receive request holds', 'write', (scene, mind) => {
    if (mind.insider) say(scene, Opcode.RC_SEND_ONLY, { payload: MESSAGE_BYTES });
    else {
      say(scene, Opcode.RC_SEND_FIRST, { payload: PACKET });
      say(scene, Opcode.RC_SEND_LAST, { payload: PACKET }, 1);
    }
  }),
];

/** What somebody can try who was given a window, and a key for reading. */
export const keyHoldersPackets: readonly Attack[] = [...window, ...regions, ...answers];
