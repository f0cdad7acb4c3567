import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from '@jest/globals'
import {
  checkpointText,
  consistencySteps,
  GrowingTree,
  type Hash,
  hashesOf,
  hashLeaf,
  inclusionSteps,
  type Node,
  originOf,
  signedNote,
  verifierKey,
} from '../../src/trail/index.ts'
import { runPeer } from '../support/processes/peer.ts'

const [OLDER, SIZE, POSITION] = [300, 777, 301]
const leaves = Array.from({ length: SIZE }, (_, n) => `{"entry":${n}}`)
const hashes = leaves.map(leaf => hashLeaf(leaf))

function treeOf(some: readonly Hash[]): GrowingTree {
  const tree = new GrowingTree()
  for (const leaf of some) tree.append(leaf)
  return tree
}

const hashOf = ({ level, index }: Node): Hash =>
  treeOf(hashes.slice(index * 2 ** level, (index + 1) * 2 ** level)).root()

test('Go’s own packages open our checkpoints and accept our tree and proofs, and nothing that is changed', async () => {
  const pair = generateKeyPairSync('ed25519')
  const { x = '' } = pair.publicKey.export({ format: 'jwk' })
  const origin = originOf('customer_01jd8x2m4ye7k9v0c3q5r6t8wz', 'live')
  const noteOf = (size: number) => {
    const root = treeOf(hashes.slice(0, size)).root()
    return signedNote(checkpointText({ origin, size, root }), origin, pair.privateKey, x)
  }
  const inBase64 = (found: readonly Hash[]) => found.map(hash => hash.toString('base64'))
  const trail = {
    Verifier: verifierKey(origin, x),
    Note: noteOf(SIZE),
    OlderNote: noteOf(OLDER),
    Leaves: leaves,
    Position: POSITION,
    Inclusion: inBase64(hashesOf(inclusionSteps(POSITION, SIZE), hashOf)),
    Consistency: inBase64(hashesOf(consistencySteps(OLDER, SIZE), hashOf)),
  }
  const output = await runPeer('go', ['run', '-C', 'test/peers/checkpoints', '.'], JSON.stringify(trail))
  expect(JSON.parse(output)).toEqual({
    sizes: [SIZE, OLDER],
    root: true,
    olderRoot: true,
    inclusion: true,
    changed: false,
    consistency: true,
    forgedIsOpened: false,
  })
})
