import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { decodePacket, parseFrame, readCapture } from '../../../device/wire/index.js';
import { Conversations, dissectors } from '../index.js';
import { ucxQueuePairs } from '../../ucp/wire/index.js';
import { Choices } from '../../../../test/fuzz/random.js';
import { printed } from '../../../cli/test/in-process.js';

// Captures of Debian's ucx_perftest (UCX 1.13.1) on our NIC; test/golden/ucx/README.md says how they were made.

// Tests run compiled, from dist/src/protocols/dissect/test.
const golden = fileURLToPath(new URL('../../../../../test/golden/ucx/', import.meta.url));

/** What each packet means, each once: both sides were captured. */
async function meanings(name: string): Promise<(string | undefined)[]> {
  const packets = (await printed('dump', '--json', `${golden}${name}.pcapng`)).trim().split('\n');
  return [...new Set(packets.map((line) => (JSON.parse(line) as { meaning?: string }).meaning))];
}

const TAG = 'tag 0x1337a880';

/** What comes behind the handshake of ud, in its order. */
const SAID: Readonly<Record<string, readonly RegExp[]>> = {
  stream_bw: [/^stream 8 B$/],
  stream_bw_20000: [/^stream 4080 B$/, /^stream 3680 B$/],
  tag_bw_1048576: [
    new RegExp(`^RTS 1 MiB ${TAG}$`),
    new RegExp(`^RTR 1 MiB for RTS 1 MiB ${TAG}$`),
    new RegExp(`^DATA 4072 B at 0 of RTS 1 MiB ${TAG}$`),
    new RegExp(`^DATA 4072 B at 4072 of RTS 1 MiB ${TAG}$`),
  ],
  tag_bw_20000: [
    new RegExp(`^eager ${TAG}, first 4064 B of 20000 B$`),
    /^eager, 4072 B at 4064$/,
    /^eager, 4072 B at 8136$/,
    /^eager, 4072 B at 12208$/,
    /^eager, 3720 B at 16280$/,
  ],
  tag_lat: [new RegExp(`^eager ${TAG}, 8 B$`)],
  tag_sync_bw_20000: [new RegExp(`^eager sync ${TAG}, first 4048 B of 20000 B$`), /^eager, 4072 B at 4048$/],
  tag_sync_lat: [new RegExp(`^eager sync ${TAG}, 8 B$`), /^sync ACK ok$/],
  ucp_am_bw_1048576: [/^RTS 1 MiB AM 1$/, /^RTR 1 MiB for RTS 1 MiB AM 1$/, /^DATA 4072 B at 0 of RTS 1 MiB AM 1$/],
  ucp_am_bw_20000: [/^AM 1, 4056 B, first of 20000 B$/, /^AM, 4064 B at 4056$/],
  ucp_am_lat: [/^AM 1, 8 B$/],
  ucp_cswap: [/^CSWAP 4 B at 0x[0-9a-f]+$/, /^atomic answer 4 B$/],
  ucp_fadd: [/^ADD 8 B at 0x[0-9a-f]+$/, /^atomic answer 8 B$/],
  ucp_get: [/^GET 8 B at 0x[0-9a-f]+$/, /^GET answer 8 B at 0$/],
  ucp_put_bw: [/^PUT 8 B at 0x[0-9a-f]+$/, /^CMPL$/],
};

