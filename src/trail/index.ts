export { type SealedEntry, TrailBroken, TrailCheck } from './check.ts'
export {
  type Checkpoint,
  CheckpointRejected,
  checkpointText,
  openCheckpoint,
  originOf,
  signedNote,
  verifierKey,
} from './checkpoint.ts'
export { parseExactly, parseOneMeaning } from './exact-json.ts'
export {
  type Commitments,
  commitTo,
  falseCommitment,
  leafHash,
  leafText,
  type TrailEntry,
} from './leaf.ts'
export {
  consistencySteps,
  hashesOf,
  inclusionSteps,
  provesConsistency,
  provesInclusion,
} from './proofs.ts'
export {
  completeRoot,
  coverOf,
  GrowingTree,
  HASH_BYTES,
  type Hash,
  hashesIn,
  hashIn,
  hashLeaf,
  hashNode,
  type Node,
  TILE_SIZE,
  type Tile,
  tileOf,
} from './tree.ts'
