import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Tool } from '../../cli/test/tool.js';
import { loopback } from '../../../test/support/loopback.js';
import { grhLibrary, withoutCompiler } from './support-grh.js';
import { run, startRun, without } from './support.js';

const BYTES = 3_000_001;

describe('tools over rsockets serve those of rdmacm-utils', { skip: without('rstream', 'rdmacm-utils') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-rcopy-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('rstream: every byte of each transfer is looked at on both sides', async () => {
    const [there, here] = [loopback(11), 12];
    const flags = ['-I', '5', '-C', '20', '-S', '70000', '-T', 'v'];
    const server = new Tool(['rstream', '--addr', there, '-b', there, ...flags]);
    await server.printed('usec/xfer');
    const client = await run(['rstream', '-s', there, ...flags], [], here);
    const line = /^custom {4}68k {5}20 {6}5 {7}13m +\d+\.\d\ds +\d+\.\d\d +\d+\.\d\d$/m;
    assert.equal(client.code, 0, client.errors);
    assert.match(client.out, line);
    const { code, stdout, stderr } = await server.ended;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, line);
    assert.equal(stdout.split('\n')[0], client.out.split('\n')[0]);
  });

  it('rcopy: a file arrives whole, and another stays out of places where it has no business', async () => {
    const there = loopback(13);
    const source = join(folder, 'source');
    const bytes = Buffer.from(Array.from({ length: BYTES }, (_, at) => (at * 7 + (at >> 8)) & 0xff));
    writeFileSync(source, bytes);
    const server = new Tool(['rcopy', '--addr', there, '--folder', folder]);
    await server.printed('waiting for connection');
    const client = await run(['rcopy', source, `${there}:copy`], [], 14);
    assert.equal(client.code, 0, client.errors);
    assert.match(client.out, /^3000001 bytes in /m);
    assert.ok(readFileSync(join(folder, 'copy')).equals(bytes));
    await run(['rcopy', source, `${there}:../verbena-elsewhere`], [], 14);
    server.child.kill('SIGINT');
    const { stderr } = await server.ended;
    assert.match(stderr, /\.\.\/verbena-elsewhere is not within/);
  });

  it('udpong: datagrams are echoed by the C tool, which finds this end by UDP', { skip: withoutCompiler }, async () => {
    const there = loopback(17);
    const server = ['env', `LD_PRELOAD=${grhLibrary(folder)}`, 'udpong', '-b', there];
    const { child, played } = startRun(server, [], 17);
    const client = await new Tool(['udpong', '-s', there, '-b', loopback(18), '-C', '30', '-S', '100', '-T', 'e'])
      .ended;
    child.kill('SIGINT');
    await played;
    assert.deepEqual({ code: client.code, stderr: client.stderr }, { code: 0, stderr: '' });
    assert.match(client.stdout, /^custom {4}100 {5}60 {6}5\.8k +\d+\.\d\ds +\d+\.\d\d +\d+\.\d\d$/m);
  });
});
