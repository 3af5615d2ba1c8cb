import { casesOf } from './types.js';

export const pyverbsFork = casesOf('pyverbs', 'tests/test_fork.py', {
  'ForkAPITest.test_is_fork_initialized':
    'fork_init works and is_fork_initialized is then ENABLED or UNNEEDED; or it fails with EINVAL (a region exists) and the status is DISABLED or UNNEEDED.',
});
