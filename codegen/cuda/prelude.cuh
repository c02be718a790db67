#define DEVICE __device__ __forceinline__

using int64 = long long;

// Storage types narrower than they are computed in. Values are computed in float, double or int.
struct bf16 { unsigned short bits; };
struct f16 { unsigned short bits; };
struct e4m3 { unsigned char bits; };
struct e5m2 { unsigned char bits; };
struct tf32 { unsigned bits; };

struct alignas(64) TensorMap { unsigned long long words[16]; };

DEVICE float widen(bf16 x) { return __int_as_float(x.bits << 16); }
DEVICE float widen(tf32 x) { return __int_as_float(static_cast<int>(x.bits)); }
DEVICE float widen(f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
DEVICE float widen(e4m3 x) {
    unsigned pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(x.bits)));
    return widen(f16{static_cast<unsigned short>(pair)});
}
DEVICE float widen(e5m2 x) {
    unsigned pair;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(x.bits)));
    return widen(f16{static_cast<unsigned short>(pair)});
}
DEVICE float widen(float x) { return x; }
DEVICE double widen(double x) { return x; }
DEVICE int widen(int x) { return x; }
DEVICE int widen(signed char x) { return x; }
DEVICE int widen(unsigned char x) { return x; }

// Two floats rounded to nearest even, `low` in the low half.
DEVICE unsigned pack_bf16(float low, float high) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
DEVICE unsigned pack_f16(float low, float high) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

// Rounding to a storage type: to nearest even; fp8 and integers saturate, an integer NaN is 0.
template <typename T> DEVICE T narrow(float x);
template <> DEVICE float narrow<float>(float x) { return x; }
template <> DEVICE double narrow<double>(float x) { return x; }
template <> DEVICE bf16 narrow<bf16>(float x) { return bf16{static_cast<unsigned short>(pack_bf16(x, 0.0f))}; }
template <> DEVICE f16 narrow<f16>(float x) { return f16{static_cast<unsigned short>(pack_f16(x, 0.0f))}; }
template <> DEVICE e4m3 narrow<e4m3>(float x) {
    unsigned short pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return e4m3{static_cast<unsigned char>(pair)};
}
template <> DEVICE e5m2 narrow<e5m2>(float x) {
    unsigned short pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return e5m2{static_cast<unsigned char>(pair)};
}
template <> DEVICE tf32 narrow<tf32>(float x) {
    const unsigned bits = __float_as_int(x);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return tf32{finite ? (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu : bits};
}
template <> DEVICE int narrow<int>(float x) { return __float2int_rn(x); }
template <> DEVICE signed char narrow<signed char>(float x) { return max(-128, min(127, __float2int_rn(x))); }
template <> DEVICE unsigned char narrow<unsigned char>(float x) { return max(0, min(255, __float2int_rn(x))); }

template <typename T> DEVICE T narrow(double x) {
    // Rounding to odd first makes the second rounding exact.
    const float toward_zero = __double2float_rz(x);
    const bool inexact = static_cast<double>(toward_zero) != x && x - x == 0.0;
    return narrow<T>(inexact ? __int_as_float(__float_as_int(toward_zero) | 1) : toward_zero);
}
template <> DEVICE double narrow<double>(double x) { return x; }
template <> DEVICE float narrow<float>(double x) { return static_cast<float>(x); }
template <> DEVICE int narrow<int>(double x) { return __double2int_rn(x); }
template <> DEVICE signed char narrow<signed char>(double x) { return max(-128, min(127, __double2int_rn(x))); }
template <> DEVICE unsigned char narrow<unsigned char>(double x) { return max(0, min(255, __double2int_rn(x))); }

template <typename T> DEVICE T narrow(int x) { return narrow<T>(static_cast<float>(x)); }
template <> DEVICE double narrow<double>(int x) { return x; }
template <> DEVICE int narrow<int>(int x) { return x; }
template <> DEVICE signed char narrow<signed char>(int x) { return static_cast<signed char>(x); }
template <> DEVICE unsigned char narrow<unsigned char>(int x) { return static_cast<unsigned char>(x); }

// Floor division by a positive number.
DEVICE int floor_div(int x, int y) { return x >= 0 ? x / y : ~(~x / y); }
DEVICE int floor_mod(int x, int y) { return x % y + (x % y < 0 ? y : 0); }

// Consecutive elements in one access.
template <typename T, int N> struct alignas(sizeof(T) * N) Vector { T items[N]; };
template <typename T, typename... More> DEVICE void store_vector(T* to, T first, More... more) {
    constexpr int count = 1 + sizeof...(More);
    *reinterpret_cast<Vector<T, count>*>(to) = Vector<T, count>{{first, more...}};
}
template <int BYTES> struct Access;
template <> struct Access<2> { using type = unsigned short; };
template <> struct Access<4> { using type = unsigned; };
template <> struct Access<8> { using type = uint2; };
template <> struct Access<16> { using type = uint4; };
template <int BYTES> DEVICE void copy_vector(void* to, const void* from) {
    using Word = typename Access<BYTES>::type;
    *static_cast<Word*>(to) = *static_cast<const Word*>(from);
}

// Asynchronous copies to shared memory; of the source only `bytes` are read, and the rest is zero.
template <int BYTES> DEVICE void copy_async(void* to, const void* from) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared::cta.global [%0], [%1], 16;"
                     : : "r"(address), "l"(__cvta_generic_to_global(from)) : "memory");
    } else {
        asm volatile("cp.async.ca.shared::cta.global [%0], [%1], %2;"
                     : : "r"(address), "l"(__cvta_generic_to_global(from)), "n"(BYTES) : "memory");
    }
}
template <int BYTES> DEVICE void copy_async(void* to, const void* from, int bytes) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared::cta.global [%0], [%1], 16, %2;"
                     : : "r"(address), "l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory");
    } else {
        asm volatile("cp.async.ca.shared::cta.global [%0], [%1], %2, %3;"
                     : : "r"(address), "l"(__cvta_generic_to_global(from)), "n"(BYTES), "r"(bytes) : "memory");
    }
}
DEVICE int count_inside(int first, int extent, int count) {
    return first < 0 ? 0 : max(0, min(count, extent - first));
}

