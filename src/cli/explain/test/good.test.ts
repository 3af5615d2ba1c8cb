import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cause } from '../verdicts/cause.js';
import { WrOpcode } from '../../../entry/index.js';
import { causesOf, type Stories, storiesIn, wordsOf } from './captured.js';
import { A, B, read, send, Testbed, write } from './testbed.js';

/** Something that goes well, and what captures may make of it. */
interface GoodRun {
  readonly name: string;
  readonly script: (testbed: Testbed) => void;
  /** Where nothing is repeated, in the captures of either side; else it may say that something was. */
  readonly repeats?: true;
}

function everyKind({ a, b }: Testbed): void {
  b.receive(8192);
  const atomic = { remoteAddr: b.mr.addr, rkey: b.mr.rkey, compareAdd: 1n };
  a.post(
    write(a, b, 8192),
    read(a, b, 8192),
    { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: [a.mr.sge(0, 8)], atomic },
    send(a, 5000),
  );
}

const goodRuns: readonly GoodRun[] = [
  {
    name: 'requests of every kind, with pauses between them',
    script: (testbed) => {
      for (const pauseUs of [1, 300, 5_000, 2e6]) {
        everyKind(testbed);
        testbed.run(pauseUs);
      }
    },
  },
  {
    name: 'many requests at once, in both directions',
    script: (testbed) => {
      const { a, b } = testbed;
      for (const [from, to] of [
        [a, b],
        [b, a],
      ] as const)
        from.post(
          ...Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? read(from, to, 20_000) : write(from, to, 20_000))),
        );
    },
  },
  {
    name: 'the end of a burst that asks for no acknowledgement',
    script: ({ a, b }) => {
      for (let i = 0; i < 3; i += 1) a.qp.postSend(write(a, b));
    },
    repeats: true,
  },
  {
    name: 'an answer that takes longer than answers did before',
    script: (testbed) => {
      const { a, b, cluster } = testbed;
      for (let i = 0; i < 20; i += 1) {
        a.post(write(a, b), read(a, b, 4096));
        testbed.run(100);
        a.cq.poll(64);
      }
      cluster.network.setConditions({ delayUs: 8_000 });
      a.post(write(a, b));
      testbed.run();
      a.post(read(a, b, 8192));
    },
    repeats: true,
  },
  {
    name: 'a network that doubles every packet',
    script: (testbed) => {
      testbed.script = () => 'duplicate';
      everyKind(testbed);
    },
  },
];

function play({ script }: GoodRun): Testbed {
  const testbed = new Testbed();
  testbed.connect();
  script(testbed);
  testbed.run();
  return testbed;
}

const AT_LAST: ReadonlySet<Cause> = new Set([Cause.ANSWERED, Cause.REPEATED]);

describe('of what went well, captures tell nothing else', () => {
  for (const run of goodRuns) {
    const views: readonly (readonly [name: string, of: (testbed: Testbed) => Stories])[] = [
      ['the requester’s', ({ a }) => storiesIn(a.capture)],
      ['both', ({ a, b }) => storiesIn(a.capture, b.capture)],
      ['both, the responder’s by tcpdump', ({ a, b }) => storiesIn(a.capture, b.undirected)],
      ['both, the requester’s by tcpdump', ({ a, b }) => storiesIn(a.undirected, b.capture)],
      ['both, the requester’s before segmentation', ({ a, b }) => storiesIn(a.renumbered, b.capture)],
      ['both, the responder’s before segmentation', ({ a, b }) => storiesIn(a.capture, b.renumbered)],
      ['both, the requester’s by tcpdump before segmentation', ({ a, b }) => storiesIn(a.unsegmented, b.capture)],
      ['both, by tcpdump', ({ a, b }) => storiesIn(b.undirected, a.undirected)],
    ];
    for (const [view, of] of views)
      it(`${run.name}: ${view}`, () => {
        const stories = of(play(run)).filter(({ study }) => study.atRequester);
        assert.ok(stories.length > 0);
        for (const { verdict } of stories) {
          if (run.repeats) assert.ok(AT_LAST.has(verdict.cause), `${verdict.cause}: ${verdict.text}`);
          else assert.deepEqual(verdict.cause, Cause.ANSWERED, verdict.text);
          assert.doesNotMatch(wordsOf(verdict), /not seen whole|the captures lack|damaged/);
        }
      });
    it(`${run.name}: the responder’s, and one from the way`, () => {
      const { b, a } = play(run);
      for (const { verdict } of [...storiesIn(b.capture), ...storiesIn(a.undirected), ...storiesIn(a.unsegmented)]) {
        assert.ok(AT_LAST.has(verdict.cause), `${verdict.cause}: ${verdict.text}`);
        assert.doesNotMatch(wordsOf(verdict), /answers late|had waited|timeout|damaged/);
      }
    });
  }

  it('says of what came twice that it was sent again or doubled, where only the requester could tell', () => {
    const testbed = new Testbed();
    testbed.connect();
    testbed.script = () => 'duplicate';
    testbed.a.post(write(testbed.a, testbed.b));
    testbed.run();
    const [{ verdict }] = storiesIn(testbed.b.capture);
    assert.match(wordsOf(verdict), /1 packet came by once more just as before: sent again, or doubled on the way/);
    const [{ verdict: both }] = storiesIn(testbed.a.capture, testbed.b.capture);
    assert.match(wordsOf(both), /at the first attempt; the way doubled 2 packets$/);
  });

  it('takes a request that was not answered when the capture ends for no failure', () => {
    const testbed = new Testbed();
    testbed.connect();
    testbed.script = ({ from }) => (from === B ? 'drop' : 'pass');
    testbed.a.post(write(testbed.a, testbed.b));
    testbed.run(100);
    assert.deepEqual(causesOf(storiesIn(testbed.a.capture)), [Cause.UNFINISHED]);
    assert.deepEqual(causesOf(storiesIn(testbed.a.capture, testbed.b.capture)), [Cause.UNFINISHED]);
  });
});

describe('what is said of losses is what was done to packets', () => {
  for (let seed = 1; seed <= 8; seed += 1)
    it(`by chance, from seed ${seed}`, () => {
      const testbed = new Testbed();
      testbed.connect({ timeout: 6 });
      const done = { [A]: 0, [B]: 0 };
      let state = seed;
      testbed.script = ({ from }) => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
        const chance = (state >>> 8) % 100;
        if (chance >= 12) return 'pass';
        done[from === A ? A : B] += 1;
        return chance < 8 ? 'drop' : 'corrupt';
      };
      const { a, b } = testbed;
      for (let i = 0; i < 6; i += 1) a.post(i % 2 === 0 ? write(a, b, 12_000) : read(a, b, 12_000));
      testbed.run();
      for (const captures of [
        [a.capture, b.capture],
        [a.undirected, b.capture],
        [a.renumbered, b.renumbered],
        [b.undirected, a.undirected],
      ]) {
        const [{ verdict }] = storiesIn(...captures);
        const told = (words: RegExp): number => Number(words.exec(wordsOf(verdict))?.[1] ?? 0);
        assert.equal(verdict.cause, Cause.REPAIRED, verdict.text);
        assert.equal(told(/(\d+) packets? to 10\.0\.0\.2 lost or damaged on the way/), done[A], verdict.text);
        assert.equal(told(/(\d+) answers? to 10\.0\.0\.1 lost or damaged on the way/), done[B], verdict.text);
      }
    });
});
