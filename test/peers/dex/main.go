// Dex as the identity provider of a test. Reads people and then a client as lines of JSON, and writes its issuer.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/server/signer"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"golang.org/x/crypto/bcrypt"
)

type person struct {
	Email    string
	Password string
	Verified bool
	Groups   []string
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	read := func(into any) {
		if !lines.Scan() {
			os.Exit(1)
		}
		must(json.Unmarshal(lines.Bytes(), into))
	}
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	store := memory.New(logger)

	var people []person
	read(&people)
	for _, one := range people {
		hash, err := bcrypt.GenerateFromPassword([]byte(one.Password), 10)
		must(err)
		must(store.CreatePassword(ctx, storage.Password{
			Email: one.Email, Hash: hash, Username: one.Email, UserID: one.Email,
			EmailVerified: &one.Verified, Groups: one.Groups,
		}))
	}
	must(store.CreateConnector(ctx, storage.Connector{ID: "local", Type: "local", Name: "Password"}))

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	issuer := "http://" + listener.Addr().String()
	keys, err := (&signer.LocalConfig{KeysRotationPeriod: "6h"}).Open(ctx, store, time.Hour, time.Now, logger)
	must(err)
	keys.Start(ctx)
	dex, err := server.NewServer(ctx, server.Config{
		Issuer: issuer, Storage: store, Signer: keys, SkipApprovalScreen: true, Logger: logger,
	})
	must(err)
	go func() { must(http.Serve(listener, dex)) }()
	fmt.Println(issuer)

	var client storage.Client
	read(&client)
	must(store.CreateClient(ctx, client))
	fmt.Println(client.ID)
	for lines.Scan() {
	}
}
