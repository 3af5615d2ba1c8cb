import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopback } from '../../../test/support/loopback.js';
import { run, without } from './support.js';

/** A server, and a client that asks until the server listens, which nothing else tells. */
function pair(server: string, client: string): string[] {
  return [
    'sh',
    '-c',
    `${server} & server=$!; tries=50; until ${client}; do
    tries=$((tries - 1)); [ $tries -gt 0 ] && kill -0 $server || { kill $server; exit 1; }; done; wait $server`,
  ];
}

describe('programs of librdmacm find each other', { skip: without('rping', 'rdmacm-utils') }, () => {
  it('rping, whose queue pairs are made by another opening of the device than that of rdma_cm', async () => {
    const common = `-a ${loopback(3)} -C 3 -v -V`;
    const { code, out } = await run(pair(`rping -s ${common}`, `rping -c ${common}`), ['--addr', loopback(3)]);
    assert.equal(code, 0, out);
    assert.equal(out.match(/ping data: rdma-ping-2/g)?.length, 2, out);
  });

  it('rping at a wildcard address, which listens on all devices of the launcher', async () => {
    const server = 'rping -s -C 2 -P & trap "kill $!" EXIT';
    const reach = (place: number): string =>
      `tries=50; until rping -c -a ${loopback(place)} -C 1; do tries=$((tries - 1)); [ $tries -gt 0 ] || exit 1; done`;
    const words = ['sh', '-c', `${server}; ${reach(4)}; ${reach(5)}`];
    const { code, out, errors } = await run(words, ['--addr', loopback(5)], 4);
    assert.equal(code, 0, out + errors);
  });

  it('rping, which learns that another address than that of the launcher cannot be had', async () => {
    const { code, errors } = await run(['rping', '-s', '-a', loopback(7)], [], 6);
    assert.notEqual(code, 0);
    assert.ok(
      errors.includes(`no device of this program has address ${loopback(7)}; its devices are at ${loopback(6)}`),
      errors,
    );
  });

  it('rping, which learns soon that no device is at an address of this machine', async () => {
    const { code, errors, out } = await run(['rping', '-c', '-a', loopback(9), '-C', '1'], [], 8);
    assert.notEqual(code, 0);
    assert.match(out + errors, /RDMA_CM_EVENT_REJECTED, error 8/);
  });
});
