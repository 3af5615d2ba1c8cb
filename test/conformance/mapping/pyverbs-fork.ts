import type { Mapping } from './types.js';

export const mapping: Mapping = {
  'ForkAPITest.test_is_fork_initialized': {
    reason:
      'JavaScript has no fork. What it protects is memory that a board reads by physical addresses, which a fork takes away from under it; a NIC made of software reads the memory of its own process.',
  },
};
