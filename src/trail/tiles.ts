import { HASH_BYTES, type Hash, hashNode, type Node } from './tree.ts'

/** A tile has the hashes of so many nodes of every eighth level, beginning with the leaves. */
export const TILE_LEVELS = 8
export const TILE_SIZE = 2 ** TILE_LEVELS

/** The hashes of the nodes of level `8 * level` from `256 * index`, one after the other. */
export interface Tile {
  readonly level: number
  readonly index: number
}

/** The tile from whose hashes the hash of a complete subtree is computed. */
export const tileOf = ({ level, index }: Node): Tile => {
  const tileLevel = Math.floor(level / TILE_LEVELS)
  return { level: tileLevel, index: Math.floor((index * 2 ** (level % TILE_LEVELS)) / TILE_SIZE) }
}

/** The hash of a complete subtree, from the hashes of its tile. */
export function hashIn(hashes: Buffer, { level, index }: Node): Hash {
  const count = 2 ** (level % TILE_LEVELS)
  const first = (index * count) % TILE_SIZE
  const bytes = hashes.subarray(first * HASH_BYTES, (first + count) * HASH_BYTES)
  if (bytes.length !== count * HASH_BYTES) throw new RangeError(`The tile has no node ${level}/${index}.`)
  return completeRoot(bytes)
}

/** The root over a power of two of hashes. */
export function completeRoot(hashes: Buffer): Hash {
  let level = hashesIn(hashes)
  while (level.length > 1)
    level = Array.from({ length: level.length / 2 }, (_, n) =>
      hashNode(level[2 * n] as Hash, level[2 * n + 1] as Hash),
    )
  return level[0] as Hash
}

/** Hashes that lie one after the other. */
export const hashesIn = (bytes: Buffer): Hash[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, n) =>
    bytes.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES),
  )
