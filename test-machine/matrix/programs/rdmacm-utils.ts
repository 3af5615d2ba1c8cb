import type { Meeting } from '../meeting.js';

const packages = ['rdmacm-utils'];

function byCm(program: string, variant: string, sides: Pick<Meeting, 'server' | 'client'> & Partial<Meeting>): Meeting {
  return { program, variant, packages, ours: true, ...sides };
}

/** Both sides with the same arguments, each with its own address. @param more arguments of the server alone */
function byRsocket(program: string, variant: string, more: readonly string[] = []): Meeting {
  const args = variant.split(' ');
  return byCm(program, [variant, ...more].join(' '), {
    server: ({ server, port }) => ['-b', server, '-p', String(port), ...args, ...more],
    client: ({ server, port }) => ['-s', server, '-p', String(port), ...args],
    says: /Gb\/sec[\s\S]*\n\S+ .*\d/,
  });
}

export const rdmacmUtils: readonly Meeting[] = [
  byCm('rping', '-C 10 -v -V', {
    server: ({ server, port }) => ['-s', '-a', server, '-p', String(port), '-C', '10', '-v', '-V'],
    client: ({ server, port }) => ['-c', '-a', server, '-p', String(port), '-C', '10', '-v', '-V'],
    says: /ping data: rdma-ping-9/,
  }),
  byCm('rping', '-S 60000', {
    server: ({ server, port }) => ['-s', '-a', server, '-p', String(port), '-C', '10', '-S', '60000', '-V'],
    client: ({ server, port }) => ['-c', '-a', server, '-p', String(port), '-C', '10', '-S', '60000', '-V'],
  }),
  byCm('ucmatose', '-c 5 -C 10', {
    server: ({ server, port }) => ['-b', server, '-p', String(port), '-c', '5', '-C', '10'],
    client: ({ server, client, port }) => ['-s', server, '-b', client, '-p', String(port), '-c', '5', '-C', '10'],
    says: /return status 0/,
  }),
  byCm('udaddy', '-c 3 -C 5', {
    server: ({ server }) => ['-b', server, '-c', '3', '-C', '5'],
    client: ({ server, client }) => ['-s', server, '-b', client, '-c', '3', '-C', '5'],
    says: /return status 0/,
  }),
  byCm('mckey', '', {
    server: ({ server, group }) => ['-m', group, '-b', server, '-C', '5'],
    client: ({ client, group }) => ['-m', group, '-b', client, '-s', '-C', '5'],
    says: /data transfers complete/,
  }),
  byCm('cmtime', '-c 20', {
    server: ({ server, port }) => ['-b', server, '-p', String(port), '-c', '20'],
    client: ({ server, client, port }) => ['-s', server, '-b', client, '-p', String(port), '-c', '20'],
    says: /disconnect/,
    // The C tool's server waits for more.
    serverEnds: false,
  }),
  byCm('rdma_client', '', {
    serverProgram: 'rdma_server',
    server: ({ port }) => ['-p', String(port)],
    client: ({ server, port }) => ['-s', server, '-p', String(port)],
    says: /rdma_client: end 0/,
  }),
  byRsocket('rstream', '-C 100 -S all -T v'),
  byRsocket('rstream', '-I 20 -C 10 -S 100000 -T b -T v'),
  // The C tool's client takes an end that comes with the last bytes for a failure if it has -T a.
  byRsocket('rstream', '-I 100 -C 1 -S 64 -T v -B 65536', ['-T', 'a']),
  byRsocket('rstream', '-T n -T r -k 5 -I 10 -C 10 -S 5000'),
  byRsocket('riostream', '-C 100 -S 5000 -T v'),
];
