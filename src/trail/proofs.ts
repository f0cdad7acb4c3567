import { coverOf, foldCover, type Hash, hashNode, type Node, splitOf } from './tree.ts'

/** A hash of a proof covers the leaves of these complete subtrees. */
export type ProofStep = readonly Node[]

/**
 * The hashes that prove that the leaf at `index` is in the tree of this size, from the leaf upwards (RFC
 * 6962, 2.1.1).
 */
export function inclusionSteps(index: number, size: number): ProofStep[] {
  if (index < 0 || index >= size) throw new RangeError(`A tree of ${size} has no leaf ${index}.`)
  const steps: ProofStep[] = []
  let [begin, end] = [0, size]
  while (end - begin > 1) {
    const middle = begin + splitOf(end - begin)
    if (index < middle) {
      steps.push(coverOf(middle, end))
      end = middle
    } else {
      steps.push(coverOf(begin, middle))
      begin = middle
    }
  }
  return steps.reverse()
}

/** The hashes that prove that the tree of size `to` begins with that of size `from` (RFC 6962, 2.1.2). */
export function consistencySteps(from: number, to: number): ProofStep[] {
  if (from < 0 || from > to) throw new RangeError(`A tree of ${to} has not grown from one of ${from}.`)
  if (from === 0 || from === to) return []
  const steps: ProofStep[] = []
  let [begin, end] = [0, to]
  // Until a whole subtree of the older tree is reached, the other half is needed.
  while (end !== from) {
    const middle = begin + splitOf(end - begin)
    if (from <= middle) {
      steps.push(coverOf(middle, end))
      end = middle
    } else {
      steps.push(coverOf(begin, middle))
      begin = middle
    }
  }
  // If the older tree is one whole subtree, the verifier knows its root already.
  if (begin > 0) steps.push(coverOf(begin, end))
  return steps.reverse()
}

export const hashesOf = (steps: readonly ProofStep[], hashOf: (node: Node) => Hash): Hash[] =>
  steps.map(step => foldCover(step.map(hashOf)))

export function provesInclusion(
  { index, size, leaf, proof }: { index: number; size: number; leaf: Hash; proof: readonly Hash[] },
  root: Hash,
): boolean {
  if (!(Number.isSafeInteger(index) && index >= 0 && index < size)) return false
  const sides = sidesOf(index, size)
  if (sides.length !== proof.length) return false
  const found = proof.reduce(
    (hash, other, n) => (sides[n] ? hashNode(other, hash) : hashNode(hash, other)),
    leaf,
  )
  return found.equals(root)
}

/** From the leaf upwards: true if the other half is to the left. */
function sidesOf(index: number, size: number): boolean[] {
  const sides: boolean[] = []
  let [begin, end] = [0, size]
  while (end - begin > 1) {
    const middle = begin + splitOf(end - begin)
    sides.push(index >= middle)
    if (index < middle) end = middle
    else begin = middle
  }
  return sides.reverse()
}

export interface Growth {
  readonly from: number
  readonly fromRoot: Hash
  readonly to: number
  readonly toRoot: Hash
  readonly proof: readonly Hash[]
}

/** The proof shows that the newer tree begins with the older one: no earlier entry was changed. */
export function provesConsistency({ from, fromRoot, to, toRoot, proof }: Growth): boolean {
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && from <= to)) return false
  if (from === 0) return proof.length === 0
  if (from === to) return proof.length === 0 && fromRoot.equals(toRoot)
  const sides = growthSides(from, to)
  const startsWhole = Number.isInteger(Math.log2(from))
  const hashes = startsWhole ? [fromRoot, ...proof] : [...proof]
  if (hashes.length !== sides.length + 1) return false
  const [first, ...rest] = hashes as [Hash, ...Hash[]]
  let [older, newer] = [first, first]
  for (const [n, other] of rest.entries()) {
    if (sides[n]) older = hashNode(other, older)
    newer = sides[n] ? hashNode(other, newer) : hashNode(newer, other)
  }
  return older.equals(fromRoot) && newer.equals(toRoot)
}

/**
 * From the last whole subtree of the older tree upwards: true if the other half is to the left, and so in
 * both trees.
 */
function growthSides(from: number, to: number): boolean[] {
  const sides: boolean[] = []
  let [begin, end] = [0, to]
  while (end !== from) {
    const middle = begin + splitOf(end - begin)
    sides.push(from > middle)
    if (from <= middle) end = middle
    else begin = middle
  }
  return sides.reverse()
}
