package proxy

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var openAPIDocument []byte // what every route takes and gives

// openAPI answers GET /openapi.json.
func (g *Gateway) openAPI(x *exchange, _ *http.Request) error {
	writeJSON(x, http.StatusOK, openAPIDocument)
	return nil
}
