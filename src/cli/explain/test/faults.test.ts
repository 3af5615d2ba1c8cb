import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { CaptureError, LinkType, Opcode, pcapngHeader, pcapngPacket, readCapture } from '../../../device/wire/index.js';
import { goldenFile, goldenNames } from '../../../device/wire/test/golden.js';
import { runTool } from '../../test/in-process.js';
import { Cause } from '../verdicts/cause.js';
import { Sightings } from '../captures/sightings.js';
import { failed, storyJson, storyLines } from '../print.js';
import { readCaptures, storiesOf } from '../read.js';
import { causesOf, sightingsIn, storiesIn, wordsOf } from './captured.js';
import {
  A,
  ack,
  B,
  capture,
  cnp,
  connection,
  packet,
  readRequest,
  REMOTE_ACCESS,
  responses,
  send,
  timed,
  write,
} from './generated.js';

/** What captures of other people's stacks got wrong verdicts for, each with others of its kind. */

const folder = mkdtempSync(join(tmpdir(), 'verbena-explain-faults-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(bytes: Uint8Array): string {
  files += 1;
  const path = join(folder, `${files}.pcapng`);
  writeFileSync(path, bytes);
  return path;
}

const explain = (captures: readonly Uint8Array[], ...options: readonly string[]) =>
  runTool('explain', [...options, ...captures.map(fileOf)]);

/** The verdict on the requests of A to B. */
function told(...captures: readonly Uint8Array[]): {
  readonly cause: Cause;
  readonly text: string;
  readonly words: string;
} {
  const [{ verdict }] = storiesIn(...captures);
  return { cause: verdict.cause, text: verdict.text, words: wordsOf(verdict) };
}

describe('a request with a PSN of a READ’s responses', () => {
  const cases: readonly (readonly [string, Uint8Array[]])[] = [
    [
      'a SEND after the READ was answered',
      [readRequest(100, 3072), ...responses(100, [1024, 1024, 1024]), send(102), ack(0xffffff)],
    ],
    [
      'a WRITE, whose repeat is acknowledged',
      [readRequest(100, 2048), ...responses(100, [1024, 1024]), write(101), ack(101)],
    ],
    ['another READ', [readRequest(100, 4096), ...responses(100, [1024, 1024, 1024, 1024]), readRequest(101, 64)]],
  ];
  for (const [name, packets] of cases)
    it(`is named as the requester’s mistake: ${name}`, () => {
      const { cause, words } = told(capture(packets));
      assert.equal(cause, Cause.PSN_REUSED);
      assert.match(words, /has a PSN of the READ's responses \(0x64 to 0x6[5-7]\).*a mistake of 198\.51\.100\.1/);
    });

  it('is none where the READ takes one PSN, or the request comes after all of them', () => {
    const packets = [readRequest(100, 1024), ...responses(100, [1024]), send(101), ack(101, 2)];
    assert.equal(told(capture(packets)).cause, Cause.ANSWERED);
    const three = [readRequest(100, 3072), ...responses(100, [1024, 1024, 1024]), send(103), ack(103, 2)];
    assert.equal(told(capture(three)).cause, Cause.ANSWERED);
  });

  it('ends with 1', async () => {
    assert.equal((await explain([capture(cases[0][1])])).status, 1);
  });
});

describe('an answer acknowledges only what was sent before it', () => {
  it('not a request that comes later', () => {
    const packets = [ack(7, 1), write(5), ack(5, 1), write(6), write(7)];
    const { cause, words } = told(capture(packets));
    assert.equal(cause, Cause.UNFINISHED);
    assert.match(words, /PSN 0x6/);
  });

  it('and what is acknowledged is no good answer if it was never asked for', () => {
    const [{ happenings }] = storiesIn(capture([write(5), ack(0xffffff)]));
    assert.doesNotMatch([...happenings].map(({ text }) => text).join(), /last good answer/);
  });

  it('but one whose capture is a little out of order counts', () => {
    const [request, answer] = [write(5), ack(5)];
    assert.equal(
      told(
        timed([
          [0, write(4)],
          [0.001, ack(4)],
          [0.002, answer],
          [0.00201, request],
        ]),
      ).cause,
      Cause.ANSWERED,
    );
  });
});

describe('different requests with the same PSN', () => {
  for (const [name, packets] of [
    ['WRITEs to different addresses', [0, 16, 32].map((n) => write(0, { va: 0x1000 + n }))],
    ['a WRITE and a READ', [write(0), readRequest(0, 16)]],
    ['SENDs of different lengths', [send(0, { bytes: 16 }), send(0, { bytes: 20 }), ack(0)]],
  ] as const)
    it(`are not taken for repeats: ${name}`, () => {
      const { cause, text } = told(capture(packets));
      assert.equal(cause, Cause.PSN_REUSED);
      assert.match(text, /different requests have the same PSN 0x0/);
    });

  it('are not taken for repeats where only their payloads differ, and PSNs never advance', () => {
    for (const ipId of [1, 2]) {
      const packets = [0, 1, 2].map((n) => send(0, { fill: n, ipId: ipId * n + 1 }));
      const { cause, text } = told(capture(packets.flatMap((one) => [one, ack(0)])));
      assert.equal(cause, Cause.PSN_REUSED);
      assert.match(text, /all requests have the same PSN 0x0/);
    }
    const again = [1, 2, 3].map((ipId) => send(0, { ipId }));
    assert.equal(told(capture([...again, ack(0)])).cause, Cause.REPEATED);
  });

  it('and the same request sent again is a repeat', () => {
    assert.equal(told(capture([write(0), write(0), ack(0)])).cause, Cause.REPEATED);
  });
});

describe('queue pair numbers that are used again', () => {
  it('without connection managers: two halves, each with its own answers', () => {
    const stories = storiesIn(
      timed([
        [0, write(0xd2ae15)],
        [0.001, ack(0xd2ae15)],
        [20, write(0x12eb6e, { va: 0x9000, rkey: 2 })],
        [20.001, ack(0x12eb6e)],
      ]),
    );
    assert.deepEqual(causesOf(stories), [Cause.ANSWERED, Cause.ANSWERED]);
  });

  it('by a program that always begins with PSN 0', () => {
    const run = (seconds: number, rkey: number) =>
      [0, 1, 2].flatMap((psn) => [
        [seconds + psn / 100, write(psn, { rkey })] as const,
        [seconds + psn / 100 + 0.001, ack(psn, psn + 1)] as const,
      ]);
    assert.deepEqual(causesOf(storiesIn(timed([...run(0, 1), ...run(5, 2)]))), [Cause.ANSWERED, Cause.ANSWERED]);
  });

  for (const pause of [22, 0.05])
    it(`by what connection managers say, after ${pause} s`, async () => {
      const packets = [0, 1].flatMap((i) => {
        const t = i * (pause + 3);
        const qpn = 0x26 + i;
        const [psnA, psnB] = [i === 0 ? 0x776705 : 0xf79d94, i === 0 ? 0xd2ae15 : 0x92eb6e];
        const { req, rep, rtu, dreq, drep } = connection(0x3c0 + i, 0x5d0 + i, qpn, 0x11, psnB);
        const back = { from: B, to: A, qpn };
        return [
          [t, req],
          [t + 0.001, rep],
          [t + 0.002, rtu],
          [t + 0.003, send(psnA, { qpn: 0x11 })],
          [t + 0.004, ack(psnA, 1, { qpn })],
          [t + 0.005, write(psnB, back)],
          [t + 0.006, ack(psnB, 1, { from: A, to: B, qpn: 0x11 })],
          [t + 2, dreq],
          [t + 2.001, drep],
        ] as const;
      });
      const stories = storiesIn(timed(packets));
      assert.deepEqual(
        causesOf(stories),
        Array.from({ length: 4 }, () => Cause.ANSWERED),
      );
      assert.deepEqual(
        stories.map(({ study: { half } }) => [half.qpn, half.answersQpn]),
        [
          [0x11, 0x26],
          [0x26, 0x11],
          [0x11, 0x27],
          [0x27, 0x11],
        ],
      );
      for (const { study } of stories) assert.equal(study.requests.length, 1);
      assert.equal((await explain([timed(packets)])).status, 0);
    });
});

describe('a message whose beginning the capture lacks', () => {
  it('is not joined to the one before', () => {
    const packets = [send(5, { bytes: 4 }), ack(5), send(7, { opcode: Opcode.RC_SEND_LAST, bytes: 8 }), ack(7, 2)];
    const [{ study, verdict }] = storiesIn(capture(packets));
    assert.equal(verdict.cause, Cause.ANSWERED);
    assert.deepEqual(
      [...study.requests].map(({ lengthBytes }) => lengthBytes),
      [4, 8],
    );
  });
});

describe('packets without a right ICRC', () => {
  const blank =
    (value: number) =>
    (bytes: Uint8Array): Uint8Array => {
      const copy = bytes.slice();
      copy.fill(value, copy.length - 4);
      return copy;
    };
  const packets = [write(0), ack(0), write(1), ack(1, 2)];
  for (const [name, change] of [
    ['all zeros', blank(0)],
    ['a placeholder', blank(0xef)],
    [
      'changed addresses',
      (bytes: Uint8Array, i: number) => {
        const copy = bytes.slice();
        copy[12 + (i % 2 === 0 ? 0 : 4)] = 10;
        return copy;
      },
    ],
  ] as const)
    it(`count, with a warning: ${name}`, async () => {
      const { stdout, stderr, status } = await explain([capture(packets.map(change))]);
      assert.match(stdout, /ANSWERED: /);
      assert.match(stderr, /2 packets of (198|10)\.51\.100\.1 with .* counted as if it were right/);
      assert.equal(status, 0);
    });

  it('of one host only count as well', async () => {
    const { stdout, stderr } = await explain([
      capture(packets.map((bytes, i) => (i % 2 === 0 ? blank(0)(bytes) : bytes))),
    ]);
    assert.match(stdout, /ANSWERED: /);
    assert.match(stderr, /2 packets of 198\.51\.100\.1 with ICRC 0x00000000 counted/);
  });

  it('of one host only count where they were answered, whatever they are', async () => {
    const garbage = (bytes: Uint8Array, i: number): Uint8Array => {
      const copy = bytes.slice();
      if (i % 2 === 0) copy.set([1, 2, 3, i], copy.length - 4);
      return copy;
    };
    const { stdout, stderr } = await explain([capture(packets.map(garbage))]);
    assert.match(stdout, /ANSWERED: /);
    assert.match(stderr, /2 packets of 198\.51\.100\.1 with a wrong ICRC counted/);
    const unanswered = [write(0), write(1), write(0), write(1), write(0), write(1)].map((bytes, i) =>
      garbage(bytes, 2 * i),
    );
    assert.deepEqual(storiesIn(capture(unanswered)), []);
  });

  it('are damaged where others of the same host are right', () => {
    const damaged = packets.map((bytes, i) => (i === 2 ? blank(7)(bytes) : bytes));
    const [{ study }] = storiesIn(capture(damaged));
    assert.equal(study.half.damaged.length, 1);
  });
});

describe('files that continue each other', () => {
  const packets = Array.from({ length: 20 }, (_, psn) => [write(psn), ack(psn, psn + 1)]).flat();
  for (const [name, parts] of [
    ['two, by the clock', [capture(packets.slice(0, 21)), capture(packets.slice(21), 0.021)]],
    ['two whose clocks both begin at 0', [capture(packets.slice(0, 21)), capture(packets.slice(21))]],
    [
      'three, in any order',
      [capture(packets.slice(25), 0.025), capture(packets.slice(0, 9)), capture(packets.slice(9, 25), 0.009)],
    ],
  ] as const)
    it(`are one: ${name}`, async () => {
      const { stdout, status } = await explain(parts);
      assert.match(
        stdout,
        /asked for: 20 WRITE;.*\n.*\n {2}ANSWERED: everything that came by was answered at the first attempt\n$/,
      );
      assert.doesNotMatch(stdout, /taken for what was seen/);
      assert.equal(status, 0);
    });

  it('are not those of both sides', () => {
    const there = timed(packets.map((bytes, i) => [i / 1000 + 0.0001, bytes] as const));
    const { placements } = sightingsIn(capture(packets), there);
    assert.equal(placements.length, 2);
  });
});

describe('packets that tcpdump sees on several interfaces', () => {
  /** A cooked frame. @param kind 0 came in, 4 went out */
  const cooked = (bytes: Uint8Array, index: number, kind: number): Uint8Array => {
    const header = Buffer.from('08000000000000000001000600000000000000' + '00', 'hex');
    header.writeUInt32BE(index, 4);
    header[10] = kind;
    return Buffer.concat([header, bytes]);
  };
  const any = (frames: readonly (readonly [us: number, frame: Uint8Array])[]): Uint8Array =>
    Buffer.concat([
      pcapngHeader({ linkType: LinkType.LINUX_SLL2 }),
      ...frames.map(([us, frame]) => pcapngPacket(1_700_000_000_000_000_000n + BigInt(us * 1000), frame)),
    ]);
  const packets = [write(0), ack(0), write(1), ack(1, 2)];

  it('are one each: a bond', async () => {
    const file = any(
      packets.flatMap((bytes, i) => {
        const kind = i % 2 === 0 ? 4 : 0;
        return [
          [i * 1000, cooked(bytes, 2, kind)],
          [i * 1000 + 0.5, cooked(bytes, 3, kind)],
        ] as const;
      }),
    );
    const { stdout, stderr } = await explain([file]);
    assert.match(stdout, /seen at 198\.51\.100\.1\n.*\n.*\n {2}ANSWERED: .* at the first attempt/);
    assert.match(stderr, /4 copies of packets on other interfaces left out/);
  });

  it('are one each where the header names no interface', () => {
    const old = (bytes: Uint8Array, kind: number): Uint8Array =>
      Buffer.concat([Buffer.from(`000${kind}00010006` + '0000000000000000' + '0800', 'hex'), bytes]);
    const file = Buffer.concat([
      pcapngHeader({ linkType: LinkType.LINUX_SLL }),
      ...packets.flatMap((bytes, i) =>
        [0, 1000].map((ns) =>
          pcapngPacket(1_700_000_000_000_000_000n + BigInt(i * 1_000_000 + ns), old(bytes, i % 2 === 0 ? 4 : 0)),
        ),
      ),
    ]);
    assert.equal(told(file).cause, Cause.ANSWERED);
  });

  it('are seen on the way where one interface sends what came by the other', () => {
    const file = any(
      packets.flatMap((bytes, i) => [
        [i * 1000, cooked(bytes, 2, 0)] as const,
        [i * 1000 + 5, cooked(bytes, 3, 4)] as const,
      ]),
    );
    const [{ study, verdict }] = storiesIn(file);
    assert.deepEqual([study.atRequester, study.atResponder, verdict.cause], [false, false, Cause.ANSWERED]);
  });

  it('and those that all came in, as tcpdump shows the loopback interface, were seen on the way', () => {
    for (const kind of [0, 4]) {
      const file = any(packets.map((bytes, i) => [i * 1000, cooked(bytes, 1, kind)] as const));
      const [{ study, verdict }] = storiesIn(file);
      assert.deepEqual([study.atRequester, study.atResponder, verdict.cause], [false, false, Cause.ANSWERED]);
    }
  });

  it('but what leaves and comes in again was seen at both ends, as on the loopback interface', () => {
    for (const [out, back] of [
      [1, 1],
      [2, 3],
    ]) {
      const file = any(
        packets.flatMap((bytes, i) => [
          [i * 1000, cooked(bytes, out, 4)] as const,
          [i * 1000 + 5, cooked(bytes, back, 0)] as const,
        ]),
      );
      const [{ study, verdict }] = storiesIn(file);
      assert.deepEqual([study.atRequester, study.atResponder, verdict.cause], [true, true, Cause.ANSWERED]);
    }
  });

  it('but sent again on the same interface they are repeats', () => {
    const file = any([
      [0, cooked(write(0), 2, 4)],
      [500, cooked(write(0), 2, 4)],
      [900, cooked(ack(0), 3, 0)],
    ]);
    assert.equal(told(file).cause, Cause.REPEATED);
  });
});

describe('files that are cut', () => {
  it('within packets (-s 64): READs and WRITEs are counted and answered', () => {
    const packets = [
      readRequest(100, 2048),
      ...responses(100, [1024, 1024]),
      write(102, { bytes: 600 }),
      ack(102, 2),
      send(103),
      ack(103, 3),
    ];
    const [{ study, verdict, happenings }] = storiesIn(
      Buffer.concat([
        pcapngHeader({ linkType: LinkType.RAW }),
        ...packets.map((bytes, i) =>
          pcapngPacket(BigInt(i) * 1_000_000n, bytes.subarray(0, 50), { originalLength: bytes.length }),
        ),
      ]),
    );
    assert.equal(verdict.cause, Cause.ANSWERED);
    assert.equal(study.requests.length, 3);
    assert.match([...happenings][0].text, /1 READ, 1 WRITE, 1 SEND; the first is READ of unknown length \(PSN 0x64\)/);
  });

  it('within the last record: the story is told, and then that the file ends too early', async () => {
    const whole = capture([write(0), ack(0), write(1), ack(1, 2)]);
    const { stdout, stderr, status } = await explain([whole.subarray(0, whole.length - 20)]);
    assert.match(stdout, /asked for: 2 WRITE/);
    assert.match(stderr, /the capture is cut short: .* after packet 3/);
    assert.equal(status, 2);
  });

  it('to one direction: whether requests were answered does not show', async () => {
    const { req, rtu, dreq } = connection(1, 2, 0x26, 0x11, 5);
    const file = timed([
      [0, req],
      [0.002, rtu],
      [0.003, send(7, { qpn: 0x11 })],
      [0.004, send(8, { qpn: 0x11 })],
      [2, dreq],
    ]);
    const { stdout, status } = await explain([file]);
    assert.doesNotMatch(stdout, /nobody is there|nothing came back/);
    assert.match(stdout, /UNFINISHED: SEND .*: the captures have no packet of the responder/);
    assert.match(stdout, /no packet of 198\.51\.100\.2 was captured: one direction is missing/);
    assert.equal(status, 0);
    assert.deepEqual(failed(sightingsIn(file)), []);
  });
});

describe('what is skipped is told', () => {
  it('with the link type', async () => {
    const file = Buffer.concat([pcapngHeader({ linkType: 197 }), pcapngPacket(0n, new Uint8Array(60))]);
    const { stdout, stderr } = await explain([file]);
    assert.equal(stdout, 'no requests in the capture\n');
    assert.match(stderr, /: 1 other frames skipped \(1 of an unknown link type: 197 \(ERF\)\)\n$/);
  });

  it('with the port, and that a sender swaps its ports', async () => {
    const answer = ack(0);
    answer.copyWithin(22, 20, 22);
    answer.set([0x12, 0xb7, 0x48, 0x53], 20);
    const { stderr } = await explain([capture([write(0), answer])]);
    assert.match(stderr, /1 another UDP port: port 18515; 1 of them from UDP port 4791: a sender that swaps the ports/);
  });

  it('as fields with --json', async () => {
    const file = Buffer.concat([pcapngHeader({ linkType: 197 }), pcapngPacket(0n, new Uint8Array(60))]);
    const { stdout } = await explain([file], '--json');
    const json: unknown = JSON.parse(stdout);
    assert.ok(typeof json === 'object' && json !== null && 'skipped' in json);
    assert.deepEqual(json.skipped, [
      { reason: 'of an unknown link type', frames: 1, details: [{ what: '197 (ERF)', frames: 1 }] },
    ]);
  });
});

describe('congestion', () => {
  it('shows: marks of ECN and notifications, by queue pair', async () => {
    const file = capture([write(0, { ecn: 3 }), write(1, { ecn: 2 }), ack(1, 2), cnp(0x118), cnp(0x118)]);
    const { stdout } = await explain([file]);
    assert.match(stdout, /congestion\n.* 198\.51\.100\.1 > 198\.51\.100\.2 queue pair 0x22: 1 of 2 packets marked CE/);
    assert.match(stdout, /198\.51\.100\.2 > 198\.51\.100\.1 queue pair 0x118: 2 CNPs/);
  });

  it('shows in a capture of notifications alone', async () => {
    const { stdout } = await explain([capture([cnp(0x118)])]);
    assert.match(stdout, /^congestion\n.*queue pair 0x118: 1 CNP /);
  });
});

describe('a request that was never answered', () => {
  const { req, rep, rtu, dreq, drep } = connection(1, 2, 0x26, 0x11, 5);
  for (const [name, file, cause] of [
    [
      'before the connection was ended',
      timed([
        [0, req],
        [0.001, rep],
        [0.002, rtu],
        [0.003, send(5, { qpn: 0x11 })],
        [0.004, ack(5, 1, { qpn: 0x26 })],
        [0.005, send(6, { qpn: 0x11 })],
        [2, dreq],
        [2.001, drep],
      ]),
      Cause.DISCONNECTED,
    ],
    [
      'while the capture went on',
      timed([
        [0, write(0)],
        [0.001, ack(0)],
        [0.002, write(1)],
        [5, cnp(0x99)],
      ]),
      Cause.NEVER_ANSWERED,
    ],
    [
      'after a refusal',
      timed([
        [0, write(0)],
        [0.001, ack(0, 0, { syndrome: REMOTE_ACCESS })],
      ]),
      Cause.REMOTE_ACCESS,
    ],
  ] as const)
    it(`ends with 1: ${name}`, async () => {
      const { status, stdout } = await explain([file]);
      assert.match(stdout, new RegExp(` {2}${cause.toUpperCase()}: `));
      assert.equal(status, 1);
    });

  it('at the end of the capture ends with 0', async () => {
    assert.equal((await explain([capture([write(0), ack(0), write(1)])])).status, 0);
  });
});

describe('captures of both sides', () => {
  it('are put on one clock by the packets that both saw', () => {
    const directed = (side: 'a' | 'b', shiftMs: number): Uint8Array => {
      const packets = Array.from({ length: 10 }, (_, psn) => [write(psn), ack(psn, psn + 1)]).flat();
      return Buffer.concat([
        pcapngHeader({ linkType: LinkType.RAW }),
        ...packets.map((bytes, i) => {
          const isOut = (i % 2 === 0) === (side === 'a');
          const us = i * 1000 + (isOut ? 0 : 100) + shiftMs * 1000;
          return pcapngPacket(1_700_000_000_000_000_000n + BigInt(us * 1000), bytes, {
            direction: isOut ? 'out' : 'in',
          });
        }),
      ]);
    };
    for (const shiftMs of [0, 700, -4000]) {
      const sightings = sightingsIn(directed('a', 0), directed('b', shiftMs));
      const [{ study, verdict }] = storiesIn(directed('a', 0), directed('b', shiftMs));
      assert.equal(verdict.cause, Cause.ANSWERED);
      const { packets } = study.requests;
      for (let one = 0; one < packets.length; one += 1) {
        const [sent, arrived] = [packets.sent.first(one), packets.arrived.first(one)];
        const delayUs = sightings.timeUs(arrived) - sightings.timeUs(sent);
        assert.ok(delayUs >= 0 && delayUs <= 200, `${delayUs} us by a clock that is ${shiftMs} ms off`);
      }
    }
  });
});

describe('what a file may look like', () => {
  it('in reverse', () => {
    const file = capture([write(0), ack(0), write(1), ack(1, 2)]);
    const records = [...readCapture(file)].reverse();
    const reversed = Buffer.concat([
      pcapngHeader({ linkType: LinkType.RAW }),
      ...records.map(({ timestampNs, data }) => pcapngPacket(timestampNs, data)),
    ]);
    assert.equal(told(reversed).cause, Cause.ANSWERED);
  });

  it('compressed', async () => {
    const file = capture([write(0), ack(0)]);
    assert.equal((await explain([gzipSync(file)])).stdout, (await explain([file])).stdout);
  });

  it('in ERSPAN', () => {
    const outer = '4500000000004000ff2f0000c0000201c0000202100088be000000011001000000000000';
    const wrap = (bytes: Uint8Array): Uint8Array =>
      Buffer.concat([Buffer.from(`${outer}0200000000020200000000010800`, 'hex'), bytes]);
    assert.equal(told(capture([write(0), ack(0)].map(wrap))).cause, Cause.ANSWERED);
  });

  it('with packets of an unknown opcode, which are counted', async () => {
    const { stderr } = await explain([
      capture([write(0), ack(0), packet(0xee, 0, new Uint8Array(0), new Uint8Array(4))]),
    ]);
    assert.match(stderr, /1 packet with an unknown opcode or no whole BTH left out/);
  });
});

describe('more packets than memory', () => {
  it('end with a sentence', async () => {
    const packets = Array.from({ length: 20 }, (_, psn) => [write(psn), ack(psn, psn + 1)]).flat();
    const file = fileOf(capture(packets));
    await assert.rejects(readCaptures([file], undefined, 30 * 200), {
      message: `${file}: more than 40 packets do not fit into memory: they need 200 bytes each, and 0 MiB are free. Split the capture (editcap -c 40) or filter it (tshark -Y).`,
    });
    assert.equal((await readCaptures([file], undefined, 40 * 200)).table.packets, 40);
  });
});

describe('thousands of queue pairs between two hosts', () => {
  it('each get their own answers', () => {
    const pairs = 2000;
    const packets = Array.from({ length: pairs }, (_, i) => {
      const psn = (i * 7919) & 0xffffff;
      return [write(psn, { qpn: 0x1000 + i }), ack(psn, 1, { qpn: 0x100000 + i })];
    });
    const stories = storiesIn(timed(packets.flat().map((bytes, i) => [i / 1e5, bytes] as const)));
    assert.equal(stories.length, pairs);
    for (const { study, verdict } of stories) {
      assert.equal(verdict.cause, Cause.ANSWERED);
      assert.equal(study.half.answersQpn, study.half.qpn - 0x1000 + 0x100000);
    }
  });
});

describe('a capture with any bytes changed', () => {
  it('is explained, in verdicts that are no longer than they may be', () => {
    let seed = 1;
    const chance = (n: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (seed >>> 8) % n;
    };
    for (let run = 0; run < 80; run += 1) {
      const captures = Array.from({ length: 1 + chance(2) }, () => {
        const bytes = goldenFile(goldenNames[chance(goldenNames.length)]).slice();
        // Not those by which a file is one at all.
        for (let n = chance(100); n > 0; n -= 1) bytes[40 + chance(bytes.length - 40)] = chance(256);
        return bytes;
      });
      const sightings = new Sightings();
      for (const bytes of captures)
        try {
          sightings.beginFile().feed(bytes);
        } catch (error) {
          if (!(error instanceof CaptureError)) throw error;
        }
      sightings.end();
      for (const story of storiesOf(sightings)) {
        wordsOf(story.verdict);
        assert.ok(storyLines(story, true).length > 1);
        JSON.stringify(storyJson(story));
      }
    }
  });
});
