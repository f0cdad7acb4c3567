// Verifies webhooks as a receiver written in Go does, with nothing but the standard library.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
)

type webhook struct {
	Headers map[string]string
	Body    string
	Secret  string
}

func (w webhook) genuine() bool {
	mac := hmac.New(sha256.New, []byte(w.Secret))
	mac.Write([]byte(w.Headers["X-Service-Delivery-Id"] + "." + w.Headers["X-Service-Timestamp"] + "." + w.Body))
	expected := []byte("sha256=" + hex.EncodeToString(mac.Sum(nil)))
	return hmac.Equal(expected, []byte(w.Headers["X-Service-Signature"])) ||
		hmac.Equal(expected, []byte(w.Headers["X-Service-Signature-Next"]))
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
