import { Cause } from '../verdicts/cause.js';
import { gidFromIp } from '../../../device/ibta/index.js';
import {
  bthDestQp,
  bthPsn,
  crc32,
  createPath,
  OpcodeBit,
  opcodeBits,
  putU16,
  sealIcrc,
} from '../../../device/wire/index.js';
import { QpState, QpType, WcStatus } from '../../../entry/index.js';
import type { Failure, Played } from './failure.js';
import { A, B, PSN, read, send, type Settings, Testbed, write } from './testbed.js';

const NO_ANSWER = /^retry count exceeded: 4 transmissions of PSN 0x[0-9a-f]+ to 10\.0\.0\.2 QP 0x[0-9a-f]+, no answer/;
const THREE_WAYS =
  /nothing ever came back: the peer is not there.*or requests are lost on the way there; or answers are lost on the way back/;
const DIED = /last answer came .* after the beginning: it died/;

const isAnswer = ({ bytes }: { readonly bytes: Uint8Array }): boolean =>
  (opcodeBits[bytes[0]] & OpcodeBit.RESPONSE) !== 0;

/** A WRITE to a peer that is connected, after something has been arranged. */
function attempt(arrange: (testbed: Testbed) => void, a: Settings = {}, b: Settings = {}): () => Played {
  return () => {
    const testbed = new Testbed();
    testbed.connect(a, b);
    arrange(testbed);
    testbed.a.post(write(testbed.a, testbed.b));
    return { testbed, completion: testbed.failure() };
  };
}

/** The same after a first WRITE that went well. */
function afterwards(
  happen: (testbed: Testbed) => void,
  then = (testbed: Testbed) => testbed.a.post(write(testbed.a, testbed.b)),
): () => Played {
  return () => {
    const testbed = new Testbed();
    testbed.connect();
    testbed.a.post(write(testbed.a, testbed.b));
    testbed.completions();
    happen(testbed);
    then(testbed);
    return { testbed, completion: testbed.failure() };
  };
}

const noNumbers = () => undefined;

/** Turns a bit of the payload or of the last header over. */
const damaged = (bytes: Uint8Array): { readonly replace: Uint8Array } => {
  const replace = bytes.slice();
  replace[bytes.length - 5] ^= 4;
  return { replace };
};

/** As a peer of another partition would send it. */
function inPartition(pkey: number, bytes: Uint8Array): { readonly replace: Uint8Array } {
  const replace = bytes.slice();
  putU16(replace, 2, pkey);
  sealIcrc(crc32, createPath({ sgid: gidFromIp(A), dgid: gidFromIp(B) }), replace, 0, replace.length, 0);
  return { replace };
}

