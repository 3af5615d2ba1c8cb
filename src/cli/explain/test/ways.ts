import { Cause } from '../verdicts/cause.js';
import { Opcode } from '../../../device/wire/index.js';
import { Mtu, WcStatus } from '../../../entry/index.js';
import type { Failure, Played } from './failure.js';
import { A, B, read, type Settings, Testbed, write } from './testbed.js';

const WIDE = { pathMtu: Mtu.MTU_4096 };

/** Two sides that are connected, something that is arranged, a request of the first, and the completion of its last one. */
function played(ask: (testbed: Testbed) => void, a: Settings = {}, b: Settings = {}): () => Played {
  return () => {
    const testbed = new Testbed();
    testbed.connect(a, b);
    ask(testbed);
    const completions = testbed.completions();
    return { testbed, completion: completions[completions.length - 1] };
  };
}

/** Loses packets of an opcode: those whose numbers among them are given, or all. */
function lose(testbed: Testbed, opcode: number, numbers?: readonly number[]): void {
  let seen = 0;
  testbed.script = ({ bytes }) => {
    if (bytes[0] !== opcode) return 'pass';
    seen += 1;
    return numbers?.includes(seen) === false ? 'pass' : 'drop';
  };
}

const OK = { status: WcStatus.SUCCESS, completion: /^success/ };
const GAVE_UP = { status: WcStatus.RETRY_EXC_ERR, completion: /^retry count exceeded: \d+ transmissions of PSN/ };
const repaired = (words: RegExp) => ({ cause: Cause.REPAIRED, words });
const repeated = (words: RegExp) => ({ cause: Cause.REPEATED, words });