describe("UCX's ud_v in a capture", () => {
  it('is there with all that is told of here', () => {
    const there = readdirSync(golden).filter((name) => name.endsWith('.pcapng'));
    assert.deepEqual(
      there.filter((name) => !name.startsWith('rc_')).sort(),
      Object.keys(SAID)
        .sort()
        .map((name) => `${name}.pcapng`),
    );
  });

  for (const [name, wanted] of Object.entries(SAID))
    it(`is known from its first datagram on, and each is told: ${name}`, async () => {
      const said = await meanings(name);
      const unknown = said.filter((words) => words === undefined || words.includes('unknown'));
      assert.deepEqual(unknown, []);
      const words = said.map((one) => one?.replace(/^ucp: /, '') ?? '');
      assert.match(words[0], /^CREQ 0 of 127\.0\.0\.77, endpoint 0 of process \d+ at "vm" \(psn 1, ack 0\)$/);
      assert.match(
        words.find((one) => one.startsWith('CREP')) ?? '',
        /^CREP, endpoint 0 of process \d+ at "vm" \(psn 2, /,
      );
      const behind = [
        ...new Set(
          words
            .map((one) => one.replace(/ \(psn .*\)$/, ''))
            .filter((one) => !/^(C?ACK|CRE[QP]|NACK|WIREUP)/.test(one)),
        ),
      ];
      for (const [at, pattern] of wanted.entries()) assert.match(behind[at], pattern);
    });

  it('is explained as one thing where a message is announced', async () => {
    const text = await printed('explain', `${golden}tag_bw_1048576.pcapng`);
    assert.match(text, /ucp: RTS 1 MiB tag 0x1337a880, RTR, DATA of \d+ B: the capture has no end of it/);
  });
});

describe("UCX's rc_v in a capture", () => {
  /** What the messages of its reliable connections mean, each once. */
  async function reliable(name: string): Promise<string[]> {
    const lines = (await printed('dump', `${golden}${name}.pcapng`)).split('\n');
    const said = lines.filter((line) => / RC_(SEND|WRITE|READ_REQUEST)/.test(line));
    return [...new Set(said.map((line) => /\[ucp: (.*)\]/.exec(line)?.[1] ?? `untold: ${line}`))];
  }

  it('is known by what its ends tell each other in datagrams', async () => {
    const said = (await meanings('rc_tag_lat')).join('\n');
    assert.match(said, /WIREUP REQUEST, rc_verbs queue pair 0x1b6add, ud_verbs queue pair 0x9cf98c/);
    assert.doesNotMatch(said, /unknown/);
    assert.deepEqual(await reliable('rc_tag_lat'), ['WIREUP ACK', 'WRITE of nothing', `eager ${TAG}, 8 B`]);
  });

  it('is told with what READs are for', async () => {
    assert.deepEqual(await reliable('rc_tag_bw_1048576'), [
      'WIREUP ACK',
      'WRITE of nothing',
      `RTS 1 MiB ${TAG}`,
      `READ 256 KiB of RTS 1 MiB ${TAG}`,
    ]);
    assert.match(
      await printed('explain', `${golden}rc_tag_bw_1048576.pcapng`),
      /ucp: RTS 1 MiB tag 0x1337a880, READ: /,
    );
  });
});

describe('what is damaged in a capture of UCX', () => {
  it('makes nothing throw', () => {
    const choices = new Choices(26);
    for (const name of readdirSync(golden).filter((file) => file.endsWith('.pcapng'))) {
      const records = [...readCapture(new Uint8Array(readFileSync(`${golden}${name}`)))];
      for (let round = 0; round < 20; round += 1) {
        const conversations = new Conversations(dissectors());
        for (const { linkType, data } of records) {
          const frame = data.slice();
          const datagram = parseFrame(linkType, frame);
          if (typeof datagram === 'string' || datagram.capturedLength < datagram.length) continue;
          const { offset, length } = datagram;
          // The headers stay as they are, so that a part of the messages are still known.
          for (let flips = choices.below(4); flips > 0; flips -= 1)
            frame[offset + 20 + choices.below(length - 20)] = choices.u32();
          const packet = decodePacket(frame, offset, length);
          if ('refusal' in packet) continue;
          const payload = choices.chance(80) ? packet.payload : packet.payload.subarray(0, choices.below(80));
          const addresses = { source: '127.0.0.77', destination: '127.0.0.77', timeUs: 0, cm: undefined };
          conversations.next({ ...addresses, packet: { ...packet, payload }, isCut: choices.chance(10) });
        }
        for (const { words } of conversations.exchanges) assert.match(words, /^ucp: RTS /);
      }
    }
  });
});

describe("the address of UCX's workers", () => {
  it('names queue pairs, and the lanes of connections', () => {
    // As UCX has packed it, but for the lane.
    const address = Buffer.from(
      '20139ac7fbfbbb293f2191480000000000000000' +
        '0000ffff7f00004d278ab00fa1338142364f95bf563500df220001400400dd6a1b82' +
        '31d15c7ce1338142364f2acd5e350003270002838cf99c',
      'hex',
    );
    assert.deepEqual(ucxQueuePairs(address), [
      { transport: 'rc_verbs', qpn: 0x1b6add, lane: 2 },
      { transport: 'ud_verbs', qpn: 0x9cf98c, lane: undefined },
    ]);
    assert.equal(ucxQueuePairs(address.subarray(0, -1)), undefined);
  });

  it('is passed over where it has another form, whatever that is', () => {
    const choices = new Choices(25);
    for (let i = 0; i < 20_000; i += 1) {
      const address = new Uint8Array(choices.below(120));
      for (let at = 0; at < address.length; at += 1) address[at] = choices.u32();
      if (choices.chance(50)) address[0] = 0x20;
      for (const { qpn } of ucxQueuePairs(address) ?? []) assert.ok(qpn >= 0 && qpn <= 0xff_ffff);
    }
  });
});
