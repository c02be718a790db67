// Runs the generated kernel code on the CPU: one thread of the machine for each CUDA thread of a CTA, CTAs in turn.
// Asynchronous operations are performed at once; what is checked is which data goes where, and that nothing hangs.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define DEVICE static inline
#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
#define __restrict__
using std::max;
using std::min;

using int64 = long long;

struct Index {
    unsigned x;
};
static thread_local Index threadIdx, blockIdx;
static Index gridDim;

// Shared memory starts 16 bytes past a multiple of 1024, the least that a launch guarantees.
alignas(1024) static unsigned char storage[1 << 18];
static unsigned char* const shared_raw = storage + 16;
static unsigned shared_address(const void* p) {
    return static_cast<unsigned>(static_cast<const unsigned char*>(p) - storage);
}

struct bf16 {
    unsigned short bits;
};
static float float_of(unsigned bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
static unsigned bits_of(float x) {
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}
#define __int_as_float float_of
static float widen(bf16 x) { return float_of(static_cast<unsigned>(x.bits) << 16); }
template <typename T> T narrow(float x);
template <> bf16 narrow<bf16>(float x) {
    const unsigned bits = bits_of(x);
    return bf16{static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
static unsigned pack_bf16(float low, float high) {
    return narrow<bf16>(low).bits | static_cast<unsigned>(narrow<bf16>(high).bits) << 16;
}
template <typename T, typename... More> void store_vector(T* to, T first, More... more) {
    const T values[] = {first, more...};
    memcpy(to, values, sizeof values);
}
template <int BYTES> void copy_vector(void* to, const void* from) { memcpy(to, from, BYTES); }
template <int BYTES> unsigned swizzle(unsigned offset) { return offset ^ ((offset >> 3) & (BYTES - 16)); }
static unsigned swizzled(unsigned address, int bytes) { return address ^ ((address >> 3) & (bytes ? bytes - 16 : 0)); }
template <int N> void pin(float (&)[N]) {}
template <int N> void pin(unsigned (&)[N]) {}
template <int N> void registers_dec() {}
template <int N> void registers_inc() {}
static unsigned long long matrix_descriptor(unsigned start, unsigned low, unsigned high) {
    return static_cast<unsigned long long>(high) << 32 | ((start >> 4) + low);
}

// Barriers.
static std::mutex lock;
static std::map<int, std::unique_ptr<std::barrier<>>> barriers;
static void meet(int id, int threads) {
    std::barrier<>* found;
    {
        std::lock_guard guard(lock);
        auto& slot = barriers[id];
        if (!slot) slot = std::make_unique<std::barrier<>>(threads);
        found = slot.get();
    }
    found->arrive_and_wait();
}
static int cta_threads;
#define __syncthreads() meet(0, cta_threads)
static void named_barrier(int id, int threads) { meet(id, threads); }
static void warp_meet() { meet(100 + threadIdx.x / 32, 32); }
#define __syncwarp(...) warp_meet()
#define __shfl_sync(mask, value, lane) (value)

struct Mbarrier {
    int count, pending, bytes, phase;
    void settle() {
        if (pending == 0 && bytes == 0) {
            pending = count;
            ++phase;
        }
    }
};
static std::map<unsigned, Mbarrier> mbarriers;
static void mbarrier_init(unsigned at, int count) {
    std::lock_guard guard(lock);
    mbarriers[at] = {count, count, 0, 0};
}
static void mbarrier_init_done() {}
static void mbarrier_update(unsigned at, int arrivals, int bytes) {
    std::lock_guard guard(lock);
    Mbarrier& b = mbarriers.at(at);
    b.bytes += bytes;
    b.pending -= arrivals;
    b.settle();
}
static void mbarrier_arrive(unsigned at) { mbarrier_update(at, 1, 0); }
static void mbarrier_arrive_expect(unsigned at, int bytes) { mbarrier_update(at, 1, bytes); }
static void mbarrier_wait(unsigned at, int parity) {
    for (;;) {
        {
            std::lock_guard guard(lock);
            if ((mbarriers.at(at).phase & 1) != parity) return;
        }
        std::this_thread::yield();
    }
}

// TMA: the map's words are address, inner and outer extent, pitch in bytes, inner and outer box, element bytes, swizzle.
struct alignas(64) TensorMap {
    long long words[16];
};
static unsigned long long map_address(const TensorMap& map) { return reinterpret_cast<unsigned long long>(&map); }
static void prefetch_map(const TensorMap&) {}
template <typename Move> int tile(unsigned long long map, int c0, int c1, unsigned at, int chunk, Move move) {
    const long long* w = reinterpret_cast<const TensorMap*>(map)->words;
    const long long end = (w[1] * w[6] + chunk - 1) / chunk * chunk / w[6];
    for (int row = 0; row < w[5]; ++row) {
        for (int column = 0; column < w[4]; ++column) {
            const long long x = c0 + column, y = c1 + row;
            const bool inside = x >= 0 && x < end && y >= 0 && y < w[2];
            unsigned char* global = reinterpret_cast<unsigned char*>(w[0]) + y * w[3] + x * w[6];
            const unsigned raw = at + static_cast<unsigned>((row * w[4] + column) * w[6]);
            move(storage + swizzled(raw, static_cast<int>(w[7])), inside ? global : nullptr, w[6]);
        }
    }
    return static_cast<int>(w[4] * w[5] * w[6]);
}
static void tma_load_2d(unsigned dst, unsigned long long map, int c0, int c1, unsigned barrier) {
    const int bytes = tile(map, c0, c1, dst, 1, [](unsigned char* shared, unsigned char* global, long long size) {
        global ? memcpy(shared, global, size) : memset(shared, 0, size);
    });
    mbarrier_update(barrier, 0, -bytes);
}
// A store that is cut off at the end of a row writes whole chunks of 16 bytes, as the hardware does.
static void tma_store_2d(unsigned long long map, int c0, int c1, unsigned src) {
    tile(map, c0, c1, src, 16, [](unsigned char* shared, unsigned char* global, long long size) {
        if (global) memcpy(global, shared, size);
    });
}
static void tma_reduce_add_2d(unsigned long long map, int c0, int c1, unsigned src) {
    std::lock_guard guard(lock);
    tile(map, c0, c1, src, 16, [](unsigned char* shared, unsigned char* global, long long) {
        if (global) *reinterpret_cast<float*>(global) += *reinterpret_cast<float*>(shared);
    });
}

// Atomic sums.
static unsigned long long __cvta_generic_to_global(const void* p) { return reinterpret_cast<unsigned long long>(p); }
static void add_f32(unsigned long long to, float v0) {
    std::lock_guard guard(lock);
    *reinterpret_cast<float*>(to) += v0;
}
static void add_f32_2(unsigned long long to, float v0, float v1) {
    add_f32(to, v0);
    add_f32(to + 4, v1);
}
static void add_f32_4(unsigned long long to, float v0, float v1, float v2, float v3) {
    add_f32_2(to, v0, v1);
    add_f32_2(to + 8, v2, v3);
}

// wgmma on operands with 128-byte swizzle, rows along K or across, or A in registers; each thread computes its own
// fragment of D.
static float element(unsigned raw) {
    bf16 value;
    memcpy(&value, storage + swizzled(raw, 128), 2);
    return widen(value);
}
static float operand(unsigned long long descriptor, int row, int k, bool across) {
    const unsigned start = (descriptor & 0x3fff) << 4, stride = (descriptor >> 32 & 0x3fff) << 4;
    const unsigned leading = (descriptor >> 16 & 0x3fff) << 4;
    if (across) return element(start + row / 64 * leading + k / 8 * stride + k % 8 * 128 + row % 64 * 2);
    return element(start + row / 8 * stride + row % 8 * 128 + k * 2);
}
template <typename A> void multiply(int n, float* d, A a, unsigned long long b, bool accumulate, bool along_n) {
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    for (int i = 0; i < n / 2; ++i) {
        const int row = 16 * warp + lane / 4 + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
        float sum = accumulate ? d[i] : 0.0f;
        for (int k = 0; k < 16; ++k) sum += a(row, k) * operand(b, column, k, along_n);
        d[i] = sum;
    }
}
static void wgmma(int n, float* d, unsigned long long a, unsigned long long b, bool accumulate, bool along_m,
                  bool along_n) {
    meet(200 + threadIdx.x / 128, 128);
    multiply(n, d, [=](int row, int k) { return operand(a, row, k, along_m); }, b, accumulate, along_n);
}
// Register e / 2 of lane l holds elements e, e + 1: row l / 4 + 8 (e / 2 % 2), column 2 (l % 4) + e % 2 + 8 (e / 4).
static float fragments[8][64][16];
static void wgmma(int n, float* d, const unsigned* a, unsigned long long b, bool accumulate, bool, bool along_n) {
    const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    for (int e = 0; e < 8; ++e) {
        const float value = float_of(e % 2 ? a[e / 2] & 0xffff0000u : a[e / 2] << 16);
        fragments[group][16 * warp + lane / 4 + 8 * (e / 2 % 2)][2 * (lane % 4) + e % 2 + 8 * (e / 4)] = value;
    }
    meet(200 + group, 128);
    multiply(n, d, [=](int row, int k) { return fragments[group][row][k]; }, b, accumulate, along_n);
    meet(200 + group, 128);
}
static unsigned rows[64][32];
static void stmatrix_x4(unsigned row, unsigned r0, unsigned r1, unsigned r2, unsigned r3) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    rows[warp][lane] = row;
    warp_meet();
    const unsigned values[4] = {r0, r1, r2, r3};
    for (int m = 0; m < 4; ++m) memcpy(storage + rows[warp][8 * m + lane / 4] + lane % 4 * 4, &values[m], 4);
    warp_meet();
}
static void ldmatrix_x4(unsigned* to, unsigned row) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    rows[warp][lane] = row;
    warp_meet();
    for (int m = 0; m < 4; ++m) memcpy(&to[m], storage + rows[warp][8 * m + lane / 4] + lane % 4 * 4, 4);
    warp_meet();
}

template <typename Kernel> void run(int grid, int threads, Kernel kernel) {
    gridDim.x = grid;
    cta_threads = threads;
    for (int block = 0; block < grid; ++block) {
        barriers.clear();
        mbarriers.clear();
        memset(storage, 0xff, sizeof storage);
        std::vector<std::thread> team;
        for (int thread = 0; thread < threads; ++thread) {
            team.emplace_back([=] {
                threadIdx.x = thread;
                blockIdx.x = block;
                kernel();
            });
        }
        for (auto& member : team) member.join();
    }
}