/** What the way between the two, or the time that the peer takes, does to requests. */
export const ways: readonly Failure[] = [
  {
    name: 'the acknowledgement is lost three times',
    script: played((testbed) => {
      lose(testbed, Opcode.RC_ACKNOWLEDGE, [1, 2, 3]);
      testbed.a.post(write(testbed.a, testbed.b));
    }),
    ...OK,
    oneSide: repeated(
      /after 3 packets had been sent again; sent again: 3 without a NAK, before there was an answer; whether packets were lost or answers late takes/,
    ),
    bothSides: repaired(/; 3 answers to 10\.0\.0\.1 lost or damaged on the way$/),
  },
  {
    name: 'a request is damaged once',
    script: played((testbed) => {
      let first = true;
      testbed.script = ({ from }) => {
        const verdict = from === A && first ? 'corrupt' : 'pass';
        first &&= from !== A;
        return verdict;
      };
      testbed.a.post(write(testbed.a, testbed.b));
    }),
    ...OK,
    oneSide: repeated(/after 1 packet had been sent again; sent again: 1 without a NAK, before there was an answer/),
    bothSides: repaired(
      /1 packet to 10\.0\.0\.2 lost or damaged on the way; 1 packet came damaged, with a wrong ICRC$/,
    ),
  },
  {
    name: 'an answer to a READ is lost in the middle',
    script: played((testbed) => {
      lose(testbed, Opcode.RC_READ_RESP_MIDDLE, [3]);
      testbed.a.post(read(testbed.a, testbed.b, 8192));
    }),
    ...OK,
    oneSide: repaired(
      /after 1 packet had been sent again; sent again: 1 because later requests or packets were answered, and it was not/,
    ),
    bothSides: repaired(/; 1 answer to 10\.0\.0\.1 lost or damaged on the way$/),
  },
  {
    name: 'the last answer to a READ never gets through',
    script: played((testbed) => {
      testbed.script = ({ bytes }) =>
        bytes[0] === Opcode.RC_READ_RESP_LAST || bytes[0] === Opcode.RC_READ_RESP_ONLY ? 'drop' : 'pass';
      testbed.a.post(read(testbed.a, testbed.b, 8192));
    }),
    ...GAVE_UP,
    oneSide: { cause: Cause.FELL_SILENT, words: /^READ of 8192 bytes .* was sent \d+ times .* last answer came/ },
    bothSides: {
      cause: Cause.ANSWERS_LOST,
      words: /of the 8 that make it up 7 came, and never that of PSN 0x1007: answers are lost on the way back/,
    },
  },
  {
    name: 'every packet arrives twice',
    script: played((testbed) => {
      testbed.script = () => 'duplicate';
      testbed.a.post(write(testbed.a, testbed.b));
    }),
    ...OK,
    oneSide: { cause: Cause.ANSWERED, words: /at the first attempt/ },
    // Who made the sender's may have missed one.
    bothSides: {
      cause: Cause.ANSWERED,
      words: /the way doubled [12] packets?|[12] packets? more arrived than the captures show sent/,
    },
  },
  {
    name: 'the way there carries short packets only',
    script: played(
      (testbed) => {
        testbed.cluster.network.setDirection(A, B, { mtuBytes: 1500 });
        testbed.a.post(write(testbed.a, testbed.b), write(testbed.a, testbed.b, 8192));
      },
      WIDE,
      WIDE,
    ),
    ...GAVE_UP,
    oneSide: {
      cause: Cause.FELL_SILENT,
      words: /with 64 bytes of data at most got through, and none with 4096: .* MTU/,
    },
    bothSides: {
      cause: Cause.REQUESTS_LOST,
      words: /64 bytes of data at most got through, and none with 4096: .* MTU/,
    },
  },
  {
    name: 'the way back carries short packets only',
    script: played(
      (testbed) => {
        testbed.cluster.network.setDirection(B, A, { mtuBytes: 1500 });
        testbed.a.post(write(testbed.a, testbed.b, 8192), read(testbed.a, testbed.b, 8192));
      },
      WIDE,
      WIDE,
    ),
    ...GAVE_UP,
    oneSide: { cause: Cause.FELL_SILENT, words: /^READ of 8192 bytes/ },
    bothSides: { cause: Cause.ANSWERS_LOST, words: /packets without data got through, and none with 4096: .* MTU/ },
  },
  {
    name: 'the way takes longer than the requester waits',
    script: played(
      (testbed) => {
        testbed.cluster.network.setConditions({ delayUs: 50_000 });
        testbed.a.post(write(testbed.a, testbed.b));
      },
      { timeout: 10 },
    ),
    ...GAVE_UP,
    oneSide: {
      cause: Cause.ANSWERED_LATE,
      words:
        /at most 4\.2 ms apart, then no more, and was answered 87\.4 ms after that; the peer was busy or stood still, or the way takes that long; No capture shows whether the requester still waited/,
    },
    bothSides: {
      cause: Cause.ANSWERED_LATE,
      words: /10\.0\.0\.2 answered 0 µs after it came: the way takes that long, or/,
    },
  },
  {
    name: 'the way takes longer than the first of several tries',
    script: played(
      (testbed) => {
        testbed.cluster.network.setConditions({ delayUs: 5_000 });
        testbed.a.post(write(testbed.a, testbed.b));
      },
      { timeout: 10 },
    ),
    ...OK,
    oneSide: repeated(/without a NAK, before there was an answer/),
    bothSides: repeated(/no fewer packets arrived than (the captures show sent|were sent), either way/),
  },
  {
    name: 'the peer stands still until the requester has given up',
    script: played((testbed) => {
      const { a, b, cluster } = testbed;
      a.post(write(a, b));
      testbed.completions();
      cluster.pause(b.context);
      cluster.network.at(cluster.nowUs + 30e6, () => cluster.resume(b.context));
      a.post(write(a, b));
    }),
    ...GAVE_UP,
    oneSide: { cause: Cause.ANSWERED_LATE, words: /the peer was busy or stood still, or the way takes that long/ },
    bothSides: {
      cause: Cause.ANSWERED_LATE,
      words: /answered 0 µs after it came: .* or all of that machine stood still/,
    },
  },
  {
    name: 'the peer has started anew',
    script: played((testbed) => {
      const { a, b, cluster } = testbed;
      a.post(write(a, b));
      testbed.completions();
      b.qp.destroy();
      a.post(write(a, b));
      cluster.run(cluster.nowUs + 1e6);
    }),
    ...GAVE_UP,
    oneSide: { cause: Cause.FELL_SILENT, words: /it died, its queue pair failed or was ended/ },
    bothSides: { cause: Cause.UNHEARD, words: /is none any more \(one that has started anew has others\)/ },
  },
];
