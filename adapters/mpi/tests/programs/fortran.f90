! The three bindings of Fortran: what arrives at the library is C's.
module older
contains
  subroutine calls(rank, ranks)
    implicit none
    include 'mpif.h'
    integer :: rank, ranks, i, error
    double precision :: own, total
    do i = 1, 6
      own = rank + i
      call MPI_ALLREDUCE(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
      if (total /= ranks * (ranks - 1) / 2 + ranks * i) stop 3
    end do
  end subroutine
end module
module middle
contains
  subroutine calls_by_module(rank, ranks)
    use mpi
    implicit none
    integer :: rank, ranks, error, parts(64)
    parts = -1
    parts(rank + 1) = rank
    call MPI_ALLGATHER(MPI_IN_PLACE, 1, MPI_INTEGER, parts, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    if (parts(ranks) /= ranks - 1) stop 4
  end subroutine
end module
program bindings
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use older
  use middle
  implicit none
  integer :: rank, ranks, told
  type(c_ptr) :: base
  double precision, pointer :: values(:)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call calls(rank, ranks)
  call calls_by_module(rank, ranks)
  told = rank
  call MPI_Bcast(told, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD)
  if (told /= ranks - 1) stop 5
  ! Memory from the adapter begins with a page, and other does not.
  call MPI_Alloc_mem(80000_MPI_ADDRESS_KIND, MPI_INFO_NULL, base)
  if (modulo(transfer(base, 0_c_intptr_t), 4096_c_intptr_t) /= 0) stop 6
  call c_f_pointer(base, values, [10000])
  values = rank
  call MPI_Allreduce(MPI_IN_PLACE, values, 10000, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (any(values /= ranks * (ranks - 1) / 2)) stop 7
  call MPI_Free_mem(values)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print *, 'all right'
  call MPI_Finalize()
end program
