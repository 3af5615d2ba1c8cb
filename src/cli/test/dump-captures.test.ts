import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LinkType, pcapngHeader, pcapngPacket } from '../../device/wire/index.js';
import { goldenFile } from '../../device/wire/test/golden.js';
import { framesOf, pcapngOf } from './capture-files.js';
import { runTool } from './in-process.js';

/** Captures as they reach a ticket. */

const dump = (file: Uint8Array, ...options: readonly string[]) => runTool('dump', [...options, '-'], file);
const BTH = 14 + 20 + 8;

describe('verbena dump prints the headers that are there', () => {
  it('of an acknowledgement that claims padding and has none', async () => {
    const frame = framesOf('rc_pingpong')[1];
    frame[BTH + 1] = 0x60;
    const { stdout } = await dump(pcapngOf([frame]));
    assert.match(
      stdout,
      /RC_ACKNOWLEDGE qpn=0x[0-9a-f]{6} psn=0x[0-9a-f]{6} aeth\{ACK msn=\d+\} payload=0 UNREADABLE \(20 bytes are too few for a RC_ACKNOWLEDGE with 2 bytes of padding\) icrc=WRONG/,
    );
    const { stdout: verbose } = await dump(pcapngOf([frame]), '-v');
    assert.match(verbose, /\n {4}BTH .* pad_count=2 .*\n {4}AETH /);
    const json: unknown = JSON.parse((await dump(pcapngOf([frame]), '--json')).stdout);
    assert.ok(typeof json === 'object' && json !== null && 'bth' in json && 'aeth' in json && 'unreadable' in json);
  });

  it('of a packet that the capture cut within its extension headers', async () => {
    const [frame] = framesOf('verbs_read');
    const cut = pcapngOf([frame.subarray(0, 64)]);
    const { stdout, status } = await dump(cut);
    assert.match(stdout, /RC_READ_REQUEST qpn=.* psn=.* ack_req payload=0 UNREADABLE \(the capture cut it/);
    assert.doesNotMatch(stdout, /reth/);
    assert.equal(status, 0);
  });

  it('of an unknown opcode', async () => {
    const [frame] = framesOf('verbs_read');
    frame[BTH] = 0xee;
    assert.match((await dump(pcapngOf([frame]))).stdout, /UNKNOWN_0xee qpn=0x.* psn=0x.* UNREADABLE/);
  });

  it('and says nothing of a BTH that the capture lacks', async () => {
    const [frame] = framesOf('verbs_read');
    const { stdout } = await dump(pcapngOf([frame.subarray(0, 50)]));
    assert.match(stdout, /> 198\.18\.0\.2 UNREADABLE \(the capture cut it within its headers\) icrc=\?/);
  });
});

describe('verbena dump', () => {
  it('shows ICRCs as the bytes lie on the wire', async () => {
    const [frame] = framesOf('verbs_read');
    const stored = Buffer.from(frame.subarray(-4)).toString('hex');
    const json: unknown = JSON.parse((await dump(pcapngOf([frame]), '--json')).stdout);
    assert.ok(typeof json === 'object' && json !== null && 'icrc' in json);
    const value = Number.parseInt(stored, 16);
    assert.deepEqual(json.icrc, { verdict: 'ok', stored: value, expected: value });
    assert.ok((await dump(pcapngOf([frame]), '-v')).stdout.includes(`ICRC 0x${stored} icrc=ok`));
    frame[frame.length - 5] ^= 1;
    assert.ok((await dump(pcapngOf([frame]))).stdout.includes(`WRONG (has 0x${stored}, should have 0x`));
  });

  it('shows VLAN tags with their priority, Ethernet addresses and interfaces', async () => {
    const [frame] = framesOf('verbs_read');
    const tagged = Buffer.concat([frame.subarray(0, 12), Buffer.from('81006064', 'hex'), frame.subarray(12)]);
    const { stdout } = await dump(pcapngOf([tagged]), '-v');
    assert.match(
      stdout,
      / vlan=100 pcp=3 RC_READ_REQUEST .* icrc=ok\n {4}Ethernet src=.* dst=.*\n {4}VLAN id=100 pcp=3 dei=0\n/,
    );
    const cooked = Buffer.concat([
      Buffer.from('08000000000000070001040600000000000000' + '00', 'hex'),
      frame.subarray(14),
    ]);
    const file = Buffer.concat([pcapngHeader({ linkType: LinkType.LINUX_SLL2 }), pcapngPacket(0n, cooked)]);
    assert.match((await dump(file, '-v')).stdout, / Out 198.*\n {4}frame interface=7\n/);
  });

  it('numbers packets as Wireshark numbers frames', async () => {
    const frames = framesOf('mckey');
    const { stdout } = await dump(pcapngOf(frames));
    const numbers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.slice(0, 5)));
    const roce = frames.flatMap((frame, i) => (frame[12] === 8 && frame[23] === 17 ? [i + 1] : []));
    assert.deepEqual(numbers, roce);
  });

  it('unpacks ERSPAN', async () => {
    const [frame] = framesOf('verbs_read');
    const outer =
      '02000000000202000000000108004500000000004000ff2f0000c0000201c0000202100088be000000011001000000000000';
    const { stdout } = await dump(pcapngOf([Buffer.concat([Buffer.from(outer, 'hex'), frame])]));
    assert.match(stdout, / 198\.18\.0\.3 > 198\.18\.0\.2 in ERSPAN RC_READ_REQUEST .* icrc=ok\n$/);
  });

  it('names the link type that it cannot follow', async () => {
    const file = Buffer.concat([pcapngHeader({ linkType: 197 }), pcapngPacket(0n, new Uint8Array(60))]);
    const { stderr } = await dump(file);
    assert.equal(
      stderr,
      '0 RoCE packets, 0 with a wrong ICRC; 1 other frames skipped (1 of an unknown link type: 197 (ERF))\n',
    );
  });

  it('reads gzip, and says so where that is damaged', async () => {
    const file = goldenFile('rping');
    const zipped = gzipSync(file);
    assert.equal((await dump(zipped)).stdout, (await dump(file)).stdout);
    const { stderr, status } = await dump(zipped.subarray(0, 700));
    assert.match(stderr, /standard input: the gzip data is damaged or ends too early\n$/);
    assert.equal(status, 2);
  });
});
