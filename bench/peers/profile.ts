/** Where a thread's time goes, as V8's sampler sees it. */
import { type Profiler, Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import type { Frame } from '../report/flame.js';

const INTERVAL_US = 100;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Does `work` while its stacks are sampled. @returns them as one tree, in µs */
export function profileOf(work: () => void): Frame {
  const session = new Session();
  session.connect();
  let profile: Profiler.Profile | undefined;
  // Within one thread the answers come before `post` returns.
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  session.post('Profiler.start');
  work();
  session.post('Profiler.stop', (error, result) => {
    if (error === null) profile = result.profile;
  });
  session.disconnect();
  if (profile === undefined) throw new Error('the profiler gave nothing');
  return treeOf(profile);
}

function treeOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame {
  const selfUs = new Map<number, number>();
  samples.forEach((id, i) => selfUs.set(id, (selfUs.get(id) ?? 0) + timeDeltas[i]));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const build = ({ id, callFrame, children = [] }: Profiler.ProfileNode): Frame => {
    const below = children.flatMap((child) => byId.get(child) ?? []).map(build);
    return {
      name: nameOf(callFrame),
      us: below.reduce((sum, { us }) => sum + us, selfUs.get(id) ?? 0),
      children: below,
    };
  };
  // What is below is the event loop's, and the same for all.
  return build(nodes.find(({ callFrame }) => callFrame.functionName === profileOf.name) ?? nodes[0]);
}

function nameOf({ functionName, url }: Profiler.ProfileNode['callFrame']): string {
  // Whatever symbol is nearest: native code says nothing of what it is.
  if (url === '' && !functionName.startsWith('(')) return 'native';
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (!url.startsWith('file:')) return name;
  const path = fileURLToPath(url)
    .replace(root, '')
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts');
  return `${name} ${path}`;
}
