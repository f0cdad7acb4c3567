import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { publicKeyFromX } from '../../../src/ports/signer.ts'
import {
  CheckpointRejected,
  checkpointText,
  commitTo,
  consistencySteps,
  coverOf,
  falseCommitment,
  GrowingTree,
  type Hash,
  hashesOf,
  hashLeaf,
  hashNode,
  inclusionSteps,
  leafText,
  type Node,
  openCheckpoint,
  parseExactly,
  provesConsistency,
  provesInclusion,
  signedNote,
  type TrailEntry,
} from '../../../src/trail/index.ts'
import { canonicalJson } from '../../../src/values/canonical-json.ts'

/** The tree as RFC 6962 defines it, without our shortcuts. */
function rootOf(leaves: readonly Hash[]): Hash {
  const [first] = leaves
  if (leaves.length === 1 && first) return first
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return hashNode(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)))
}

const leavesOf = (size: number): Hash[] => Array.from({ length: size }, (_, n) => hashLeaf(`entry ${n}`))
const nodeOf =
  (leaves: readonly Hash[]) =>
  ({ level, index }: Node): Hash =>
    rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level))

const sizes = fc.integer({ min: 1, max: 600 })
const within = (size: number) => fc.tuple(fc.constant(size), fc.integer({ min: 0, max: size - 1 }))

describe('the hash tree', () => {
  test('has the roots that the test vectors of Certificate Transparency have', () => {
    const leaves = [
      '',
      '00',
      '10',
      '2021',
      '3031',
      '40414243',
      '5051525354555657',
      '606162636465666768696a6b6c6d6e6f',
    ]
    const tree = new GrowingTree()
    const roots = leaves.map(hex => {
      tree.append(hashLeaf(Buffer.from(hex, 'hex').toString('latin1')))
      return tree.root().toString('hex')
    })
    expect([roots[0], roots[1], roots[2], roots[7]]).toEqual([
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ])
  })

  test('grows to the root that its definition gives, from any size on', () => {
    fc.assert(
      fc.property(sizes, sizes, (size, more) => {
        const leaves = leavesOf(size + more)
        const tree = new GrowingTree(size, coverOf(0, size).map(nodeOf(leaves)))
        for (const leaf of leaves.slice(size)) tree.append(leaf)
        expect(tree.root()).toEqual(rootOf(leaves))
        const bySubtrees = new GrowingTree()
        for (const node of [...coverOf(0, size), ...coverOf(size, size + more)])
          bySubtrees.appendSubtree(node.level, nodeOf(leaves)(node))
        expect(bySubtrees.root()).toEqual(rootOf(leaves))
      }),
      { numRuns: 40 },
    )
  })

  test('proves each leaf and no other one, at no other place, and with no other proof', () => {
    fc.assert(
      fc.property(sizes.chain(within), fc.nat(), ([size, index], change) => {
        const leaves = leavesOf(size)
        const root = rootOf(leaves)
        const proof = hashesOf(inclusionSteps(index, size), nodeOf(leaves))
        const leaf = leaves[index] as Hash
        expect(provesInclusion({ index, size, leaf, proof }, root)).toBe(true)
        expect(provesInclusion({ index, size, leaf: hashLeaf('other'), proof }, root)).toBe(false)
        expect(provesInclusion({ index: index + 1, size, leaf, proof }, root)).toBe(false)
        expect(provesInclusion({ index, size, leaf, proof: [...proof, leaf] }, root)).toBe(false)
        if (proof.length === 0) return
        const wrong = proof.with(change % proof.length, hashLeaf('wrong'))
        expect(provesInclusion({ index, size, leaf, proof: wrong }, root)).toBe(false)
      }),
      { numRuns: 60 },
    )
  })

  test('proves that it has only grown, and nothing else', () => {
    fc.assert(
      fc.property(sizes.chain(within), fc.nat(), ([to, less], change) => {
        const from = to - less
        const leaves = leavesOf(to)
        const [fromRoot, toRoot] = [rootOf(leaves.slice(0, from)), rootOf(leaves)]
        const proof = hashesOf(consistencySteps(from, to), nodeOf(leaves))
        expect(provesConsistency({ from, fromRoot, to, toRoot, proof })).toBe(true)
        const rewritten = leaves.with(change % from, hashLeaf('rewritten'))
        const growth = { from, fromRoot, to, toRoot: rootOf(rewritten) }
        const anew = hashesOf(consistencySteps(from, to), nodeOf(rewritten))
        expect(provesConsistency({ ...growth, proof: anew })).toBe(false)
        expect(provesConsistency({ ...growth, proof })).toBe(false)
      }),
      { numRuns: 60 },
    )
  })
})

