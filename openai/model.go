package openai

import "encoding/json"

// Model is one entry of GET /v1/models.
type Model struct {
	ID          string
	Created     int64
	OwnedBy     string // "" is "self_hosted"
	MaxModelLen int    // the longest prompt and answer together; left out when unknown
}

type modelJSON struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	MaxModelLen int    `json:"max_model_len,omitempty"`
}

// MarshalJSON writes the object of GET /v1/models/{id}.
func (m Model) MarshalJSON() ([]byte, error) {
	owner := m.OwnedBy
	if owner == "" {
		owner = "self_hosted"
	}
	return json.Marshal(modelJSON{m.ID, "model", m.Created, owner, m.MaxModelLen})
}

// ModelList is the body of GET /v1/models.
type ModelList []Model

// MarshalJSON writes the list object.
func (l ModelList) MarshalJSON() ([]byte, error) {
	data := append([]Model{}, l...)
	return json.Marshal(struct {
		Object string  `json:"object"`
		Data   []Model `json:"data"`
	}{"list", data})
}
