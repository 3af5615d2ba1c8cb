import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LinkType, pcapngHeader, pcapngPacket } from '../../device/wire/index.js';
import { goldenFile, goldenPath } from '../../device/wire/test/golden.js';
import { framesOf, pcapngOf } from './capture-files.js';
import { runTool } from './in-process.js';

const main = fileURLToPath(new URL('../main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'verbena-dump-'));
after(() => rmSync(folder, { recursive: true }));

/** Where a management datagram begins in a frame: after Ethernet, IPv4, UDP, BTH and DETH. */
const MAD_IN_FRAME = 14 + 20 + 8 + 12 + 8;

interface Run {
  readonly status: number;
  readonly lines: readonly string[];
  readonly errors: string;
}

async function dump(args: readonly string[], input?: Uint8Array): Promise<Run> {
  const { status, stdout, stderr } = await runTool('dump', args, input);
  const lines = stdout.split('\n');
  assert.equal(lines.pop(), '', 'the last line is complete');
  return { status, lines, errors: stderr };
}

describe('verbena dump', () => {
  it('prints time, addresses, opcode, QPN, PSN, headers, payload length and ICRC verdict of each packet', async () => {
    const { status, lines, errors } = await dump([goldenPath('verbs_read')]);
    assert.equal(lines.length, 7);
    assert.match(
      lines[0],
      /^ {4}1 {3}0\.000000 198\.18\.0\.3 > 198\.18\.0\.2 RC_READ_REQUEST qpn=0x[0-9a-f]{6} psn=0x[0-9a-f]{6} ack_req reth\{va=0x[0-9a-f]+ rkey=0x[0-9a-f]{8} len=\d+\} payload=0 icrc=ok$/,
    );
    assert.equal(errors, '7 RoCE packets, 0 with a wrong ICRC; 0 other frames skipped\n');
    assert.equal(status, 0);
  });

  it('says where a capture tells it which packets were sent and which received, and what is written beside them', async () => {
    const [frame] = framesOf('verbs_read');
    const capture = Buffer.concat([
      pcapngHeader({ linkType: LinkType.ETHERNET }),
      pcapngPacket(0n, frame, { direction: 'out', comment: 'client > server: lost' }),
      pcapngPacket(1000n, frame, { direction: 'in' }),
    ]);
    const { lines } = await dump(['-v', '-'], capture);
    assert.match(lines[0], /^ {4}1 {3}0\.000000 Out 198\.18\.0\.3 > /);
    assert.equal(lines[1], '    comment: client > server: lost');
    assert.match(lines.find((line) => line.includes('   0.000001 ')) ?? '', / In {2}198\.18\.0\.3 > /);
    const [first] = (await dump(['--json', '-'], capture)).lines.map((line): unknown => JSON.parse(line));
    assert.deepEqual(
      Object.entries(first ?? {}).filter(([name]) => name === 'direction' || name === 'comment'),
      [
        ['direction', 'out'],
        ['comment', 'client > server: lost'],
      ],
    );
  });

  it('prints what the connection manager says to QP 1', async () => {
    const { lines } = await dump([goldenPath('cm_reject')]);
    assert.deepEqual(
      lines.map((line) => /cm\{.*\}/.exec(line)?.[0]),
      [
        'cm{REQ comm_id=0xf2d6a087 service=TCP:7999 from=198.18.0.3:42351 qpn=0x000033 psn=0x7a8b17}',
        'cm{REJ comm_id=0x00000000 remote=0xf2d6a087 of=REQ reason=INVALID_SERVICE_ID}',
      ],
    );
  });

  it('prints the class of other management datagrams', async () => {
    const [frame] = framesOf('cm_reject');
    frame[MAD_IN_FRAME + 1] = 3;
    const [line] = (await dump(['-'], pcapngOf([frame]))).lines;
    assert.match(line, / payload=256 mad\{class=0x03 \(SA\) method=0x03 attr=0x0010\} icrc=WRONG/);
  });

  it('says no more of a management datagram than the capture holds', async () => {
    const [frame] = framesOf('cm_reject');
    for (const [length, shown] of [
      [23, undefined],
      [24, 'mad'],
      [255, 'mad'],
      [256, 'cm'],
    ] as const) {
      const [line] = (await dump(['-'], pcapngOf([frame.subarray(0, MAD_IN_FRAME + length)]))).lines;
      assert.equal(/(mad|cm)\{/.exec(line)?.[1], shown, `${length} bytes`);
    }
  });

  it('shows every field of a management datagram with -v', async () => {
    const { lines } = await dump(['-v', goldenPath('cm_reject')]);
    const start = lines.findIndex((line) => line.startsWith('    MAD'));
    assert.deepEqual(lines.slice(start, start + 6), [
      '    MAD base_version=1 class=0x07 (CM) class_version=2 method=0x03 status=0x0000 class_specific=0x0000 ' +
        'transaction_id=0x0000000287a0d6f2 attr=0x0010 (REQ) attr_modifier=0x00000000',
      '    REQ local_comm_id=0xf2d6a087 vendor_id=0x000000 service_id=0x0000000001061f3f (TCP:7999) ' +
        'local_ca_guid=0x505845fffe000003 local_qkey=0x00000000 local_qpn=0x000033 responder_resources=1 ' +
        'local_eecn=0x000000 initiator_depth=1 remote_eecn=0x000000 remote_cm_response_timeout=20 ' +
        'transport_type=0 (RC) end_to_end_flow_control=0 starting_psn=0x7a8b17 local_cm_response_timeout=20 ' +
        'retry_count=5 pkey=0xffff path_mtu=3 (MTU_1024) rdc_exists=0 rnr_retry_count=0 max_cm_retries=15 srq=0 ' +
        'extended_transport_type=0',
      '    REQ primary_path local_lid=0xffff remote_lid=0xffff local_gid=198.18.0.3 remote_gid=198.18.0.2 ' +
        'flow_label=0x427b0 packet_rate=0 traffic_class=0x00 hop_limit=64 sl=0 subnet_local=0 local_ack_timeout=19',
      '    REQ alternate_path none',
      '    REQ private_data 92 bytes: ' +
        '0040a56f000000000000000000000000c6120003000000000000000000000000c6120002 and 56 zeros',
      '    REQ addresses ip_version=4 source_port=42351 source=198.18.0.3 destination=198.18.0.2',
    ]);
  });

  it('gives every field of a management datagram with --json', async () => {
    const { lines } = await dump(['--json', goldenPath('cm_reject')]);
    const answer: unknown = JSON.parse(lines[1]);
    assert.ok(typeof answer === 'object' && answer !== null && 'mad' in answer && 'cm' in answer);
    assert.deepEqual(answer.mad, {
      baseVersion: 1,
      mgmtClass: 7,
      classVersion: 2,
      method: 3,
      status: 0,
      classSpecific: 0,
      transactionId: '0x287a0d6f2',
      attributeId: 0x12,
      attributeModifier: 0,
    });
    assert.deepEqual(answer.cm, {
      message: 'REJ',
      localCommId: 0,
      remoteCommId: 0xf2d6a087,
      messageRejected: 0,
      rejectedInfoLength: 0,
      reason: 8,
      additionalInfo: '00'.repeat(72),
      privateData: '00'.repeat(148),
      reasonName: 'INVALID_SERVICE_ID',
    });
  });

  it('counts what is not RoCE without printing it', async () => {
    const { status, lines, errors } = await dump([goldenPath('mckey')]);
    assert.equal(lines.length, 4);
    assert.match(errors, /^4 RoCE packets, 0 with a wrong ICRC; 8 other frames skipped \(.*8 /);
    assert.equal(status, 0);
  });

  it('shows every header of a packet under its line with -v', async () => {
    const { lines } = await dump(['-v', goldenPath('verbs_cas')]);
    const names = lines.slice(0, 8).map((line) => /^ {4}(\w+) /.exec(line)?.[1]);
    assert.deepEqual(names, ['1', 'Ethernet', 'IPv4', 'UDP', 'BTH', 'AtomicETH', 'payload', 'ICRC']);
  });

  it('prints the packets of the unreliable services', async () => {
    const [uc] = (await dump([goldenPath('uc_pingpong')])).lines;
    assert.match(uc, / UC_SEND_FIRST qpn=0x000017 psn=0x91d665 payload=1024 icrc=ok$/);
    const { lines } = await dump(['-v', goldenPath('ud_pingpong')]);
    assert.match(
      lines[0],
      / UD_SEND_ONLY qpn=0x000018 .* deth\{qkey=0x11111111 src_qp=0x000018\} payload=512 icrc=ok$/,
    );
    assert.equal(lines[5], '    DETH qkey=0x11111111 reserved=0 src_qp=0x000018');
  });

  it('reads standard input', async () => {
    assert.equal((await dump(['-'], goldenFile('rping'))).lines.length, 41);
  });

  it('says what a wrong ICRC should be, and exits with 1', async () => {
    const frames = framesOf('rc_pingpong');
    frames[2][frames[2].length - 5] ^= 1;
    const { status, lines, errors } = await dump(['-'], pcapngOf(frames));
    assert.match(lines[2], /icrc=WRONG \(has 0x[0-9a-f]{8}, should have 0x[0-9a-f]{8}\)$/);
    assert.match(errors, /20 RoCE packets, 1 with a wrong ICRC/);
    assert.equal(status, 1);
  });

  it('does not call an ICRC wrong that the capture has cut off', async () => {
    const frames = framesOf('rc_pingpong').map((frame) => frame.subarray(0, 60));
    const { status, lines, errors } = await dump(['-'], pcapngOf(frames));
    assert.match(lines[0], /RC_SEND_ONLY .* payload=64 icrc=\? \(the capture holds 18 of 80 bytes\)$/);
    assert.match(errors, /0 with a wrong ICRC, 20 cut by the capture/);
    assert.equal(status, 0);
  });

  it('prints what is not a packet as unreadable and goes on', async () => {
    const frames = framesOf('rc_pingpong').slice(0, 2);
    frames[0][14 + 20 + 8] = 0xee;
    const { lines } = await dump(['-'], pcapngOf(frames));
    assert.match(lines[0], /UNREADABLE \(unknown opcode 0xee\) icrc=WRONG/);
    assert.match(lines[1], /RC_ACKNOWLEDGE/);
  });

  it('prints the packets of a capture that is cut short, says so, and exits with 2', async () => {
    const { status, lines, errors } = await dump(['-'], goldenFile('rping').subarray(0, 1000));
    assert.equal(lines.length, 2);
    assert.match(errors, /standard input: the capture is cut short: .* after packet 2 \(byte \d+\)\n$/);
    assert.equal(status, 2);
  });

  for (const [name, file, message] of [
    ['a file that is not there', join(folder, 'nothing'), /nothing: cannot be read: no such file\n$/],
    ['a folder', folder, /: cannot be read: it is a folder\n$/],
    ['a file of another kind', main, /: this is neither a pcap nor a pcapng file\n$/],
  ] as const) {
    it(`exits with 2 and one sentence for ${name}`, async () => {
      const { status, errors } = await dump([file]);
      assert.match(errors, message);
      assert.equal(errors.split('\n').length, 2);
      assert.equal(status, 2);
    });
  }
});