/** Nothing comes back, or not what was asked for. */
export const silences: readonly Failure[] = [
  {
    name: 'every request is lost',
    script: attempt((testbed) => {
      testbed.script = ({ from }) => (from === A ? 'drop' : 'pass');
    }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: NO_ANSWER,
    oneSide: { cause: Cause.NO_ANSWER, words: THREE_WAYS },
    bothSides: { cause: Cause.REQUESTS_LOST, words: /sent 4 times .* none of that arrived at 10\.0\.0\.2/ },
  },
  {
    name: 'every acknowledgement is lost',
    script: attempt((testbed) => {
      testbed.script = ({ from }) => (from === B ? 'drop' : 'pass');
    }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: NO_ANSWER,
    oneSide: { cause: Cause.NO_ANSWER, words: THREE_WAYS },
    bothSides: {
      cause: Cause.ANSWERS_LOST,
      words: /it arrived, the peer sent \d+ answers, and none came: answers are lost/,
    },
  },
  {
    name: 'the answers to READs are lost',
    script: () => {
      const testbed = new Testbed();
      testbed.connect();
      testbed.script = (packet) => (isAnswer(packet) ? 'drop' : 'pass');
      testbed.a.post(read(testbed.a, testbed.b, 3000));
      return { testbed, completion: testbed.failure() };
    },
    status: WcStatus.RETRY_EXC_ERR,
    completion: NO_ANSWER,
    oneSide: { cause: Cause.NO_ANSWER, words: /READ of 3000 bytes .* nothing ever came back/ },
    bothSides: { cause: Cause.ANSWERS_LOST, words: /answers are lost on the way back/ },
  },
  {
    name: 'the peer never existed',
    script: attempt(noNumbers, { dgid: gidFromIp('10.0.0.99') }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /^retry count exceeded: 4 transmissions of PSN 0x1000 to 10\.0\.0\.99 .* is the peer alive/,
    oneSide: { cause: Cause.NO_ANSWER, words: /the peer is not there/ },
    // The second capture, which shows nothing, is taken for that of whoever did not answer.
    bothSides: { cause: Cause.REQUESTS_LOST, words: /none of that arrived at 10\.0\.0\.99: .* or nobody is there/ },
  },
  {
    name: 'the peer has died',
    script: afterwards(({ b }) => b.context.close()),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /is the peer alive/,
    oneSide: { cause: Cause.FELL_SILENT, words: DIED },
    bothSides: { cause: Cause.REQUESTS_LOST, words: /none of that arrived/ },
  },
  {
    name: 'the peer crashes in the midst of a WRITE',
    script: afterwards(
      (testbed) => {
        const { network } = testbed.cluster;
        network.setDirection(A, B, { bandwidthBytesPerUs: 100 });
        network.at(testbed.cluster.nowUs + 50, () => network.detach(B));
      },
      ({ a, b }) => a.post(write(a, b, 10_000)),
    ),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /is the peer alive/,
    oneSide: { cause: Cause.FELL_SILENT, words: /WRITE of 10000 bytes .* last answer came .* it died/ },
    bothSides: {
      cause: Cause.FELL_SILENT,
      words: /packets? arrived at 10\.0\.0\.2, of the repeats none, .* died in the midst of it/,
    },
  },
  {
    name: 'the wire is cut both ways after a while',
    script: afterwards(({ cluster }) => cluster.network.partition(A, B)),
    status: WcStatus.RETRY_EXC_ERR,
    completion: NO_ANSWER,
    oneSide: { cause: Cause.FELL_SILENT, words: /or the way there or back was cut/ },
    bothSides: { cause: Cause.REQUESTS_LOST, words: /requests are lost on the way there/ },
  },
  {
    name: 'the way back alone is cut after a while',
    script: afterwards(({ cluster }) => cluster.network.setDirection(B, A, { partitioned: true })),
    status: WcStatus.RETRY_EXC_ERR,
    completion: NO_ANSWER,
    oneSide: { cause: Cause.FELL_SILENT, words: /or the way there or back was cut/ },
    bothSides: { cause: Cause.ANSWERS_LOST, words: /answers are lost on the way back/ },
  },
  {
    name: 'destQpNum names no queue pair',
    script: attempt(noNumbers, { destQpNum: 0x777777 }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /do destQpNum,.* fit/,
    oneSide: { cause: Cause.NO_ANSWER, words: /its queue pair 0x777777 is none/ },
    bothSides: {
      cause: Cause.UNHEARD,
      words: /arrived at 10\.0\.0\.2, which answered nothing: its queue pair 0x777777 is none/,
    },
  },
  {
    name: 'the peer’s queue pair is in INIT',
    script: attempt(noNumbers, {}, { state: QpState.INIT }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /its QP in RTR or RTS/,
    oneSide: { cause: Cause.NO_ANSWER, words: /not in RTR or RTS/ },
    bothSides: { cause: Cause.UNHEARD, words: /answered nothing: .* is not in RTR or RTS/ },
  },
  {
    name: 'the peer’s queue pair goes to ERR',
    script: afterwards(({ b }) => b.qp.modify({ qpState: QpState.ERR })),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /its QP in RTR or RTS/,
    oneSide: { cause: Cause.FELL_SILENT, words: /its queue pair failed or was ended/ },
    bothSides: { cause: Cause.UNHEARD, words: /answered nothing: .* is not in RTR or RTS/ },
  },
  {
    name: 'the peer is connected to somebody else',
    script: attempt(noNumbers, {}, { dgid: gidFromIp('10.0.0.77') }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /fit each other/,
    oneSide: { cause: Cause.NO_ANSWER, words: /or connected to somebody else/ },
    bothSides: { cause: Cause.UNHEARD, words: /or is connected to somebody else than 10\.0\.0\.1/ },
  },
  {
    name: 'the P_Key is of another partition',
    script: attempt((testbed) => {
      testbed.script = ({ from, bytes }) => (from === A ? inPartition(0x8123, bytes) : 'pass');
    }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /P_Keys/,
    oneSide: { cause: Cause.NO_ANSWER, words: /nothing ever came back/ },
    bothSides: { cause: Cause.UNHEARD, words: /P_Key 0x8123 is not the default one/ },
  },
  {
    name: 'every request is damaged on the way',
    script: attempt((testbed) => {
      testbed.script = ({ from, bytes }) => (from === A ? damaged(bytes) : 'pass');
    }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: NO_ANSWER,
    oneSide: { cause: Cause.NO_ANSWER, words: /requests are lost on the way there/ },
    bothSides: { cause: Cause.REQUESTS_DAMAGED, words: /4 packets arrived damaged \(wrong ICRC\)/ },
  },
  {
    name: 'every answer is damaged on the way',
    script: attempt((testbed) => {
      testbed.script = ({ from, bytes }) => (from === B ? damaged(bytes) : 'pass');
    }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: NO_ANSWER,
    oneSide: { cause: Cause.ANSWERS_DAMAGED, words: /came back damaged \(wrong ICRC\)/ },
    bothSides: { cause: Cause.ANSWERS_DAMAGED, words: /something on the way back changes packets/ },
  },
  {
    name: 'the peer expects an earlier PSN',
    script: attempt(noNumbers, {}, { rqPsn: PSN[A] - 100 }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /PSNs? .*fit|rqPsn/,
    oneSide: {
      cause: Cause.PSN_MISMATCH,
      words: /asks for PSN 0xf9c, which the capture never shows being sent: requests begin there at PSN 0x1000/,
    },
  },
  {
    name: 'the peer expects a later PSN',
    script: attempt(noNumbers, {}, { rqPsn: PSN[A] + 100 }),
    status: WcStatus.RETRY_EXC_ERR,
    completion: /PSNs? .*fit|rqPsn/,
    oneSide: { cause: Cause.PSN_MISMATCH, words: /acknowledges PSN 0x1063, which the capture never shows being sent/ },
  },
  {
    name: 'one packet of a message never gets through',
    script: () => {
      const testbed = new Testbed();
      testbed.connect({ timeout: 6 });
      testbed.script = ({ from, bytes }) =>
        from === A && bthPsn(bytes, 0) === PSN[A] + 2 && bthDestQp(bytes, 0) > 1 ? 'drop' : 'pass';
      testbed.a.post(write(testbed.a, testbed.b, 8 * 1024));
      return { testbed, completion: testbed.failure() };
    },
    status: WcStatus.RETRY_EXC_ERR,
    completion:
      /transmissions of PSN 0x1002 .* which it asked for \d+ times .* does something on the path drop or damage it/,
    oneSide: {
      cause: Cause.SEQUENCE,
      words: /asked for PSN 0x1002 \d+ times .* does not get through, while others do/,
    },
  },
  {
    name: 'packets are lost, and sent again in time',
    script: () => {
      const testbed = new Testbed();
      testbed.connect();
      testbed.cluster.network.setDirection(A, B, { loss: 0.2 });
      testbed.a.post(write(testbed.a, testbed.b, 32 * 1024));
      return { testbed, completion: testbed.completions()[0] };
    },
    status: WcStatus.SUCCESS,
    completion: /^success: RDMA_WRITE/,
    oneSide: {
      cause: Cause.REPAIRED,
      words:
        /answered, after \d+ packets had been sent again; sent again: .* after a NAK had asked for it.*packets were lost/,
    },
  },
  {
    name: 'packets over UC are lost',
    script: () => {
      const testbed = new Testbed(QpType.UC);
      testbed.connect();
      testbed.script = ({ from }) => (from === A ? 'drop' : 'pass');
      testbed.a.post(send(testbed.a));
      return { testbed, completion: testbed.completions()[0] };
    },
    status: WcStatus.SUCCESS,
    completion: /^success/,
    oneSide: { cause: Cause.UNACKNOWLEDGED, words: /whether they arrived takes the peer's capture/ },
    bothSides: { cause: Cause.LOST, words: /0 of 1 packet arrived, 1 were lost on the way/ },
  },
];
