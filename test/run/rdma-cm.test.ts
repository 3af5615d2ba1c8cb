import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopback } from '../support/loopback.js';
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
});
