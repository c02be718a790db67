// D = A B^T: bf16 operands, f32 result, in tiles of 64 x 64. The kernel of docs/skeleton_guide.md, with its fault:
// it wants a proxy fence before the second bar_sync.
// Each helper is one PTX instruction, or the loop around one.

using u32 = unsigned int;
using u64 = unsigned long long;

struct alignas(64) TensorMap {
  u64 words[16];
};

__device__ u32 shared(const void *p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

__device__ void mbar_init(u64 *b, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(b)), "r"(count) : "memory");
}

__device__ void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ void mbar_arrive(u64 *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(b)) : "memory");
}

__device__ void mbar_arrive_expect_tx(u64 *b, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes) : "memory");
}

__device__ void mbar_wait(u64 *b, u32 parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(shared(b)), "r"(parity) : "memory");
}

__device__ void tma_load(void *to, const TensorMap &map, int x, int y, u64 *b) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          shared(to)), "l"(&map), "r"(x), "r"(y), "r"(shared(b)) : "memory");
}

__device__ void tma_store(const TensorMap &map, int x, int y, const void *from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
               "r"(y), "r"(shared(from)) : "memory");
}

__device__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void bar_sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
__device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int N>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

__device__ u64 descriptor(const void *tile) {  // rows of 128 bytes, 128-byte swizzle
  return (shared(tile) >> 4 & 0x3fff) | u64(1) << 16 | u64(64) << 32 | u64(1) << 62;
}

__device__ void wgmma(float (&c)[32], u64 a, u64 b, int accumulate) {
  asm volatile(
      "{ .reg .pred add;\n"
      "setp.ne.b32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, add, "
      "1, 1, 0, 0; }"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]),
        "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]),
        "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
        "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
      : "l"(a), "l"(b), "r"(accumulate)
      : "memory");
}

constexpr int S = 4;            // slots of the ring
constexpr int TILE = 64 * 128;  // bytes of 64 x 64 bf16

struct Shared {
  alignas(1024) char a[S][TILE], b[S][TILE];
  alignas(128) float out[64][64];
  u64 full[S], empty[S];
};

struct State {  // a place in the ring
  int slot = 0;
  u32 phase = 0;
  __device__ void next() {
    if (++slot == S) slot = 0, phase ^= 1;
  }
};

extern "C" __global__ void __launch_bounds__(256)
gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
     const __grid_constant__ TensorMap map_d, int tiles, int columns, int steps) {
  extern __shared__ char raw[];
  Shared &s = *reinterpret_cast<Shared *>((u64(raw) + 1023) & ~u64(1023));
  if (threadIdx.x == 0) {
    for (int i = 0; i < S; ++i) mbar_init(&s.full[i], 1), mbar_init(&s.empty[i], 4);
    fence_mbarrier_init();
  }
  __syncthreads();
  State state;
  if (threadIdx.x == 0) {  // the producer; the other threads of its warpgroup have nothing to do
    for (int t = blockIdx.x; t < tiles; t += gridDim.x)
      for (int k = 0; k < steps; ++k) {
        mbar_wait(&s.empty[state.slot], state.phase ^ 1);
        mbar_arrive_expect_tx(&s.full[state.slot], 2 * TILE);
        tma_load(s.a[state.slot], map_a, 64 * k, t / columns * 64, &s.full[state.slot]);
        tma_load(s.b[state.slot], map_b, 64 * k, t % columns * 64, &s.full[state.slot]);
        state.next();
      }
  } else if (threadIdx.x >= 128) {  // the consumer, a warpgroup
    int thread = threadIdx.x - 128, warp = thread / 32, lane = thread % 32, last;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
      float acc[32];
      for (int k = 0; k < steps; ++k) {
        mbar_wait(&s.full[state.slot], state.phase);
        wgmma_fence();
        for (int j = 0; j < 4; ++j)
          wgmma(acc, descriptor(s.a[state.slot] + 32 * j), descriptor(s.b[state.slot] + 32 * j), k + j);
        wgmma_commit();
        wgmma_wait<1>();  // the step before is done: give its slot back
        if (k > 0 && lane == 0) mbar_arrive(&s.empty[last]);
        last = state.slot;
        state.next();
      }
      wgmma_wait<0>();
      if (lane == 0) mbar_arrive(&s.empty[last]);
      if (thread == 0) bulk_wait_read();  // the store of the tile before has read `out`
      bar_sync(1, 128);
      for (int i = 0; i < 32; ++i)
        s.out[16 * warp + lane / 4 + i / 2 % 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2] = acc[i];
      bar_sync(1, 128);
      if (thread == 0) {
        tma_store(map_d, t % columns * 64, t / columns * 64, s.out);
        bulk_commit();
      }
    }
    if (thread == 0) bulk_wait();
  }
}
