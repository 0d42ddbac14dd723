package chattemplate

// The syntax tree. Expressions and statements are closed sets, told apart by type switches.
type (
	expr interface{ exprNode() }
	stmt interface{ stmtNode() }
)

type (
	dataExpr  struct{ text string } // template text between tags, never escaped
	constExpr struct{ value Value }
	nameExpr  struct{ name string }
	nsRefExpr struct{ name, attr string } // the target of {% set ns.attr = … %}
	tupleExpr struct{ items []expr }
	listExpr  struct{ items []expr }
	dictExpr  struct{ keys, values []expr }
	unaryExpr struct {
		op string // "-", "+", "not"
		x  expr
	}
	binaryExpr struct {
		op   string // arithmetic, "and", "or"
		x, y expr
	}
	concatExpr struct{ items []expr }
	comparison struct {
		op string
		x  expr
	}
	compareExpr struct {
		x    expr
		rest []comparison
	}
	attrExpr struct {
		x    expr
		name string
	}
	itemExpr  struct{ x, key expr }
	sliceExpr struct{ start, stop, step expr }
	condExpr  struct{ test, then, otherwise expr }
	callExpr  struct {
		x    expr
		args argList
	}
	filterExpr struct {
		x    expr // nil: the text of a filter or set block
		name string
		args argList
		line int
	}
	testExpr struct {
		x    expr
		name string
		args argList
		line int
	}
)

type keyword struct {
	name  string
	value expr
}

type argList struct {
	pos            []expr
	kw             []keyword
	star, starStar expr
}

func (dataExpr) exprNode()    {}
func (constExpr) exprNode()   {}
func (nameExpr) exprNode()    {}
func (nsRefExpr) exprNode()   {}
func (tupleExpr) exprNode()   {}
func (listExpr) exprNode()    {}
func (dictExpr) exprNode()    {}
func (unaryExpr) exprNode()   {}
func (binaryExpr) exprNode()  {}
func (concatExpr) exprNode()  {}
func (compareExpr) exprNode() {}
func (attrExpr) exprNode()    {}
func (itemExpr) exprNode()    {}
func (sliceExpr) exprNode()   {}
func (condExpr) exprNode()    {}
func (callExpr) exprNode()    {}
func (filterExpr) exprNode()  {}
func (testExpr) exprNode()    {}

type (
	outputStmt struct{ items []expr }
	forStmt    struct {
		target, iter, test expr
		recursive          bool
		body, otherwise    []stmt
		line               int
	}
	ifBranch struct {
		test expr
		body []stmt
	}
	ifStmt struct {
		branches  []ifBranch // if and every elif
		otherwise []stmt
	}
	setStmt      struct{ target, value expr }
	setBlockStmt struct {
		target expr
		filter expr // a chain of filterExpr, or nil
		body   []stmt
	}
	signature struct {
		params   []string
		defaults []expr // of the last params
	}
	macroStmt struct {
		name string
		sig  signature
		body []stmt
		line int
	}
	callStmt struct {
		sig  signature
		call callExpr
		body []stmt
		line int
	}
	generationStmt  struct{ body []stmt }
	filterBlockStmt struct {
		filter expr
		body   []stmt
	}
	withStmt struct {
		targets, values []expr
		body            []stmt
	}
	autoescapeStmt struct {
		on   expr
		body []stmt
	}
	blockStmt struct {
		name             string
		scoped, required bool
		body             []stmt
	}
	// loadStmt is include, import, from or extends: it fails when it is reached, as no other template can be loaded.
	loadStmt struct {
		tag   string
		x     expr
		names []string // that an import would define
	}
	loopControlStmt struct{ signal signal }
)

func (outputStmt) stmtNode()      {}
func (forStmt) stmtNode()         {}
func (ifStmt) stmtNode()          {}
func (setStmt) stmtNode()         {}
func (setBlockStmt) stmtNode()    {}
func (macroStmt) stmtNode()       {}
func (callStmt) stmtNode()        {}
func (generationStmt) stmtNode()  {}
func (filterBlockStmt) stmtNode() {}
func (withStmt) stmtNode()        {}
func (autoescapeStmt) stmtNode()  {}
func (blockStmt) stmtNode()       {}
func (loadStmt) stmtNode()        {}
func (loopControlStmt) stmtNode() {}
