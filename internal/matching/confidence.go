package matching

func (s *scratch) confidence() float64 { return 1 }
