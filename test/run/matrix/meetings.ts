/** Programs of Debian's packages that talk to each other, and with which arguments: what `npm run matrix` has played. */

/** Where the two sides of a meeting are. */
export interface Places {
  /** Addresses of the devices; the same where both sides have one launcher. */
  readonly server: string;
  readonly client: string;
  /** TCP or UDP port that nobody else has. */
  readonly port: number;
  /** An IPv4 multicast group that nobody else has. */
  readonly group: string;
}

/** Two sides of a program, or one that needs no other. */
export interface Meeting {
  readonly name: string;
  readonly program: string;
  /** Arguments of the side that waits; absent where there is one side only. */
  readonly server?: (places: Places) => readonly string[];
  readonly client: (places: Places) => readonly string[];
  /** Whether one of our own tools has the same name. */
  readonly ours: boolean;
  /** What the client's side must have printed. */
  readonly says?: RegExp;
  /** Whether the server's side must end by itself. Default true. */
  readonly serverEnds?: boolean;
}

const LOCALHOST = '127.0.0.1';

function single(program: string, args: readonly string[], says: RegExp): Meeting {
  return { name: [program, ...args].join(' '), program, client: () => args, ours: false, says };
}

/** A pair that exchanges by TCP what it needs to know. */
function byTcp(program: string, args: readonly string[], more: Partial<Meeting> = {}): Meeting {
  const own = ({ port }: Places): string[] => ['-p', String(port), ...args];
  return {
    name: [program, ...args].join(' '),
    program,
    server: own,
    client: (places) => [...own(places), LOCALHOST],
    ours: true,
    ...more,
  };
}

/** A pair that finds each other by rdma_cm. */
function byCm(program: string, name: string, sides: Pick<Meeting, 'server' | 'client'> & Partial<Meeting>): Meeting {
  return { name: `${program}${name === '' ? '' : ` ${name}`}`, program, ours: true, ...sides };
}

const SIZES = [1, 64, 4096, 65_536, 1_048_576];

function pingPongs(): Meeting[] {
  const says = /bytes in .* seconds/;
  const plain = ['rc', 'uc', 'ud', 'srq'].flatMap((kind) => {
    const program = `ibv_${kind}_pingpong`;
    const variants = [[], ['-e'], ...(kind === 'rc' ? [['-c'], ['-c', '-e']] : [])];
    return variants.map((variant) => byTcp(program, ['-g', '0', '-n', '200', ...variant], { says }));
  });
  const sized = SIZES.flatMap((size) =>
    ['rc', 'uc', 'srq'].map((kind) =>
      byTcp(`ibv_${kind}_pingpong`, ['-g', '0', '-n', '20', '-s', String(size)], { says }),
    ),
  );
  return [...plain, ...sized];
}

const OPERATIONS = ['send', 'write', 'read', 'atomic'] as const;

function perftest(): Meeting[] {
  const meetings: Meeting[] = [];
  const add = (program: string, ...args: string[]): void => {
    meetings.push(byTcp(program, ['-F', ...args], { says: /#bytes/ }));
  };
  for (const operation of OPERATIONS) {
    for (const kind of ['bw', 'lat'] as const) {
      const program = `ib_${operation}_${kind}`;
      const count = ['-n', '100'];
      add(program, ...count);
      if (operation !== 'atomic') add(program, '-n', '20', '-a');
      add(program, ...count, '-e');
      if (kind === 'bw') {
        add(program, ...count, '-b');
        add(program, ...count, '-q', '4');
      }
      if (operation === 'send' || operation === 'write') add(program, ...count, '-c', 'UC');
      if (operation === 'send') add(program, ...count, '-c', 'UD');
      meetings.push({
        ...byTcp(program, ['-F', ...count, '-R'], { says: /#bytes/ }),
        client: ({ port, server }) => ['-p', String(port), '-F', ...count, '-R', server],
      });
    }
  }
  return meetings;
}

function connectionManager(): Meeting[] {
  return [
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
      server: ({ port }) => ['-p', String(port)],
      client: ({ server, port }) => ['-s', server, '-p', String(port)],
      says: /rdma_client: end 0/,
    }),
  ];
}

/** Every meeting. */
export const meetings: readonly Meeting[] = [
  single('ibv_devices', [], /rxe/),
  single('ibv_devinfo', ['-v'], /PORT_ACTIVE/),
  ...pingPongs(),
  ...connectionManager(),
  ...perftest(),
];

/** The program of the server's side, where it has a name of its own. */
export function serverOf(program: string): string {
  return program === 'rdma_client' ? 'rdma_server' : program;
}
