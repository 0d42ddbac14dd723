package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

func TestTheDocumentKnowsEveryRouteAndNoOther(t *testing.T) {
	g := empty(t, nil)
	a := ask(t, g.Handler(), "GET", "/openapi.json", "")
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(a.body), &document); err != nil || a.status != 200 {
		t.Fatalf("%d, %v", a.status, err)
	}
	told := map[string]bool{"GET /openapi.json": true}
	for path, methods := range document.Paths {
		for method := range methods {
			told[strings.ToUpper(method)+" "+path] = true
		}
	}
	served := map[string]bool{}
	err := chi.Walk(g.Handler().(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		route = strings.Replace(route, "/v1/models/*", "/v1/models/{id}", 1)
		switch route {
		case "/health_generate", "/get_server_info", "/get_model_info": // stand for what is not served
			return nil
		}
		if method != http.MethodHead {
			served[method+" "+route] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for route := range served {
		if !told[route] {
			t.Errorf("%s is served and not told", route)
		}
	}
	for route := range told {
		if !served[route] {
			t.Errorf("%s is told and not served", route)
		}
	}
}
