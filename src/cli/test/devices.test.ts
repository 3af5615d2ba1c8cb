import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './tool.js';
import { loopback } from '../../../test/support/loopback.js';

const GUID = /[0-9a-f]{4}:[0-9a-f]{4}:[0-9a-f]{4}:[0-9a-f]{4}/;

test('ibv_devices prints the table of the C tool', async () => {
  const { code, stdout } = await run(['ibv_devices']);
  assert.equal(code, 0);
  const [heading, rule, row] = stdout.split('\n');
  assert.equal(heading, '    device          \t   node GUID');
  assert.equal(rule, '    ------          \t----------------');
  assert.match(row, /^ {4}verbena0 {8}\t[0-9a-f]{16}$/);
});

test('ibv_devices and ibv_devinfo -l have the same as JSON', async () => {
  const [devices, names] = await Promise.all([run(['ibv_devices', '--json']), run(['ibv_devinfo', '-l', '--json'])]);
  const [{ device, nodeGuid }] = JSON.parse(devices.stdout) as [{ device: string; nodeGuid: string }];
  assert.equal(device, 'verbena0');
  assert.match(nodeGuid, /^[0-9a-f]{16}$/);
  assert.equal(names.stdout, '["verbena0"]\n');
});

test('ibv_devinfo --json has the short list, and with -v all attributes and GIDs', async () => {
  const [brief, verbose] = await Promise.all([
    run(['ibv_devinfo', '--json', '--addr', loopback(6)]),
    run(['ibv_devinfo', '--json', '-v', '-i', '1', '--addr', loopback(7)]),
  ]);
  const [short] = JSON.parse(brief.stdout) as [Record<string, unknown>];
  assert.equal(short['address'], loopback(6));
  assert.match(String(short['nodeGuid']), GUID);
  const lists = { smLid: 0, lid: 0, lmc: 0, linkLayer: 'Ethernet' };
  assert.deepEqual(short['ports'], [{ port: 1, state: 'PORT_ACTIVE', maxMtu: 4096, activeMtu: 4096, ...lists }]);
  const [long] = JSON.parse(verbose.stdout) as [
    { attributes: { origAttr: { maxQp: number; maxMrSize: string } }; gids: readonly { gid: string }[] },
  ];
  assert.ok(long.attributes.origAttr.maxQp > 0);
  assert.match(long.attributes.origAttr.maxMrSize, /^0x[0-9a-f]+$/);
  assert.deepEqual(
    long.gids.map(({ gid }) => gid),
    [`::ffff:${loopback(7)}`],
  );
});

test('ibv_devinfo -l prints the names', async () => {
  const { code, stdout } = await run(['ibv_devinfo', '-l']);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: '1 HCA found:\n\tverbena0\n\n' });
});

