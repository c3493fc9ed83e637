/* A region that shares 72 variables, which compilers pass one by one; then one of few. */
#include <omp.h>
#include <stdio.h>

#define EACH(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) \
    X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) \
    X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) X(33) X(34) X(35) \
    X(36) X(37) X(38) X(39) X(40) X(41) X(42) X(43) X(44) X(45) X(46) X(47) \
    X(48) X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56) X(57) X(58) X(59) \
    X(60) X(61) X(62) X(63) X(64) X(65) X(66) X(67) X(68) X(69) X(70) X(71)

int main(void)
{
    int wrong = 0;
    omp_set_num_threads(3);
#define DECLARE(n) int v##n = n;
    EACH(DECLARE)
    for (int round = 0; round < 50; round++) {
#define ADD(n) v##n += 1;
#pragma omp parallel
        {
#pragma omp single
            {
                EACH(ADD)
            }
#define COMPARE(n) | (v##n != n + round + 1)
            int here = 0 EACH(COMPARE);
            if (here) {
#pragma omp atomic
                wrong += 1;
            }
        }
        int few = 0;
#pragma omp parallel shared(few)
        {
#pragma omp barrier
#pragma omp atomic
            few += 1;
#pragma omp barrier
            if (few != 3) {
#pragma omp atomic
                wrong += 1;
            }
        }
    }
    puts(wrong ? "wrong" : "right");
    return wrong != 0;
}
