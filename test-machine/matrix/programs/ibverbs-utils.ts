import { byTcp, type Meeting } from '../meeting.js';

const packages = ['ibverbs-utils'];
const says = /bytes in .* seconds/;
const SIZES = [1, 64, 4096, 65_536, 1_048_576];

function single(program: string, args: readonly string[], said: RegExp): Meeting {
  return { program, variant: args.join(' '), packages, client: () => args, ours: false, says: said };
}

function pingPong(kind: string): Meeting[] {
  const program = `ibv_${kind}_pingpong`;
  const manners = [[], ['-e'], ['-c'], ['-c', '-e']].map((args) => ({ args: ['-n', '200', ...args], more: {} }));
  const sizes = SIZES.map((size) => {
    // A datagram is a packet.
    const more = kind === 'ud' && size > 4096 ? { refuses: /Requested size larger than port MTU/ } : {};
    return { args: ['-n', '20', '-s', String(size)], more };
  });
  return [...manners, ...sizes].map(({ args, more }) =>
    byTcp(program, ['-g', '0', ...args], { packages, says, variant: args.join(' '), ...more }),
  );
}

export const ibverbsUtils: readonly Meeting[] = [
  single('ibv_devices', [], /rxe/),
  single('ibv_devinfo', ['-v'], /PORT_ACTIVE/),
  ...['rc', 'uc', 'ud', 'srq'].flatMap(pingPong),
];
