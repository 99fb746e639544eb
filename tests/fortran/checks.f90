! Checks of the Fortran test programs: one that fails prints where and ends the job.
module checks
  implicit none
  integer :: me = -1, ranks = 0
  interface check
    module procedure check_true, check_integers, check_longs, check_texts
  end interface
contains
  subroutine failed(line, text)
    integer, intent(in) :: line
    character(len=*), intent(in) :: text
    write (0, '(a,i0,a,i0,a,i0,2a)') 'FAILED rank ', me, ' of ', ranks, ': line ', line, ': ', text
    flush (0)
    error stop 1
  end subroutine
  subroutine check_true(line, truth)
    integer, intent(in) :: line
    logical, intent(in) :: truth
    if (.not. truth) call failed(line, 'is false')
  end subroutine
  subroutine check_integers(line, got, wanted)
    integer, intent(in) :: line, got, wanted
    character(len=60) :: text
    write (text, '(a,i0,a,i0)') 'is ', got, ', should be ', wanted
    if (got /= wanted) call failed(line, trim(text))
  end subroutine
  subroutine check_longs(line, got, wanted)
    integer, intent(in) :: line
    integer(8), intent(in) :: got, wanted
    character(len=60) :: text
    write (text, '(a,i0,a,i0)') 'is ', got, ', should be ', wanted
    if (got /= wanted) call failed(line, trim(text))
  end subroutine
  subroutine check_texts(line, got, wanted)
    integer, intent(in) :: line
    character(len=*), intent(in) :: got, wanted
    if (len(got) < len(wanted) .or. got /= wanted) call failed(line, 'is "' // got // '", should be "' // wanted // '"')
  end subroutine
end module
