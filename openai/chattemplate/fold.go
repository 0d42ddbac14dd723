package chattemplate

// isConstant tells whether jinja2 computes an expression when it compiles: no names and no calls in it. That shows in two
// places only, powerBase and slice.
func isConstant(list ...expr) bool {
	for _, x := range list {
		if x != nil && !isConstantOne(x) {
			return false
		}
	}
	return true
}

func isConstantOne(x expr) bool {
	switch x := x.(type) {
	case constExpr:
		return true
	case tupleExpr:
		return isConstant(x.items...)
	case listExpr:
		return isConstant(x.items...)
	case dictExpr:
		return isConstant(x.keys...) && isConstant(x.values...)
	case unaryExpr:
		return isConstant(x.x)
	case binaryExpr:
		return isConstant(x.x, x.y)
	case concatExpr:
		return isConstant(x.items...)
	case compareExpr:
		for _, c := range x.rest {
			if !isConstant(c.x) {
				return false
			}
		}
		return isConstant(x.x)
	case attrExpr:
		return isConstant(x.x)
	case itemExpr:
		return isConstant(x.x, x.key)
	case sliceExpr:
		return isConstant(x.start, x.stop, x.step)
	case condExpr:
		return x.otherwise != nil && isConstant(x.test, x.then, x.otherwise)
	case filterExpr:
		switch x.name { // these see the context, and so cannot be computed early
		case "map", "select", "reject", "selectattr", "rejectattr", "random":
			return false
		}
		return x.x != nil && isConstant(x.x) && x.args.isConstant()
	case testExpr:
		return isConstant(x.x) && x.args.isConstant()
	}
	return false
}

func (a argList) isConstant() bool {
	for _, kw := range a.kw {
		if !isConstant(kw.value) {
			return false
		}
	}
	return isConstant(a.pos...) && isConstant(a.star, a.starStar)
}
