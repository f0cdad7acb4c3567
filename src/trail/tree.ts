import { sha256 } from '../values/digest.ts'

/** The hash of a leaf or a node: 32 bytes of SHA-256. */
export type Hash = Buffer

export const HASH_BYTES = 32

const NODE = Buffer.from([1])

/** Leaves and nodes differ in their first byte (RFC 6962, 2.1), so that no node passes for a leaf. */
export const hashLeaf = (text: string): Hash => sha256(`\0${text}`)

export const hashNode = (left: Hash, right: Hash): Hash => sha256(Buffer.concat([NODE, left, right]))

const EMPTY_ROOT: Hash = sha256(Buffer.alloc(0))

/** A complete subtree: it has the leaves from `index * 2 ** level`, 2 ** level of them. */
export interface Node {
  readonly level: number
  readonly index: number
}

/** The complete subtrees that cover the leaves from `begin` to `end`, from left to right, each as large as possible. */
export function coverOf(begin: number, end: number): Node[] {
  const nodes: Node[] = []
  for (let at = begin; at < end; ) {
    let level = 0
    while (at % 2 ** (level + 1) === 0 && at + 2 ** (level + 1) <= end) level++
    nodes.push({ level, index: at / 2 ** level })
    at += 2 ** level
  }
  return nodes
}

/** The largest power of two below a size above 1: where the tree of that size divides. */
export function splitOf(size: number): number {
  let left = 1
  while (2 * left < size) left *= 2
  return left
}

/** The hash of a range whose cover has these hashes: right ends are folded first, as RFC 6962 divides from the left. */
export const foldCover = (hashes: readonly Hash[]): Hash =>
  hashes.length === 0 ? EMPTY_ROOT : hashes.reduceRight((right, left) => hashNode(left, right))

/**
 * A tree that only grows, as its complete subtrees from left to right: enough for its root, and to append
 * leaves and subtrees without those before them.
 */
export class GrowingTree {
  size: number
  readonly #peaks: { readonly level: number; hash: Hash }[]

  constructor(size = 0, peaks: readonly Hash[] = []) {
    const cover = coverOf(0, size)
    if (cover.length !== peaks.length) throw new RangeError(`A tree of ${size} has ${cover.length} peaks.`)
    this.size = size
    this.#peaks = cover.map(({ level }, n) => ({ level, hash: peaks[n] as Hash }))
  }

  append(leaf: Hash): void {
    this.appendSubtree(0, leaf)
  }

  /** The size must be a multiple of the subtree's. */
  appendSubtree(level: number, subtree: Hash): void {
    if (this.size % 2 ** level !== 0)
      throw new RangeError(`No subtree of level ${level} begins at ${this.size}.`)
    this.size += 2 ** level
    let top = { level, hash: subtree }
    for (let left = this.#peaks.at(-1); left?.level === top.level; left = this.#peaks.at(-1)) {
      this.#peaks.pop()
      top = { level: top.level + 1, hash: hashNode(left.hash, top.hash) }
    }
    this.#peaks.push(top)
  }

  peaks(): Hash[] {
    return this.#peaks.map(({ hash }) => hash)
  }

  root(): Hash {
    return foldCover(this.peaks())
  }
}

/** A tile has the hashes of this many nodes of every eighth level, beginning with the leaves. */
const TILE_LEVELS = 8
export const TILE_SIZE = 2 ** TILE_LEVELS

/** The hashes of the nodes of level `8 * level` from `256 * index`, one after the other. */
export interface Tile {
  readonly level: number
  readonly index: number
}

export const tileOf = ({ level, index }: Node): Tile => {
  const tileLevel = Math.floor(level / TILE_LEVELS)
  return { level: tileLevel, index: Math.floor((index * 2 ** (level % TILE_LEVELS)) / TILE_SIZE) }
}

export function hashIn(hashes: Buffer, { level, index }: Node): Hash {
  const count = 2 ** (level % TILE_LEVELS)
  const first = (index * count) % TILE_SIZE
  const bytes = hashes.subarray(first * HASH_BYTES, (first + count) * HASH_BYTES)
  if (bytes.length !== count * HASH_BYTES) throw new RangeError(`The tile has no node ${level}/${index}.`)
  return completeRoot(bytes)
}

export function completeRoot(hashes: Buffer): Hash {
  let level = hashesIn(hashes)
  while (level.length > 1)
    level = Array.from({ length: level.length / 2 }, (_, n) =>
      hashNode(level[2 * n] as Hash, level[2 * n + 1] as Hash),
    )
  return level[0] as Hash
}

export const hashesIn = (bytes: Buffer): Hash[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, n) =>
    bytes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES),
  )
