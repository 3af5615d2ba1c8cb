/** Tests in a network of their own, where they are root: an interface more or less there harms nobody. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { interfaceFacts, nativeHostProblem } from '../../system/index.js';

/** Each look takes milliseconds. */
const PATIENCE = 1000;

const MARK = 'VERBENA_TEST_NAMESPACE';

export const isInside = process.env[MARK] === 'yes';

/** Runs `ip` of iproute2. */
export function ip(command: string): void {
  execFileSync('ip', command.split(' '));
}

/** Waits until an interface has a carrier, which the kernel tells it a moment after it is switched on. */
export function untilUp(name: string): void {
  for (let i = 0; i < PATIENCE && interfaceFacts(name)?.up !== true; i += 1) ip('link show');
  assert.ok(interfaceFacts(name)?.up, `${name} is down`);
}

/** Why there can be no such network, or false. */
export function namespaceProblem(): string | false {
  const problem = nativeHostProblem();
  if (problem !== undefined) return problem;
  const probe = 'ip link set lo up && ip link add va type veth peer name vb && unshare --net true';
  const { error, status } = spawnSync('unshare', ['--user', '--map-root-user', '--net', 'sh', '-c', probe]);
  if (error !== undefined) return 'there is no unshare (util-linux)';
  return status === 0 ? false : 'no network namespaces with veth can be made here (unshare, iproute2)';
}

/** Runs the test file again, in such a network, and fails with what it printed when one of its tests fails there. */
export function runInside(url: string): void {
  // With what node:test tells its children, the output would be for no human eyes.
  const env = { ...process.env, [MARK]: 'yes', NODE_TEST_CONTEXT: undefined };
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--user', '--map-root-user', '--net', process.execPath, '--test-reporter=tap', fileURLToPath(url)],
    { encoding: 'utf8', env },
  );
  assert.equal(status, 0, stdout + stderr);
}
