import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Meeting, Places } from './meeting.js';

/** Who plays the two sides. */
export const Setting = {
  /** Two C programs under one launcher, so on one device. */
  ONE: 'one launcher',
  /** Two C programs, each under a launcher of its own. */
  TWO: 'two launchers',
  /** Our tool waits for the C program. */
  OURS_SERVES: 'our server',
  /** The C program waits for our tool. */
  OURS_ASKS: 'our client',
} as const;
export type Setting = (typeof Setting)[keyof typeof Setting];

export interface Played {
  readonly meeting: Meeting;
  readonly setting: Setting;
  readonly ok: boolean;
  readonly seconds: number;
  /** What went wrong, and what both sides printed. */
  readonly why: string;
}

export const VERBENA = fileURLToPath(new URL('../../../bin/verbena', import.meta.url));
/** Until a side has said what it has to say. */
const PATIENCE_MS = 120_000;
/** How long a server has before its client starts, s: longer each time that this was too early. */
const HEAD_STARTS_S = [0.3, 1, 3, 6];
/** The same where each has a launcher of its own. */
const HEAD_STARTS_APART_S = [0.8, 2, 4, 8];
/** What a client says whose server does not listen yet. */
const TOO_EARLY =
  /couldn't connect|connection refused|unable to|RDMA_CM_EVENT_REJECTED|RDMA_CM_EVENT_UNREACHABLE|rejected|event: |rdma_connect/i;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

interface Side {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

function start(prefix: readonly string[], command: readonly string[]): Side {
  const [file, ...args] = [...prefix, ...command];
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const timer = setTimeout(() => {
    output += `\n(not ended after ${PATIENCE_MS / 1000} s)`;
    end(child);
  }, PATIENCE_MS);
  const ended = new Promise<Ended>((resolve) => {
    child.on('error', (error) => resolve({ code: null, output: String(error) }));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
  return { child, ended };
}

function end({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

function underLauncher(address: string, command: readonly string[]): string[] {
  return [process.execPath, VERBENA, 'run', '--addr', address, '--', ...command];
}

function ours(address: string, [tool, ...args]: readonly string[]): string[] {
  return [process.execPath, VERBENA, tool, '--addr', address, ...args];
}

/**
 * A shell that starts the server and then the client, and ends as the worse of both. Where the client came too early both start
 * anew: a server that a client has begun to talk to may take the next for the same.
 */
const BOTH = `
for wait in ${HEAD_STARTS_S.join(' ')}; do
  "$SERVER" $SERVER_ARGS & server=$!
  sleep $wait
  "$CLIENT" $CLIENT_ARGS >"$OUT" 2>&1 && break
  kill $server 2>/dev/null
  wait $server
  server=
done
cat "$OUT"
[ -n "$server" ] || exit 1
[ "$ENDS" = yes ] || { kill $server; exit 0; }
wait $server
`;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function wordsOf({ environment = [] }: Meeting, program: string, args: readonly string[]): string[] {
  return environment.length === 0 ? [program, ...args] : ['env', ...environment, program, ...args];
}

function serverOf({ program, serverProgram = program }: Meeting): string {
  return serverProgram;
}

async function playOne(meeting: Meeting, prefix: readonly string[], places: Places, out: string): Promise<Ended> {
  const { program, server, client, serverEnds = true, refuses } = meeting;
  const own = client({ ...places, client: places.server });
  const asking = wordsOf(meeting, program, own);
  if (server === undefined || refuses !== undefined) return start(prefix, underLauncher(places.server, asking)).ended;
  const waiting = wordsOf(meeting, serverOf(meeting), server({ ...places, client: places.server }));
  const variables = [
    `SERVER=${waiting[0]}`,
    `SERVER_ARGS=${waiting.slice(1).join(' ')}`,
    `CLIENT=${asking[0]}`,
    `CLIENT_ARGS=${asking.slice(1).join(' ')}`,
    `OUT=${out}`,
    `ENDS=${serverEnds ? 'yes' : 'no'}`,
  ];
  return start(prefix, underLauncher(places.server, ['env', ...variables, 'sh', '-c', BOTH])).ended;
}

async function playTwo(meeting: Meeting, setting: Setting, prefix: readonly string[], places: Places): Promise<Ended> {
  const { program, server, client, serverEnds = true } = meeting;
  if (server === undefined) throw new Error('a program that is alone needs no second launcher');
  const command = wordsOf(meeting, serverOf(meeting), server(places));
  const waitingWords =
    setting === Setting.OURS_SERVES ? ours(places.server, command) : underLauncher(places.server, command);
  const asking = wordsOf(meeting, program, client(places));
  const askingWords =
    setting === Setting.OURS_ASKS ? ours(places.client, asking) : underLauncher(places.client, asking);
  let ended: Ended = { code: null, output: '' };
  for (const seconds of HEAD_STARTS_APART_S) {
    const waiting = start(prefix, waitingWords);
    await sleep(seconds * 1000);
    const found = await start(prefix, askingWords).ended;
    if (found.code !== 0 || !serverEnds) end(waiting.child);
    const served = await waiting.ended;
    const code = found.code !== 0 ? found.code : serverEnds ? served.code : 0;
    ended = { code, output: `client, ${found.code}:\n${found.output}\nserver, ${served.code}:\n${served.output}` };
    if (found.code === 0 || !TOO_EARLY.test(found.output)) break;
  }
  return ended;
}

export function settingsOf({ server, ours: hasTool, refuses, awayFromLoopback = false }: Meeting): readonly Setting[] {
  // Machines have many addresses of loopback, and often one other.
  if (server === undefined || refuses !== undefined || awayFromLoopback) return [Setting.ONE];
  const { ONE, TWO, OURS_SERVES, OURS_ASKS } = Setting;
  return hasTool ? [ONE, TWO, OURS_SERVES, OURS_ASKS] : [ONE, TWO];
}

/**
 * Plays a meeting.
 *
 * @param prefix what each launcher and tool is started by, such as `setpriv`
 * @param out a file of one's own
 */
export async function play(
  meeting: Meeting,
  setting: Setting,
  prefix: readonly string[],
  places: Places,
  out: string,
): Promise<Played> {
  const begun = performance.now();
  const { code, output } =
    setting === Setting.ONE
      ? await playOne(meeting, prefix, places, out)
      : await playTwo(meeting, setting, prefix, places);
  const seconds = (performance.now() - begun) / 1000;
  return { meeting, setting, seconds, ...judge(meeting, code, output) };
}

function judge({ says, refuses }: Meeting, code: number | null, output: string): { ok: boolean; why: string } {
  const sentence = refuses ?? says;
  const silent = sentence !== undefined && !sentence.test(output);
  if (silent)
    return { ok: false, why: `exit ${String(code)}, and nothing like ${String(sentence)} was printed\n${output}` };
  const ok = refuses === undefined ? code === 0 : code !== 0 && code !== null;
  return { ok, why: ok ? '' : `exit ${String(code)}\n${output}` };
}
