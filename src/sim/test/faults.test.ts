import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WcStatus } from '../../entry/index.js';
import { type PacketMatch, type Rule, type RuleMatch, type Sim, simulate, Sim as Simulation } from '../../entry/sim.js';
import { connected, failureOf, send } from './support.js';

/** How often SENDs left, and what became of them, when a rule is applied to a message. */
async function sends(rule: (sim: Sim) => Rule): Promise<readonly (readonly string[])[]> {
  return simulate(async (sim) => {
    const { atClient } = await connected(sim);
    rule(sim);
    assert.equal((await send(atClient)).status, WcStatus.SUCCESS);
    return sim.packets({ opcode: 'RC_SEND_ONLY' }).map(({ fate }) => fate);
  });
}

const SEND = { opcode: 'RC_SEND_ONLY' } as const;

describe('a packet that a rule is about', () => {
  it('is lost', async () => {
    assert.deepEqual(await sends((sim) => sim.drop({ ...SEND, nth: 1 })), [['dropped'], ['delivered']]);
  });

  it('comes twice', async () => {
    assert.deepEqual(await sends((sim) => sim.duplicate(SEND)), [['duplicated', 'delivered', 'delivered']]);
  });

  it('comes with bits turned over, and is counted by who drops it', async () => {
    await simulate(async (sim) => {
      const { server, atClient } = await connected(sim);
      sim.corrupt({ ...SEND, first: 1 });
      await send(atClient);
      assert.equal(server.counters()['rx_icrc_encapsulated'], 1);
    });
  });

  it('comes later', async () => {
    await simulate(async (sim) => {
      const { atClient } = await connected(sim);
      sim.delay(SEND, 700);
      await send(atClient);
      const [{ sentUs, deliveredUs }] = sim.packets(SEND);
      assert.equal(Math.round(deliveredUs[0] - sentUs), 705);
    });
  });

  it('is shown before it arrives', async () => {
    await simulate(async (sim) => {
      const { server, atClient } = await connected(sim);
      sim.when(SEND, ({ sentUs, fate }) => {
        assert.deepEqual([sentUs, fate], [sim.nowUs, []]);
        server.crash();
      });
      assert.equal((await send(atClient)).status, WcStatus.RETRY_EXC_ERR);
    });
  });

  it('is one of those that are counted', async () => {
    const fates = await sends((sim) => sim.drop({ ...SEND, nth: [1, 3] }));
    assert.deepEqual(fates, [['dropped'], ['delivered']]);
  });

  it('is kept by the rule', () =>
    simulate(async (sim) => {
      const { atClient } = await connected(sim);
      const rule = sim.drop({ ...SEND, first: 2 });
      await send(atClient);
      assert.deepEqual(
        rule.hits.map(({ opcode, from }) => [opcode, from]),
        [
          ['RC_SEND_ONLY', 'client'],
          ['RC_SEND_ONLY', 'client'],
        ],
      );
    }));

  it('passes once the rule has ended', async () => {
    await simulate(async (sim) => {
      const { atClient } = await connected(sim);
      const rule = sim.drop({ ...SEND, optional: true });
      rule.remove();
      await send(atClient);
      assert.deepEqual(rule.hits, []);
    });
  });
});

describe('what packets are matched by', () => {
  const matches: readonly (readonly [PacketMatch, number])[] = [
    [{ opcode: ['RC_SEND_ONLY', 'RC_ACKNOWLEDGE'] }, 2],
    [{ opcode: /SEND/, from: 'client' }, 3],
    [{ ack: 'ACK' }, 1],
    [{ ack: 'NAK' }, 0],
    [{ cm: 'REQ', to: 'server' }, 1],
    [{ cm: ['REQ', 'REP', 'RTU'] }, 3],
    [{ qpn: 1 }, 3],
    [{ where: ({ payload }) => payload.length === 5 }, 1],
    [{}, 5],
  ];
  it('is any of their fields', () =>
    simulate(async (sim) => {
      const { atClient } = await connected(sim);
      await send(atClient);
      assert.deepEqual(
        matches.map(([match]) => sim.packets(match).length),
        matches.map(([, count]) => count),
      );
    }));

  const wrong = [
    { opcode: 'SEND' },
    { opcode: ['RC_SEND_ONLY', 5] },
    { ack: 'RNR' },
    { nak: 'NAK' },
    { cm: 'req' },
    { from: 'nobody' },
    { to: {} },
    { where: 5 },
    { opcodes: 'RC_SEND_ONLY' },
    { nth: 0 },
    { nth: [1, 1.5] },
    { first: -1 },
    { nth: 1, first: 1 },
    5,
  ];
  for (const match of wrong)
    it(`is not ${JSON.stringify(match)}`, () => {
      using sim = new Simulation();
      // That it is no match is the point.
      assert.throws(() => sim.drop(match as RuleMatch), { errno: 'EINVAL' });
    });
});

describe('a name that there is not', () => {
  const wrong: readonly (readonly [name: string, match: object, words: RegExp])[] = [
    ['an opcode by its name in IBTA', { opcode: 'RC_RDMA_READ_RESPONSE_MIDDLE' }, /\. Is it RC_READ_RESP_MIDDLE\?$/],
    ['another', { opcode: 'RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE' }, /\. Is it RC_WRITE_ONLY_IMM\?$/],
    ['a kind of answer', { ack: 'RNR' }, /\. There are ACK, NAK, RNR_NAK$/],
    ['a host', { from: 'sever' }, /sim\.host\(name\) makes one\. Is it server\? There are server, client$/],
    ['a field', { opcodes: 'RC_SEND_ONLY' }, /\. Is it opcode\? There are from, to, opcode/],
  ];
  for (const [name, match, message] of wrong)
    it(`is answered by what may be meant: ${name}`, () => {
      using sim = new Simulation();
      sim.host('server');
      sim.host('client');
      assert.throws(() => sim.drop(match), { errno: 'EINVAL', message });
    });
});

describe('a rule that is never met', () => {
  it('fails the simulation, for it would show nothing', async () => {
    const { message } = await failureOf({}, async (sim) => {
      await connected(sim);
      sim.drop({ ack: 'RNR_NAK', to: 'client', nth: 2 });
    });
    assert.match(message, /no packet ever came for:\n {2}drop number 2 of RNR_NAK to client\n/);
  });

  it('says how many came before the one that it waited for', async () => {
    const { message } = await failureOf({}, async (sim) => {
      sim.drop({ cm: 'REQ', nth: 3 });
      await connected(sim);
    });
    assert.match(message, /drop number 3 of REQ \(1 came\)\n/);
  });

  it('does not where it need not be', () =>
    simulate((sim) => {
      sim.drop({ cm: 'REJ', optional: true });
    }));
});
