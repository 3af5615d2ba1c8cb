/** What `npm run matrix` has played: programs of Debian's packages that talk to each other, and with which arguments. */

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
  readonly program: string;
  /** The program of the server's side, where it has a name of its own. */
  readonly serverProgram?: string;
  /** What it is played with: for people. */
  readonly variant: string;
  readonly packages: readonly string[];
  /** A command of the shell that fails where something is missing beside the program. */
  readonly probe?: string;
  /** Assignments that both sides find in their environment. */
  readonly environment?: readonly string[];
  /** Arguments of the side that waits; absent where there is one side only. */
  readonly server?: (places: Places) => readonly string[];
  readonly client: (places: Places) => readonly string[];
  /** Whether one of our own tools has the same name. */
  readonly ours: boolean;
  /** What must have been printed. */
  readonly says?: RegExp;
  /** What the program says of these arguments before it looks for a device: no NIC could serve it. */
  readonly refuses?: RegExp;
  /** Whether the server's side must end by itself. Default true. */
  readonly serverEnds?: boolean;
  /** Only on an address that is not of loopback: the program looks for no others. */
  readonly awayFromLoopback?: boolean;
}

/** Where programs meet that exchange by TCP what they need to know. */
export const LOCALHOST = '127.0.0.1';

/** The name of a meeting, as `--only` looks for it. */
export function nameOf({ program, variant }: Meeting): string {
  return variant === '' ? program : `${program} ${variant}`;
}

/** A pair that exchanges by TCP what it needs to know, at the port that `-p` says. */
export function byTcp(
  program: string,
  args: readonly string[],
  more: Pick<Meeting, 'packages'> & Partial<Meeting>,
): Meeting {
  const own = ({ port }: Places): string[] => ['-p', String(port), ...args];
  return {
    program,
    variant: args.join(' '),
    server: own,
    client: (places) => [...own(places), LOCALHOST],
    ours: true,
    ...more,
  };
}
