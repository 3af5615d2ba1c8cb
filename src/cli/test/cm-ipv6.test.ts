import { before, describe, it, test } from 'node:test';
import { ip, isInside, namespaceProblem, runInside } from '../../node/links/test/namespace.js';
import { wentWell } from './cm-play.js';
import { run, Tool } from './tool.js';

// IPv6 has one loopback address. Where two are needed, they are made, in a network of the test's own.
const SERVER = 'fd87::1';
const CLIENT = 'fd87::2';

interface Case {
  readonly name: string;
  readonly server: readonly string[];
  readonly ready: string;
  readonly client: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'rping, the client at an address that it finds',
    server: ['rping', '-s', '-d', '-a', SERVER],
    ready: 'rdma_listen',
    client: ['rping', '-c', '-a', SERVER, '-C', '5', '-V'],
  },
  {
    name: 'rping, the server at any address of IPv6',
    server: ['rping', '-s', '-d', '-a', '::0'],
    ready: 'rdma_listen',
    client: ['rping', '-c', '-a', '::1', '-C', '5', '-V'],
  },
  {
    name: 'rping, with queue pairs made and moved by verbs, and devices that are named',
    server: ['rping', '-s', '-d', '-q', '--addr', SERVER],
    ready: 'rdma_listen',
    client: ['rping', '-c', '-a', SERVER, '--addr', CLIENT, '-q', '-C', '5', '-V'],
  },
  {
    name: 'ucmatose',
    server: ['ucmatose', '-b', SERVER, '-c', '3'],
    ready: 'starting server',
    client: ['ucmatose', '-s', SERVER, '-b', CLIENT, '-f', 'ipv6', '-c', '3'],
  },
  {
    name: 'udaddy',
    server: ['udaddy', '-b', '::', '-c', '3'],
    ready: 'starting server',
    client: ['udaddy', '-s', '::1', '-b', CLIENT, '-c', '3'],
  },
];

if (isInside) {
  describe('two sides on one machine', () => {
    before(() => {
      ip('link set lo up');
      for (const address of [SERVER, CLIENT]) ip(`-6 addr add ${address}/128 dev lo`);
    });

    for (const { name, server, ready, client } of CASES) {
      it(`play over IPv6: ${name}`, async () => {
        const serving = new Tool(server);
        await serving.printed(ready);
        wentWell(await run(client), await serving.ended);
      });
    }
  });
} else {
  test('two sides on one machine play over IPv6', { skip: namespaceProblem() }, () => runInside(import.meta.url));
}
