package chattemplate

func pprintFilter(r *render, v Value, a args) (Value, error) {
	s, err := repr(r, v)
	if err != nil {
		return nil, err
	}
	return Str(s), noArgs("pprint", a)
}
