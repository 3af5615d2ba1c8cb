import { byTcp, type Meeting } from '../meeting.js';

const packages = ['perftest'];
const OPERATIONS = ['send', 'write', 'read', 'atomic'] as const;
/** Plain, and as the programs may be asked for more. */
const VARIANTS = ['', '-a', '-b', '-R', '-e', '-q 4', '-c UC', '-c UD'] as const;
const ITERATIONS = { each: '100', all: '5' } as const;

type Operation = (typeof OPERATIONS)[number];
type Variant = (typeof VARIANTS)[number];

/** What perftest itself says to a variant of an operation, whatever the device is. */
const REFUSALS: readonly {
  readonly variant: Variant;
  readonly of: (operation: Operation, isLatency: boolean) => boolean;
  readonly sentence: RegExp;
}[] = [
  {
    variant: '-c UD',
    of: (operation) => operation !== 'send',
    sentence: /UD connection only possible in SEND verb/,
  },
  {
    variant: '-c UC',
    of: (operation) => operation === 'read' || operation === 'atomic',
    sentence: /UC connection not possible in READ\/ATOMIC verbs/,
  },
  { variant: '-a', of: (operation) => operation === 'atomic', sentence: /Message size cannot be changed for Atomic/ },
  { variant: '-e', of: (operation) => operation === 'write', sentence: /Events feature not available on WRITE verb/ },
  { variant: '-b', of: (_, isLatency) => isLatency, sentence: /Bidirectional is only available in BW test/ },
  { variant: '-q 4', of: (_, isLatency) => isLatency, sentence: /Multiple QPs only available on bw tests/ },
];

function meeting(operation: Operation, kind: 'bw' | 'lat', variant: Variant): Meeting {
  const program = `ib_${operation}_${kind}`;
  const words = variant === '' ? [] : variant.split(' ');
  const args = ['-F', '-n', variant === '-a' ? ITERATIONS.all : ITERATIONS.each, ...words];
  const refusal = REFUSALS.find((one) => one.variant === variant && one.of(operation, kind === 'lat'));
  const pair = byTcp(program, args, {
    packages,
    variant,
    says: /#bytes/,
    ...(refusal === undefined ? {} : { refuses: refusal.sentence }),
  });
  if (variant !== '-R') return pair;
  // By rdma_cm the address is that of the device.
  return { ...pair, client: ({ port, server }) => ['-p', String(port), ...args, server] };
}

export const perftest: readonly Meeting[] = OPERATIONS.flatMap((operation) =>
  (['bw', 'lat'] as const).flatMap((kind) => VARIANTS.map((variant) => meeting(operation, kind, variant))),
);
