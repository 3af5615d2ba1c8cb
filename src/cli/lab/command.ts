import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { tool, ToolError } from '../kit/errors.js';

interface Program {
  readonly file: string;
  /** What may follow its name. */
  readonly usage: string;
}

/** A teaching program, or several that play together. Its page is labs/lab-NAME.md. */
interface Lab {
  readonly what: string;
  /** By the role that the user names; one without a name is the lab's only program. */
  readonly programs: ReadonlyMap<string, Program>;
}

/** The role of a program that has no other beside it. */
const ONLY = '';

const LABS: ReadonlyMap<string, Lab> = new Map([
  [
    'a',
    {
      what: 'two queue pairs in one program',
      programs: new Map([[ONLY, { file: 'lab-a', usage: '' }]]),
    },
  ],
  ['b', { what: 'two hosts and ibv_rc_pingpong: a page without a program', programs: new Map() }],
  [
    'c',
    {
      what: 'two hosts: connection info over TCP, then send, write and read',
      programs: new Map([[ONLY, { file: 'lab-c', usage: 'server | HOST' }]]),
    },
  ],
  [
    'd',
    {
      what: 'as c, with the memory of both hosts on GPUs',
      programs: new Map([[ONLY, { file: 'lab-d', usage: 'server | HOST [ADDRESS] [--gpu cuda|opencl]' }]]),
    },
  ],
  [
    '3',
    {
      what: 'two hosts that connect by rdma_cm and move a file: an exercise with a grader',
      programs: new Map([
        [
          'receiver',
          {
            file: 'lab-3-receiver',
            usage: '[ADDRESS] [-o FILE] [--patience SECONDS] [--secret TEXT]',
          },
        ],
        ['sender', { file: 'lab-3-sender', usage: 'HOST FILE [ID]' }],
        ['solution', { file: 'lab-3-solution', usage: 'HOST FILE [ID]' }],
      ]),
    },
  ],
]);

const EXAMPLES = [
  'verbena lab a',
  'verbena lab c server',
  'verbena lab c 127.0.0.1',
  'verbena lab d server',
  'verbena lab d 127.0.0.1',
  'verbena lab 3 receiver',
  'verbena lab 3 sender 127.0.0.1 FILE',
];

function programOf(
  name: string,
  lab: Lab,
  args: readonly string[],
): { program: Program; called: string; rest: readonly string[] } {
  const only = lab.programs.get(ONLY);
  if (only !== undefined) return { program: only, called: name, rest: args };
  const [role, ...rest] = args;
  const program = lab.programs.get(role);
  if (program !== undefined) return { program, called: `${name} ${role}`, rest };
  const roles = [...lab.programs.keys()].join(', ');
  throw new ToolError(`Lab ${name} has several programs; say which one: ${roles}.`);
}

/** In a clone, compiles an edited lab. Nothing but this lab depends on the outcome. @throws ToolError when it does not compile */
async function compileInClone(file: string): Promise<void> {
  const compiler = fileURLToPath(new URL('../../../../scripts/lab.mjs', import.meta.url));
  if (!existsSync(compiler)) return;
  const child = spawn(process.execPath, [compiler, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new ToolError(`lab: labs/${file}.ts did not run. Correct it and run the lab again.`);
}

async function runLab(wanted: string, args: readonly string[]): Promise<void> {
  const name = wanted.toLowerCase().replace(/^lab-?/, '');
  const lab = LABS.get(name);
  if (lab === undefined) throw new ToolError(`There is no lab '${wanted}'; there are: ${[...LABS.keys()].join(', ')}.`);
  if (lab.programs.size === 0) {
    process.stdout.write(`Lab ${name} has no program of its own: read labs/lab-${name}.md.\n`);
    return;
  }
  const { program, called, rest } = programOf(name, lab, args);
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(
      `${`Usage: verbena lab ${called} ${program.usage}`.trimEnd()}\n\nThe page: labs/lab-${name}.md\n`,
    );
    return;
  }
  await compileInClone(program.file);
  const file = fileURLToPath(new URL(`../../../labs/${program.file}.js`, import.meta.url));
  if (!existsSync(file)) throw new ToolError(`${file} is missing; run \`npm run build\` first.`);
  // A process of its own: a lab is a whole program, to be read and run as one.
  const runner = fileURLToPath(new URL('./lab-process.js', import.meta.url));
  const child = spawn(process.execPath, ['--enable-source-maps', runner, file, ...rest], {
    // By the channel the lab's process notices the end of this one.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const [signal, code] of [
    ['SIGHUP', 129],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => {
      child.kill(signal);
      process.exit(code);
    });
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
