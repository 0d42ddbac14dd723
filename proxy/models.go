package proxy

import (
	"net/http"
	"strings"

	"leeway/openai"
)

// listModels answers GET /v1/models: what requests can be made of at this moment, each name once.
func (g *Gateway) listModels(x *exchange, _ *http.Request) error {
	list := openai.ModelList{}
	for _, m := range g.models.list() {
		if m.ready > 0 {
			list = append(list, openai.Model{ID: m.name, MaxModelLen: m.context})
		}
	}
	return sendJSON(x, http.StatusOK, list)
}

// showModel answers GET /v1/models/{id}; an id may hold slashes.
func (g *Gateway) showModel(x *exchange, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, "/v1/models/")
	for _, m := range g.models.list() {
		if m.name == g.models.canonical(name) && m.ready > 0 {
			return sendJSON(x, http.StatusOK, openai.Model{ID: m.name, MaxModelLen: m.context})
		}
	}
	return unknownModel(name)
}
