// Verifies webhooks with the library of Standard Webhooks for Go.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type webhook struct {
	Headers              map[string]string
	Body, StandardSecret string
}

func (w webhook) genuine() bool {
	library, err := standardwebhooks.NewWebhook(w.StandardSecret)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	headers := http.Header{}
	for name, value := range w.Headers {
		headers.Set(name, value)
	}
	return library.Verify([]byte(w.Body), headers) == nil
}

func main() {
	var webhooks []webhook
	if err := json.NewDecoder(os.Stdin).Decode(&webhooks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	verdicts := []bool{}
	for _, w := range webhooks {
		verdicts = append(verdicts, w.genuine())
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
