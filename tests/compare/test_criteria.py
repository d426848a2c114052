import dither as dt


def test_a_criterion_shows_itself_as_it_is_written() -> None:
    assert [repr(criterion) for criterion in (dt.worst, dt.average)] == ["worst", "average"]
