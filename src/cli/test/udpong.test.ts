import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopback } from '../../../test/support/loopback.js';
import { run, Tool } from './tool.js';

const HEAD = 'name      bytes   xfers   total       time     Gb/sec    usec/xfer';

describe('udpong', () => {
  for (const { how, flags, line } of [
    {
      how: 'echoes',
      flags: ['-C', '20', '-S', '100', '-T', 'e'],
      line: /^custom {4}100 {5}40 {6}3\.9k +\d+\.\d\ds +/m,
    },
    { how: 'counts what arrives', flags: ['-C', '20', '-S', '1000'], line: /^custom {4}1000 {4}\d+ +\d/m },
  ])
    for (const words of [[], ['-T', 's']])
      it(`${how}${words.length === 0 ? '' : ' over UDP sockets, too'}`, async () => {
        const there = loopback(61);
        const server = new Tool(['udpong', '-b', there, ...words]);
        // It prints nothing until somebody comes: clients ask again.
        const client = await run(['udpong', '-s', there, '-b', loopback(62), ...flags, ...words]);
        assert.deepEqual({ code: client.code, stderr: client.stderr }, { code: 0, stderr: '' });
        assert.equal(client.stdout.split('\n')[0], HEAD);
        assert.match(client.stdout, line);
        server.child.kill('SIGINT');
        const { stdout, stderr, code } = await server.ended;
        assert.deepEqual({ code, stderr }, { code: 130, stderr: '' });
        assert.match(stdout, new RegExp(`^(client login from ${loopback(62)}\n)+$`));
      });
});
