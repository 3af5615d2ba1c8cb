import type { SeededRandom } from '../../../src/device/link/index.js';
import type { ConnectionData, Span } from '../../../src/protocols/rsocket/wire/connection-data.js';
import type { Sim } from '../../../src/sim/index.js';
import { randomBytes } from '../../../src/protocols/messages/test/sim/random-bytes.js';
import type { Claims, RawPeer } from '../../../src/protocols/rsocket/test/support/raw-peer.js';

/** Operations that there are, and that there are not. */
const OPERATIONS = [0, 0, 0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 7];
/** Numbers about which rules change. */
const BORDERS = [0, 1, 2, 3, 16, 24, 64, 128, 384, 2048, 0xffff, 0x10000, 2 ** 29 - 1];
const MAX_BYTES = 5000;
/** Fewer than its send queue holds: those that the other end does not answer stay there. */
const MAX_ACTIONS = 120;

function near(random: SeededRandom): number {
  return Math.max(0, random.pick(BORDERS) + random.between(-1, 1));
}

function wrongSpan(random: SeededRandom, span: Span): Span {
  switch (random.below(4)) {
    case 0:
      return { ...span, key: (span.key ^ (1 << random.below(31))) >>> 0 };
    case 1:
      return { ...span, addr: span.addr + BigInt(random.between(0, 1 << 20)) };
    case 2:
      return { ...span, addr: 2n ** 64n - BigInt(random.between(1, 4096)) };
    default:
      return { ...span, length: near(random) };
  }
}

/** What it says of itself: mostly the truth, else all of that but for one thing. */
export function claimsOf(random: SeededRandom): Claims {
  if (random.chance(0.6)) return (truth) => truth;
  const kind = random.below(6);
  const change = (truth: ConnectionData): Partial<ConnectionData> => {
    switch (kind) {
      case 0:
        return { version: random.below(256) };
      case 1:
        return { credits: near(random) & 0xffff };
      case 2:
        return { iomapSize: random.below(32_512) };
      case 3:
        return { byteOrder: 'big' };
      case 4:
        return { targets: wrongSpan(random, truth.targets) };
      default:
        return { data: wrongSpan(random, truth.data) };
    }
  };
  return (truth) => ({ ...truth, ...change(truth) });
}

/** A peer that keeps to the verbs, and to the protocol only now and then. */
export async function lie(sim: Sim, random: SeededRandom, peer: RawPeer): Promise<void> {
  const actions = random.below(MAX_ACTIONS);
  const honesty = random.pick([0, 0.5, 0.9, 0.97]);
  for (let i = 0; i < actions; i += 1) {
    if (random.chance(honesty)) peer.data(randomBytes(random, random.between(1, 300)));
    else oneLie(random, peer);
    if (random.chance(0.3)) await sim.sleep(random.below(100));
  }
}

function oneLie(random: SeededRandom, peer: RawPeer): void {
  const { data, targets } = peer.peer;
  const to = random.pick([data, targets, { addr: 0n, key: 0, length: 0 }, wrongSpan(random, data)]);
  const beyond = 2n ** 64n - to.addr;
  const offset = random.chance(0.5) ? 0 : Number(BigInt(near(random) % 200_000) % beyond);
  const length = random.pick([0, 0, 16, 24, random.below(300), random.below(MAX_BYTES)]);
  const bytes = randomBytes(random, length);
  switch (random.below(6)) {
    case 0:
      peer.say(random.pick(OPERATIONS), near(random) % 2 ** 29, bytes, to, offset);
      break;
    case 1:
      // As long as it says.
      peer.say(0, length, bytes, data, near(random) % 10_000);
      break;
    case 2:
      peer.say(4, near(random) % 2 ** 29, randomBytes(random, random.pick([0, 16])), targets, 16 * random.below(3));
      break;
    case 3:
      peer.say(7, random.below(4));
      break;
    case 4:
      peer.write(bytes, to, offset);
      break;
    default:
      if (random.chance(0.3)) peer.send(bytes);
      else peer.say(random.below(8), random.u32() % 2 ** 29, bytes, to, offset);
  }
}
