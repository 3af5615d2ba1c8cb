import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { ToolError, tool } from './errors.js';

/** A teaching program, or several that play together. Its page is labs/lab-NAME.md. */
interface Lab {
  readonly what: string;
  /** Files in labs, by the role that the user names; one without a name is the lab's only program. */
  readonly programs: ReadonlyMap<string, string>;
}

/** The role of a program that has no other beside it. */
const ONLY = '';

const LABS: ReadonlyMap<string, Lab> = new Map([
  ['a', { what: 'two queue pairs in one program', programs: new Map([[ONLY, 'lab-a']]) }],
  ['b', { what: 'two hosts and ibv_rc_pingpong: a page without a program', programs: new Map() }],
  [
    'c',
    {
      what: 'two hosts: connection info over TCP, then send, write and read',
      programs: new Map([[ONLY, 'lab-c']]),
    },
  ],
  [
    '3',
    {
      what: 'two hosts that connect by rdma_cm and move a file: an exercise with a grader',
      programs: new Map([
        ['receiver', 'lab-3-receiver'],
        ['sender', 'lab-3-sender'],
        ['solution', 'lab-3-solution'],
      ]),
    },
  ],
]);

const EXAMPLES = [
  'verbena lab a',
  'verbena lab c server',
  'verbena lab c 127.0.0.1',
  'verbena lab 3 receiver',
  'verbena lab 3 sender 127.0.0.1 FILE',
];

/** The program that the words ask for, and what is left for it to read. */
function programOf(name: string, lab: Lab, args: readonly string[]): { file: string; rest: readonly string[] } {
  const only = lab.programs.get(ONLY);
  if (only !== undefined) return { file: only, rest: args };
  const [role, ...rest] = args;
  const file = lab.programs.get(role);
  if (file !== undefined) return { file, rest };
  const roles = [...lab.programs.keys()].join(', ');
  throw new ToolError(`Lab ${name} has several programs; say which one: ${roles}.`);
}

async function runLab(wanted: string, args: readonly string[]): Promise<void> {
  const name = wanted.toLowerCase().replace(/^lab-?/, '');
  const lab = LABS.get(name);
  if (lab === undefined) throw new ToolError(`There is no lab '${wanted}'; there are: ${[...LABS.keys()].join(', ')}.`);
  if (lab.programs.size === 0) {
    process.stdout.write(`Lab ${name} has no program of its own: read labs/lab-${name}.md.\n`);
    return;
  }
  const { file, rest } = programOf(name, lab, args);
  const program = fileURLToPath(new URL(`../../labs/${file}.js`, import.meta.url));
  if (!existsSync(program)) throw new ToolError(`${program} is missing; run \`npm run build\` first.`);
  // A process of its own: a lab is a whole program, to be read and run as one.
  const runner = fileURLToPath(new URL('./lab-process.js', import.meta.url));
  const child = spawn(process.execPath, ['--enable-source-maps', runner, program, ...rest], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}

export function command(): Command {
  return new Command('lab')
    .description('Run one of the teaching programs; labs/lab-NAME.ts is its text, labs/lab-NAME.md explains it.')
    .argument('<name>', [...LABS].map(([name, { what }]) => `${name}: ${what}`).join('; '))
    .argument('[args...]', "the lab's own arguments, such as `server` or the server's host")
    .passThroughOptions()
    .addHelpText('after', `\nExamples:\n${EXAMPLES.map((line) => `  ${line}`).join('\n')}`)
    .action(tool(runLab));
}
