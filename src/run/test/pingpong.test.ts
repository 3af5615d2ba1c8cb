import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopback } from '../../../test/support/loopback.js';
import { freePort } from '../../../test/support/ports.js';
import { run, without } from './support.js';

/** A server and a client, one after the other started by a shell; the client begins when the server listens. */
function pair(tool: string, port: number, flags: string): string[] {
  const start = `${tool} -g 0 -p ${port} ${flags}`;
  const listening = `while ! grep -q ":$(printf %04X ${port}) .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done`;
  return ['sh', '-c', `${start} & ${listening}; ${start} ${loopback(1)} && wait $!`];
}

const GAMES = [
  { tool: 'ibv_rc_pingpong', flags: '-n 20 -c' },
  { tool: 'ibv_rc_pingpong', flags: '-n 20 -c -e' },
  { tool: 'ibv_rc_pingpong', flags: '-n 5 -c -s 1' },
  { tool: 'ibv_rc_pingpong', flags: '-n 5 -c -s 1048576' },
  { tool: 'ibv_uc_pingpong', flags: '-n 20 -c' },
  { tool: 'ibv_uc_pingpong', flags: '-n 20 -e' },
  { tool: 'ibv_ud_pingpong', flags: '-n 20 -c' },
  { tool: 'ibv_ud_pingpong', flags: '-n 20 -e' },
  { tool: 'ibv_srq_pingpong', flags: '-n 20 -q 4' },
  { tool: 'ibv_srq_pingpong', flags: '-n 20 -q 4 -e' },
];

describe("Debian's ping-pongs play with each other", { skip: without('ibv_rc_pingpong', 'ibverbs-utils') }, () => {
  for (const { tool, flags } of GAMES)
    it(`${tool} ${flags}`, async () => {
      const { code, out, errors } = await run(pair(tool, await freePort(), flags), ['--addr', loopback(2)]);
      assert.deepEqual([code, errors], [0, ''], out);
      assert.equal(out.match(/ iters in /g)?.length, 2, out);
    });
});
