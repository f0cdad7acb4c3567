import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { publicKeyFromX } from '../../../src/ports/signer.ts'
import {
  checkpointText,
  commitTo,
  coverOf,
  GrowingTree,
  type Hash,
  leafHash,
  originOf,
  signedNote,
  type TrailEntry,
} from '../../../src/trail/index.ts'

const OWNER = { ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz', mode: 'live' }
const ORIGIN = originOf(OWNER.ownerId, OWNER.mode)
const SIZE = 9
/** The positions of hidden entries. */
const HIDDEN = [4, 6] as const

const entryAt = (n: number): TrailEntry => ({
  ...OWNER,
  action: 'intents.approve',
  actorId: n % 2 === 0 ? 'Ada' : 'key_1',
  actorType: n % 2 === 0 ? 'operator' : 'key',
  address: '203.0.113.7',
  agentId: null,
  at: '2026-11-22T09:00:00.000Z',
  auditId: null,
  createdAt: '2026-11-22T09:00:00.000Z',
  data: {
    name: 'Bäckerei 🥐 "漢" \\',
    list: [{ name: 'Bob', n: 1.5 }, n],
    text: '\ufffd',
    deep: { a: [[{}]] },
    big: 1e21,
    tiny: 1e-7,
  },
  event: 'intent.approved',
  eventId: `event_${n}`,
  id: `audit_${n}`,
  outcome: 'done',
  requestId: 'r',
  resourceId: 'intent_12345678901234567890',
  runId: null,
  writtenIn: '12345678901234567890',
})

/**
 * A genuine export made without a service: its lines, the keys that verify it, and an older checkpoint of its
 * trail.
 */
export function anExport() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const keys = { keys: [publicKeyFromX(x)] }
  const tree = new GrowingTree()
  const notes: string[] = []
  const entries = Array.from({ length: SIZE }, (_, position) => {
    const entry = entryAt(position)
    const personal = commitTo(entry, bytes => Buffer.alloc(bytes, position))
    const leaf = leafHash(entry, personal)
    tree.append(leaf)
    notes.push(noteOf(tree, privateKey, x))
    const { address: _salt, ...salts } = personal.salts
    // One person was forgotten.
    return position === 2
      ? { position, leaf, entry: { ...entry, address: null }, commitments: personal.commitments, salts }
      : { position, leaf, entry, ...personal }
  })
  const lines = entries.flatMap(({ leaf, ...line }): object[] => {
    if (line.position === HIDDEN[0]) return [hidden(entries.map(entry => entry.leaf))]
    if (line.position > HIDDEN[0] && line.position < HIDDEN[1]) return []
    return [{ type: 'entry', ...line, leaf: leaf.toString('base64') }]
  })
  const head = {
    type: 'trail',
    version: 1,
    origin: ORIGIN,
    ...OWNER,
    from: null,
    to: null,
    checkpoint: notes.at(-1),
    keys,
  }
  const checkpoint = { type: 'checkpoint', checkpoint: notes[2] }
  const all = [head, ...lines.slice(0, 3), checkpoint, ...lines.slice(3)]
  return { lines: all.map(line => JSON.stringify(line)), keys, since: notes[HIDDEN[1]] as string }
}

function noteOf(tree: GrowingTree, key: KeyObject, x: string): string {
  return signedNote(checkpointText({ origin: ORIGIN, size: tree.size, root: tree.root() }), ORIGIN, key, x)
}

function hidden(leaves: readonly Hash[]) {
  const [from, to] = HIDDEN
  const hashes = coverOf(from, to).map(({ level, index }) => {
    const part = new GrowingTree()
    for (const leaf of leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)) part.append(leaf)
    return part.root().toString('base64')
  })
  return { type: 'hashes', from, to, hashes }
}