const entry: TrailEntry = {
  action: 'intents.approve',
  actorId: 'key_1',
  actorType: 'key',
  address: '203.0.113.7',
  agentId: null,
  at: '2026-11-22T09:00:00.000Z',
  auditId: null,
  createdAt: '2026-11-22T09:00:00.000Z',
  data: { intentId: 'intent_1', merchant: 'Ada’s Books', payee: { name: 'Ada', n: 1.5 }, 'a.name': 'x' },
  event: 'intent.approved',
  eventId: 'event_1',
  id: 'audit_1',
  mode: 'test',
  outcome: 'done',
  ownerId: 'customer_1',
  requestId: 'r',
  resourceId: 'intent_1',
  runId: null,
  writtenIn: '12345678901234567890',
}
const salts = (bytes: number): Buffer => Buffer.alloc(bytes, 7)

describe('the leaf of an entry', () => {
  const commitments = commitTo(entry, salts)

  test('has no text about a person, and is one canonical text', () => {
    const text = leafText(entry, commitments)
    expect(Object.keys(commitments.commitments).sort()).toEqual([
      'address',
      'data.merchant',
      'data.payee.name',
    ])
    expect(text).not.toMatch(/203\.0|Ada/)
    expect(
      text.startsWith('{"action":"intents.approve","actorId":"key_1","actorType":"key","address":{"hmac":"'),
    ).toBe(true)
    expect(falseCommitment(entry, commitments)).toBeUndefined()
  })

  test('stays the same when a person is forgotten, and shows it where a text is put back', () => {
    const { address: _salt, ...rest } = commitments.salts
    const forgotten = { ...entry, address: null }
    expect(leafText(forgotten, commitments)).toBe(leafText(entry, commitments))
    expect(falseCommitment(forgotten, { ...commitments, salts: rest })).toBeUndefined()
    expect(falseCommitment(entry, { ...commitments, salts: rest })).toBe('address')
    expect(falseCommitment({ ...entry, address: '203.0.113.8' }, commitments)).toBe('address')
    expect(falseCommitment(forgotten, commitments)).toBe('address')
  })

  test('commits an operator’s name, who is known by nothing else', () => {
    const { commitments: made } = commitTo({ ...entry, actorType: 'operator', actorId: 'Ada' }, salts)
    expect(Object.keys(made)).toContain('actorId')
  })
})

describe('a checkpoint', () => {
  const pair = generateKeyPairSync('ed25519')
  const { x = '' } = pair.publicKey.export({ format: 'jwk' })
  const keys = { keys: [publicKeyFromX(x)] }
  const checkpoint = { origin: 'agentpay/audit/customer_1/test', size: 7, root: hashLeaf('root') }
  const note = signedNote(checkpointText(checkpoint), checkpoint.origin, pair.privateKey, x)

  test('says what was signed', () => expect(openCheckpoint(note, keys)).toEqual(checkpoint))

  test('is rejected with one character changed, cut or added anywhere', () => {
    for (let at = 0; at < note.length; at++) {
      const other = note[at] === 'A' ? 'B' : 'A'
      for (const text of [
        note.slice(0, at) + other + note.slice(at + 1),
        note.slice(0, at) + note.slice(at + 1),
        `${note.slice(0, at)}A${note.slice(at)}`,
      ])
        expect(() => openCheckpoint(text, keys)).toThrow(CheckpointRejected)
    }
  })

  test('is rejected where another key, or the key in another name, has signed it', () => {
    const other = generateKeyPairSync('ed25519').privateKey
    const text = checkpointText(checkpoint)
    for (const wrong of [
      signedNote(text, checkpoint.origin, other, x),
      signedNote(text, 'agentpay/audit/customer_2/test', pair.privateKey, x),
    ])
      expect(() => openCheckpoint(wrong, keys)).toThrow(CheckpointRejected)
    expect(() => openCheckpoint(note, { keys: [] })).toThrow(CheckpointRejected)
  })
})

describe('numbers with more digits than JSON keeps', () => {
  test.each(['?', '-?', '[1,?]', '[-?]', '{"a":?}', '{"a": -?,"b":"c"}', '{"id":"event_01jd8x2m4y","a":?}'])(
    'are told apart in %s',
    place => {
      const read = (number: string) => canonicalJson(parseExactly(place.replace('?', number)))
      expect(read('1.2500000000000000000001')).not.toBe(read('1.25'))
      expect(read('12345678901234567890')).not.toBe(read('12345678901234567891'))
    },
  )

  test('leave a text that has as many digits as it is', () => {
    const entry = { id: 'event_12345678901234567890', amount: '12345678901234567890', n: 1.25 }
    expect(parseExactly(JSON.stringify(entry))).toEqual(entry)
  })
})