test('ibv_devinfo prints the short list of the C tool', async () => {
  const { code, stdout, stderr } = await run(['ibv_devinfo', '--addr', loopback(1)]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const lines = stdout.split('\n');
  assert.equal(lines[0], 'hca_id:\tverbena0');
  assert.equal(lines[1], '\ttransport:\t\t\tInfiniBand (0)');
  assert.match(stdout, new RegExp(`^\tnode_guid:\t\t\t${GUID.source}$`, 'm'));
  assert.match(stdout, new RegExp(`^\tsys_image_guid:\t\t\t${GUID.source}$`, 'm'));
  assert.match(stdout, /^\tphys_port_cnt:\t\t\t1$/m);
  assert.match(stdout, /^\t\tport:\t1$/m);
  assert.match(stdout, /^\t\t\tstate:\t\t\tPORT_ACTIVE \(4\)$/m);
  assert.match(stdout, /^\t\t\tmax_mtu:\t\t4096 \(5\)$/m);
  assert.match(stdout, /^\t\t\tport_lmc:\t\t0x00$/m);
  assert.match(stdout, /^\t\t\tlink_layer:\t\tEthernet$/m);
});

test('ibv_devinfo -v prints the limits and the GID table', async () => {
  const { stdout } = await run(['ibv_devinfo', '-v', '--addr', loopback(2)]);
  assert.match(stdout, /^\tmax_total_mcast_qp_attach:\t\d+$/m);
  assert.match(stdout, /^\tdevice_cap_flags:\t\t0x[0-9a-f]{8}$/m);
  assert.match(stdout, /^\t\t\tactive_width:\t\t\d+X \(\d+\)$/m);
  assert.match(stdout, new RegExp(`^\t\t\tGID\\[ {2}0\\]:\t\t::ffff:${loopback(2)}, RoCE v2$`, 'm'));
});

test('ibv_devinfo -v prints what is beyond the basic attributes, in the layout of the C tool', async () => {
  const { stdout } = await run(['ibv_devinfo', '-v', '--addr', loopback(5)]);
  const from = stdout.indexOf('\tgeneral_odp_caps:');
  // Which of the libraries, only the machine knows.
  const [, crc32Source] = /\tcrc32:\t+(isa-l|libdeflate|@node-rs\/crc32|zlib|javascript)\n/.exec(stdout) ?? [];
  const odp = (names: readonly string[]): string[] => names.map((name) => `\t\t\t\t\tSUPPORT_${name}`);
  const reliable = odp(['SEND', 'RECV', 'WRITE', 'READ', 'ATOMIC', 'SRQ', 'FLUSH', 'ATOMIC_WRITE']);
  assert.deepEqual(stdout.slice(from, stdout.indexOf('\t\tport:')).split('\n'), [
    '\tgeneral_odp_caps:',
    '\t\t\t\t\tODP_SUPPORT',
    '\trc_odp_caps:',
    ...reliable,
    '\tuc_odp_caps:',
    ...odp(['SEND', 'RECV', 'WRITE', 'SRQ']),
    '\tud_odp_caps:',
    ...odp(['SEND', 'RECV', 'SRQ']),
    '\txrc_odp_caps:',
    ...reliable,
    '\tcompletion timestamp_mask:\t\t\t0xffffffffffffffff',
    '\thca_core_clock:\t\t\t1000000kHZ',
    '\tdevice_cap_flags_ex:\t\t0x1327C86',
    '\ttso_caps:',
    '\t\tmax_tso:\t\t\t0',
    '\trss_caps:',
    '\t\tmax_rwq_indirection_tables:\t\t\t0',
    '\t\tmax_rwq_indirection_table_size:\t\t\t0',
    '\t\trx_hash_function:\t\t\t\t0x0',
    '\t\trx_hash_fields_mask:\t\t\t\t0x0',
    '\tmax_wq_type_rq:\t\t\t0',
    '\tpacket_pacing_caps:',
    '\t\tqp_rate_limit_min:\t1kbps',
    '\t\tqp_rate_limit_max:\t4294967295kbps',
    '\t\tsupported_qp:',
    '\t\t\t\t\tSUPPORT_RAW_PACKET',
    '\t\t\t\t\tSUPPORT_UD',
    // UC, which the C tool does not know here.
    '\t\t\t\t\tUnknown flags: 0x8',
    '\ttag matching not supported',
    '',
    '\tcq moderation caps:',
    '\t\tmax_cq_count:\t65535',
    '\t\tmax_cq_period:\t65535 us',
    '',
    '\tnum_comp_vectors:\t\t1',
    `\tcrc32:\t\t\t\t${crc32Source}`,
    '',
  ]);
  assert.match(stdout, /^\t\t\teffective_speed:\t25\.0 Gbps\n\t\t\tphys_state:\t\tLINK_UP \(5\)$/m);
});

test('ibv_devinfo works without system calls', async () => {
  const { code, stdout } = await run(['ibv_devinfo', '--addr', loopback(4)], { VERBENA_NATIVE: 'off' });
  assert.equal(code, 0);
  assert.match(stdout, /^hca_id:\tverbena0\n/);
});

test('ibv_devinfo refuses a device that is not there', async () => {
  const { code, stderr } = await run(['ibv_devinfo', '-d', 'mlx5_0']);
  assert.deepEqual({ code, stderr }, { code: 255, stderr: "IB device 'mlx5_0' wasn't found\n" });
});

test('ibv_devinfo refuses a port that is not there', async () => {
  const { code, stderr } = await run(['ibv_devinfo', '-i', '2', '--addr', loopback(3)]);
  assert.deepEqual({ code, stderr }, { code: 4, stderr: 'Invalid port requested for device\n' });
});

test('ibv_devinfo refuses an address that the machine does not have', async () => {
  const { code, stderr } = await run(['ibv_devinfo', '--addr', '192.0.2.1']);
  assert.equal(code, 1);
  assert.match(stderr, /^Failed to open device: .*192\.0\.2\.1.*\n$/);
});
