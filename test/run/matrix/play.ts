import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Meeting, type Places, serverOf } from './meetings.js';

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

/** How a meeting went. */
export interface Played {
  readonly meeting: string;
  readonly setting: Setting;
  readonly ok: boolean;
  readonly seconds: number;
  /** What went wrong, and what both sides printed. */
  readonly why: string;
}

const VERBENA = fileURLToPath(new URL('../../../../bin/verbena', import.meta.url));
/** Until a side has said what it has to say. */
const PATIENCE_MS = 60_000;
/** Between two tries of a client whose server may not listen yet. */
const AGAIN_MS = 200;
/** Tries of a client. */
const TRIES = 25;
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

/** Ends a side with all that it has started. */
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

/** A shell that starts the server, then the client until that has found it, and ends as the worse of both. */
const BOTH = `
"$SERVER" $SERVER_ARGS & server=$!
try=0
until "$CLIENT" $CLIENT_ARGS >"$OUT" 2>&1; do
  try=$((try + 1))
  if [ $try -ge ${TRIES} ] || ! kill -0 $server 2>/dev/null; then cat "$OUT"; kill $server 2>/dev/null; exit 1; fi
  sleep 0.${AGAIN_MS / 100}
done
cat "$OUT"
[ "$ENDS" = yes ] || { kill $server; exit 0; }
wait $server
`;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function playOne(meeting: Meeting, prefix: readonly string[], places: Places, out: string): Promise<Ended> {
  const { program, server, client, serverEnds = true } = meeting;
  const own = client({ ...places, client: places.server });
  if (server === undefined) return start(prefix, underLauncher(places.server, [program, ...own])).ended;
  const variables = [
    `SERVER=${serverOf(program)}`,
    `SERVER_ARGS=${server({ ...places, client: places.server }).join(' ')}`,
    `CLIENT=${program}`,
    `CLIENT_ARGS=${own.join(' ')}`,
    `OUT=${out}`,
    `ENDS=${serverEnds ? 'yes' : 'no'}`,
  ];
  return start(prefix, underLauncher(places.server, ['env', ...variables, 'sh', '-c', BOTH])).ended;
}

async function playTwo(
  { program, server, client, serverEnds = true }: Meeting,
  setting: Setting,
  prefix: readonly string[],
  places: Places,
): Promise<Ended> {
  if (server === undefined) throw new Error('a program that is alone needs no second launcher');
  const command = [serverOf(program), ...server(places)];
  const waiting = start(
    prefix,
    setting === Setting.OURS_SERVES ? ours(places.server, command) : underLauncher(places.server, command),
  );
  const asking = [program, ...client(places)];
  const words = setting === Setting.OURS_ASKS ? ours(places.client, asking) : underLauncher(places.client, asking);
  // A moment for a server to be there: most clients do not ask twice.
  await sleep(AGAIN_MS * 4);
  let found = await start(prefix, words).ended;
  for (
    let i = 0;
    i < TRIES && found.code !== 0 && TOO_EARLY.test(found.output) && waiting.child.exitCode === null;
    i += 1
  ) {
    await sleep(AGAIN_MS);
    found = await start(prefix, words).ended;
  }
  if (found.code !== 0 || !serverEnds) end(waiting.child);
  const served = await waiting.ended;
  const code = found.code !== 0 ? found.code : serverEnds ? served.code : 0;
  return { code, output: `client, ${found.code}:\n${found.output}\nserver, ${served.code}:\n${served.output}` };
}

/** In which settings a meeting can be played. */
export function settingsOf({ server, ours: hasTool }: Meeting): readonly Setting[] {
  if (server === undefined) return [Setting.ONE];
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
  const silent = meeting.says !== undefined && !meeting.says.test(output);
  const ok = code === 0 && !silent;
  const verdict = silent && code === 0 ? `nothing like ${String(meeting.says)} was printed` : `exit ${String(code)}`;
  return { meeting: meeting.name, setting, ok, seconds, why: ok ? '' : `${verdict}\n${output}` };
}
