/** What only programs of the device can do, in OpenCL C. */
export const COMPARE_SOURCE = `
__kernel void first_difference(__global const uchar *a, ulong aAt, __global const uchar *b, ulong bAt,
                               ulong length, __global ulong *first) {
  const ulong part = get_global_id(0);
  ulong at = part;
  while (at < length && a[aAt + at] == b[bAt + at]) at += get_global_size(0);
  first[part] = min(at, length);
}
`;

/** By cl_khr_int64_base_atomics. */
export const ATOMIC_SOURCE = `
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
__kernel void fetch_add(volatile __global ulong *words, ulong at, ulong addend, __global ulong *found) {
  *found = atom_add(&words[at], addend);
}
__kernel void compare_swap(volatile __global ulong *words, ulong at, ulong compare, ulong swap,
                           __global ulong *found) {
  *found = atom_cmpxchg(&words[at], compare, swap);
}
`;
