// Opens checkpoints of an audit trail and checks its tree and proofs, with the packages that Go checks its own modules with.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type trail struct {
	Verifier, Note, OlderNote string
	Leaves                    []string
	Inclusion, Consistency    [][]byte
	Position                  int64
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func open(t trail, text string) (int64, tlog.Hash, error) {
	verifier, err := note.NewVerifier(t.Verifier)
	fail(err)
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return 0, tlog.Hash{}, err
	}
	var origin, root string
	var size int64
	_, err = fmt.Sscanf(opened.Text, "%s\n%d\n%s\n", &origin, &size, &root)
	fail(err)
	bytes, err := base64.StdEncoding.DecodeString(root)
	fail(err)
	return size, tlog.Hash(bytes), nil
}

func hashes(list [][]byte) []tlog.Hash {
	found := []tlog.Hash{}
	for _, hash := range list {
		found = append(found, tlog.Hash(hash))
	}
	return found
}

func main() {
	var t trail
	fail(json.NewDecoder(os.Stdin).Decode(&t))
	size, root, err := open(t, t.Note)
	fail(err)
	older, olderRoot, err := open(t, t.OlderNote)
	fail(err)

	stored := []tlog.Hash{}
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := []tlog.Hash{}
		for _, index := range indexes {
			found = append(found, stored[index])
		}
		return found, nil
	})
	for n, leaf := range t.Leaves {
		added, err := tlog.StoredHashes(int64(n), []byte(leaf), reader)
		fail(err)
		stored = append(stored, added...)
	}
	own, err := tlog.TreeHash(size, reader)
	fail(err)
	ownOlder, err := tlog.TreeHash(older, reader)
	fail(err)

	leaf := tlog.RecordHash([]byte(t.Leaves[t.Position]))
	changed := tlog.RecordHash([]byte(t.Leaves[t.Position] + " "))
	_, _, forged := open(t, t.Note[:10]+"x"+t.Note[11:])
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"sizes":          []int64{size, older},
		"root":           own == root,
		"olderRoot":      ownOlder == olderRoot,
		"inclusion":      tlog.CheckRecord(hashes(t.Inclusion), size, root, t.Position, leaf) == nil,
		"changed":        tlog.CheckRecord(hashes(t.Inclusion), size, root, t.Position, changed) == nil,
		"consistency":    tlog.CheckTree(hashes(t.Consistency), size, root, older, olderRoot) == nil,
		"forgedIsOpened": forged == nil,
	})
}
