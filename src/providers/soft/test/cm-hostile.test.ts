import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType } from '../../../device/ibta/index.js';
import { type CmMessage, decodeCmMessage, Opcode } from '../../../device/wire/index.js';
import { WcStatus } from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { CmSide, connectSides } from '../../../device/cm/test/support/device.js';
import { Attacker, overhear, strangers, withSeed } from '../../../device/cm/test/support/fuzz.js';
import type { Choices } from '../../../../test/fuzz/random.js';
import { craftDatagram } from '../../../device/nic/test/ud.js';

const PACKETS = 4000;
const GSI_QKEY = 0x80010000;
const HEADER_BYTES = 20;

interface Attacked {
  readonly cluster: SimulatedCluster;
  readonly a: CmSide;
  readonly b: CmSide;
  /** Puts one of the attacker's datagrams onto the wire. */
  readonly strike: (from: string, to: CmSide) => void;
}

/** Two devices, and an attacker who reads all that they say. */
function attacked(choices: Choices): Attacked {
  const cluster = new SimulatedCluster({ seed: choices.below(1000) });
  const [a, b] = ['10.0.0.1', '10.0.0.2'].map((address) => new CmSide(cluster.open(address)));
  b.listen();
  const said: CmMessage[] = [];
  cluster.network.onPacket = ({ bytes }) => {
    const message = decodeCmMessage(bytes, HEADER_BYTES);
    if (message !== undefined) said.push(message);
    return 'pass';
  };
  const attacker = new Attacker(choices, () => overhear(said.slice(-40)));
  const strike = (from: string, to: CmSide): void => {
    const source = from === a.ip ? a.cm.gid : b.cm.gid;
    const payload = attacker.next(source, to.cm.gid);
    const names = { opcode: Opcode.UD_SEND_ONLY, destQp: 1, psn: 0, qkey: GSI_QKEY, sourceQp: 1 };
    cluster.network.inject(from, to.ip, craftDatagram(from, to.ip, { ...names, payload }));
  };
  return { cluster, a, b, strike };
}

describe('hostile messages to a whole adapter', () => {
  test('from strangers do not end a connection, and data flows on', () => {
    withSeed((choices) => {
      const { cluster, a, b, strike } = attacked(choices);
      const { active } = connectSides(a, b);
      for (let i = 0; i < PACKETS; i += 1) {
        strike(`10.7.0.${1 + choices.below(strangers.length)}`, choices.chance(50) ? a : b);
        if (i % 64 === 0) cluster.run(cluster.nowUs + 1000);
      }
      assert.equal(a.write(active.qp, 'still there', b).status, WcStatus.SUCCESS);
      for (const side of [a, b]) side.context[Symbol.dispose]();
    });
  });

  test('in the name of either side, whatever they do, leave nothing behind', () => {
    withSeed((choices) => {
      const { cluster, a, b, strike } = attacked(choices);
      const ids = new Set<number>();
      const asking = new Set<number>();
      for (let i = 0; i < PACKETS; i += 1) {
        const [from, to] = choices.chance(50) ? [a, b] : [b, a];
        strike(from.ip, to);
        if (i % 16 !== 0) continue;
        cluster.run(cluster.nowUs + choices.below(100_000));
        if (asking.size < 10) asking.add(a.connect(b, a.makeQp()));
        for (const { type, id } of b.cm.takeEvents()) {
          if (type !== CmEventType.CONNECT_REQUEST) continue;
          ids.add(id);
          if (choices.chance(70)) tolerate(() => b.accept(id, b.makeQp()));
        }
        a.cm.takeEvents();
        if (choices.chance(30)) endOne(choices, b, ids);
        if (choices.chance(30)) endOne(choices, a, asking);
      }
      for (const id of ids) b.destroy(id);
      for (const id of asking) a.destroy(id);
      // Requests that were still under way.
      cluster.run(cluster.nowUs + 1_000_000);
      for (const id of new Set(b.cm.takeEvents().map((event) => event.id))) b.destroy(id);
      cluster.run();
      assert.equal([...a.cm.takeEvents(), ...b.cm.takeEvents()].length, 0);
      // They still work.
      connectSides(a, b);
      for (const side of [a, b]) side.context[Symbol.dispose]();
    });
  });
});

function endOne(choices: Choices, side: CmSide, ids: Set<number>): void {
  if (ids.size === 0) return;
  const id = choices.of([...ids]);
  ids.delete(id);
  if (choices.chance(50)) tolerate(() => side.disconnect(id));
  side.destroy(id);
}

/** What a peer did meanwhile may have the device refuse a command. */
function tolerate(command: () => void): void {
  try {
    command();
  } catch (error) {
    assert.ok(error instanceof Error && 'errno' in error && error.errno === 'EINVAL', String(error));
  }
}
