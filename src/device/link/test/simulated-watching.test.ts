import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Happening, SimulatedNetwork, type SimulatedNetworkOptions, type Verdict } from '../index.js';
import { packetOf, runAndTake, sendOne } from './simulated-support.js';

const A = '10.0.0.1';
const B = '10.0.0.2';

function watched(options: Partial<SimulatedNetworkOptions>, verdict: Verdict = 'pass', to = B) {
  const network = new SimulatedNetwork({ seed: 1, ...options });
  const happened: Happening[] = [];
  let sent: Uint8Array | undefined;
  network.watcher = {
    sent: (packet) => (sent = packet.bytes),
    happened: (_, what) => happened.push(what),
  };
  network.onPacket = () => verdict;
  const [a, b] = [network.attach(A), network.attach(B)];
  sendOne(a, to, packetOf(64));
  return { happened, sent, received: runAndTake(network, b) };
}

const certain = (name: 'loss' | 'duplication' | 'reordering' | 'corruption') => ({ conditions: { [name]: 1 } });

describe('a watcher of a simulated network', () => {
  const cases: readonly (readonly [Happening[], Partial<SimulatedNetworkOptions>, Verdict?])[] = [
    [['delivered'], {}],
    [['lost'], certain('loss')],
    [['duplicated', 'delivered', 'delivered'], certain('duplication')],
    [['reordered', 'delivered'], certain('reordering')],
    [['corrupted', 'delivered'], certain('corruption')],
    [['partitioned'], { conditions: { partitioned: true } }],
    [['tooBig'], { conditions: { mtuBytes: 64 } }],
    [['queueDropped'], { conditions: { bandwidthBytesPerUs: 1, queueLimitBytes: 10 } }],
    [['dropped'], {}, 'drop'],
    [['duplicated', 'delivered', 'delivered'], {}, 'duplicate'],
    [['corrupted', 'delivered'], {}, 'corrupt'],
    [['delayed', 'delivered'], {}, { delayUs: 7 }],
    [['replaced', 'delivered'], {}, { replace: Uint8Array.of(1, 2, 3, 4) }],
  ];
  for (const [expected, options, verdict] of cases)
    it(`is told of ${expected.join(', ')}${verdict === undefined ? '' : ' by the script'}`, () => {
      assert.deepEqual(watched(options, verdict).happened, expected);
    });

  it('is told of a packet to nobody', () => {
    assert.deepEqual(watched({}, 'pass', '10.0.0.9').happened, ['unroutable']);
  });

  it('may keep what was sent: a packet that is corrupted on its way is another', () => {
    const { sent, received } = watched({}, 'corrupt');
    const flipped = received[0].bytes.map((byte, i) => byte ^ packetOf(64)[i]).filter((bits) => bits !== 0);
    assert.deepEqual([[...(sent ?? [])], flipped.length >= 1 && flipped.length <= 3], [packetOf(64), true]);
  });
});
