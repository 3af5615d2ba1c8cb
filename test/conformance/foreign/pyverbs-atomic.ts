import { casesOf } from './types.js';

// Both sides in turn, ten rounds: the receiver's 8 bytes are each 1, the operand's each 2 unless said otherwise. QP and
// region have LOCAL_WRITE and REMOTE_ATOMIC. A case "fails" when any completion is not SUCCESS; which is not looked at.
export const pyverbsAtomic = casesOf('pyverbs', 'tests/test_atomic.py', {
  'AtomicTest.test_atomic_cmp_and_swap':
    'RC CMP_SWAP with a compare value that differs leaves the target alone, with an equal one stores the swap value 0; the sender gets the old value each time, SUCCESS.',
  'AtomicTest.test_atomic_fetch_and_add': 'RC FETCH_ADD: target is the sum, sender gets the old value, SUCCESS.',
  'AtomicTest.test_xrc_atomic_fetch_and_add': 'The same FETCH_ADD over XRC QPs, addressed by the peer’s SRQ number.',
  'AtomicTest.test_xrc_atomic_cmp_and_swap': 'The same two CMP_SWAP rounds (unequal, equal) over XRC QPs.',
  'AtomicTest.test_atomic_invalid_qp_access':
    'FETCH_ADD fails when the QPs’ access flags are LOCAL_WRITE only, though the regions allow atomics.',
  'AtomicTest.test_atomic_invalid_mr_access': 'FETCH_ADD fails when the regions have LOCAL_WRITE only.',
  'AtomicTest.test_atomic_non_aligned_addr':
    'FETCH_ADD fails at a remote address one byte past 8-byte alignment (9-byte region).',
  'AtomicTest.test_atomic_invalid_lkey': 'FETCH_ADD fails with lkey + 1.',
  'AtomicTest.test_atomic_invalid_rkey': 'FETCH_ADD fails with rkey + 1.',
});
