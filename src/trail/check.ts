import type { PublicKeySet } from '../ports/public-keys.ts'
import { type Checkpoint, CheckpointRejected, openCheckpoint } from './checkpoint.ts'
import { type Commitments, falseCommitment, leafHash, type TrailEntry } from './leaf.ts'
import { coverOf, GrowingTree, type Hash } from './tree.ts'

/** An entry at its position; null if its row is gone. */
export interface SealedEntry extends Commitments {
  readonly position: number
  readonly leaf: Hash
  readonly entry: TrailEntry | null
}

/** From this position on the trail differs from what was sealed. */
export class TrailBroken extends Error {
  readonly position: number

  constructor(position: number, message: string) {
    super(message)
    this.position = position
  }
}

/** Checks a trail from its first entry to its last, and throws `TrailBroken` at the first that is wrong. */
export class TrailCheck {
  readonly tree = new GrowingTree()
  readonly #origin: string
  readonly #keys: PublicKeySet
  /** Up to here a checkpoint covers the entries. */
  #provenTo = 0

  constructor(origin: string, keys: PublicKeySet) {
    this.#origin = origin
    this.#keys = keys
  }

  entry({ position, leaf, entry, ...personal }: SealedEntry): void {
    const next = this.tree.size
    if (position !== next) this.#break(next, `Entry ${next} is missing: what follows is ${position}.`)
    if (!entry) this.#break(next, `Entry ${next} is gone, and no purge has removed it.`)
    if (!this.#origin.endsWith(`/${entry.ownerId}/${entry.mode}`))
      this.#break(next, `Entry ${next} belongs to another trail.`)
    const place = falseCommitment(entry, personal)
    if (place !== undefined) this.#break(next, `Entry ${next} has another ${place} than was sealed.`)
    if (!hashOf(entry, personal)?.equals(leaf)) this.#break(next, `Entry ${next} is not what was sealed.`)
    this.tree.append(leaf)
  }

  /** The complete subtrees of the entries up to `to`, which are not shown. */
  hashes(to: number, hashes: readonly Hash[], afterEach: () => void = () => undefined): void {
    const from = this.tree.size
    const cover = to > from ? coverOf(from, to) : []
    if (cover.length === 0 || cover.length !== hashes.length)
      this.#break(from, `The hashes that stand for the entries from ${from} on are not complete.`)
    for (const [n, { level }] of cover.entries()) {
      this.tree.appendSubtree(level, hashes[n] as Hash)
      afterEach()
    }
  }

  checkpoint(note: string): Checkpoint {
    const { size } = this.tree
    const checkpoint = this.opened(note)
    if (checkpoint.size !== size)
      this.#break(size, `The trail has ${size} entries where its checkpoint says ${checkpoint.size}.`)
    this.compare(checkpoint)
    return checkpoint
  }

  /** Compares the entries checked so far with a signed root of the same size. */
  compare({ size, root }: Checkpoint): void {
    if (!this.tree.root().equals(root))
      this.#break(
        this.#provenTo,
        `The entries from ${this.#provenTo} to ${size - 1} are not those that the checkpoint of ${size} entries has signed.`,
      )
    this.#provenTo = size
  }

  opened(note: string): Checkpoint {
    const { size } = this.tree
    try {
      const checkpoint = openCheckpoint(note, this.#keys)
      if (checkpoint.origin === this.#origin) return checkpoint
    } catch (error) {
      if (!(error instanceof CheckpointRejected)) throw error
      this.#break(Math.max(size - 1, 0), `A checkpoint is not genuine. ${error.message}`)
    }
    return this.#break(Math.max(size - 1, 0), 'A checkpoint is that of another trail.')
  }

  #break(position: number, message: string): never {
    throw new TrailBroken(position, message)
  }
}

/** Undefined for a value that JSON cannot hold, which this service has never sealed. */
function hashOf(entry: TrailEntry, commitments: Pick<Commitments, 'commitments'>): Hash | undefined {
  try {
    return leafHash(entry, commitments)
  } catch {
    return undefined
  }
}
