/**
 * What only programs of the device can do, as PTX, which the driver compiles for whatever GPU there is. The version and target
 * are of CUDA 5: any driver that is in use takes them.
 */
const HEADER = `.version 3.0
.target sm_20
.address_size 64
`;

/** `found` gets what the word at `word` was. */
export const ATOMIC_PTX = `${HEADER}
.visible .entry fetch_add(.param .u64 word, .param .u64 addend, .param .u64 found)
{
  .reg .b64 %a<8>;
  ld.param.u64 %a0, [word];
  ld.param.u64 %a1, [addend];
  ld.param.u64 %a2, [found];
  cvta.to.global.u64 %a3, %a0;
  cvta.to.global.u64 %a4, %a2;
  atom.global.add.u64 %a5, [%a3], %a1;
  st.global.u64 [%a4], %a5;
  ret;
}

.visible .entry compare_swap(.param .u64 word, .param .u64 expected, .param .u64 replacement, .param .u64 found)
{
  .reg .b64 %a<8>;
  ld.param.u64 %a0, [word];
  ld.param.u64 %a1, [expected];
  ld.param.u64 %a2, [replacement];
  ld.param.u64 %a3, [found];
  cvta.to.global.u64 %a4, %a0;
  cvta.to.global.u64 %a5, %a3;
  atom.global.cas.b64 %a6, [%a4], %a1, %a2;
  st.global.u64 [%a5], %a6;
  ret;
}
`;

/** Thread i of n compares bytes i, i + n, i + 2n and so on; `first` has a number of 64 bits for each. */
export const COMPARE_PTX = `${HEADER}
.visible .entry first_difference(.param .u64 a, .param .u64 b, .param .u64 length, .param .u64 first)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<16>;
  ld.param.u64 %d0, [a];
  ld.param.u64 %d1, [b];
  ld.param.u64 %d2, [length];
  ld.param.u64 %d3, [first];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d3, %d3;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  mov.u32 %r4, %nctaid.x;
  mul.lo.u32 %r4, %r4, %r1;
  cvt.u64.u32 %d4, %r3;
  cvt.u64.u32 %d5, %r4;
  mov.u64 %d6, %d4;
look:
  setp.ge.u64 %p0, %d6, %d2;
  @%p0 bra same;
  add.u64 %d7, %d0, %d6;
  add.u64 %d8, %d1, %d6;
  ld.global.u8 %r5, [%d7];
  ld.global.u8 %r6, [%d8];
  setp.ne.u32 %p1, %r5, %r6;
  @%p1 bra done;
  add.u64 %d6, %d6, %d5;
  bra look;
same:
  mov.u64 %d6, %d2;
done:
  shl.b64 %d9, %d4, 3;
  add.u64 %d10, %d3, %d9;
  st.global.u64 [%d10], %d6;
  ret;
}
`;