// Shared memory: 32-bit addresses, and the swizzles of TMA and wgmma on byte offsets from an aligned base.
DEVICE unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
// The buffer that follows may lie where another one, of another type, has been.
DEVICE void new_storage() { asm volatile("" : : : "memory"); }
template <int BYTES> DEVICE unsigned swizzle(unsigned offset) { return offset ^ ((offset >> 3) & (BYTES - 16)); }
DEVICE unsigned long long matrix_descriptor(unsigned start, unsigned low, unsigned high) {
    // The start address counts 16-byte units; shared memory is far below 2^18 bytes, so no field overflows.
    return static_cast<unsigned long long>(high) << 32 | ((start >> 4) + low);
}
DEVICE unsigned long long map_address(const TensorMap& map) { return reinterpret_cast<unsigned long long>(&map); }
DEVICE void prefetch_map(const TensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" : : "l"(map_address(map)) : "memory");
}

// Barriers.
DEVICE void mbarrier_init(unsigned barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(barrier), "r"(count) : "memory");
}
DEVICE void mbarrier_init_done() { asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); }
DEVICE void mbarrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}
DEVICE void mbarrier_arrive_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;"
                 : : "r"(barrier), "r"(bytes) : "memory");
}
DEVICE bool mbarrier_try_wait(unsigned barrier, unsigned parity) {
    unsigned done;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, 10000000;\n"
        "selp.b32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
    return done != 0;
}
DEVICE void mbarrier_wait(unsigned barrier, unsigned parity) {
    while (!mbarrier_try_wait(barrier, parity)) {
    }
}
DEVICE void mbarrier_arrive_at(unsigned barrier, unsigned cta) {
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
        "}\n"
        : : "r"(barrier), "r"(cta) : "memory");
}
DEVICE void mbarrier_arrive_relaxed_at(unsigned barrier, unsigned cta) {
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n"
        "}\n"
        : : "r"(barrier), "r"(cta) : "memory");
}
DEVICE void mbarrier_arrive_expect_at(unsigned barrier, unsigned cta, unsigned bytes) {
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [remote], %2;\n"
        "}\n"
        : : "r"(barrier), "r"(cta), "r"(bytes) : "memory");
}
DEVICE bool mbarrier_try_wait_cluster(unsigned barrier, unsigned parity) {
    unsigned done;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2, 10000000;\n"
        "selp.b32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
    return done != 0;
}
DEVICE void mbarrier_wait_cluster(unsigned barrier, unsigned parity) {
    while (!mbarrier_try_wait_cluster(barrier, parity)) {
    }
}

// Clusters.
DEVICE unsigned cluster_rank() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
DEVICE void cluster_barrier() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" : : : "memory");
}
template <class T> DEVICE T* in_cta(T* pointer, unsigned cta) {
    unsigned long long remote;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(reinterpret_cast<unsigned long long>(pointer)), "r"(cta));
    return reinterpret_cast<T*>(remote);
}
DEVICE void named_barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}
template <int REGISTERS> DEVICE void registers_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(REGISTERS) : "memory");
}
template <int REGISTERS> DEVICE void registers_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(REGISTERS) : "memory");
}

// Keeps the compiler from moving accesses of wgmma's register operands across this point.
template <int N> DEVICE void pin(float (&registers)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
        asm volatile("" : "+f"(registers[i]) : : "memory");
    }
}
template <int N> DEVICE void pin(unsigned (&registers)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
        asm volatile("" : "+r"(registers[i]) : : "memory");
    }
}
