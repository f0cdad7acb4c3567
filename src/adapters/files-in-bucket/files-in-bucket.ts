import { hash } from 'node:crypto'
import {
  type AgedFiles,
  DamagedFile,
  type FileOwner,
  type Files,
  type OpenedFile,
  type StagedFile,
} from '../../ports/files.ts'
import type { Vault } from '../../ports/vault.ts'
import { contentOf, contextOf, type FileContext, nameOf } from '../files-on-disk/paths.ts'
import { HEAD_ROOM, newSeal, openHead, openPiece, sealFile } from '../files-on-disk/seal.ts'
import { PIECE, piecesOf, TAG } from '../files-on-disk/shape.ts'
import { type Bucket, type BucketOptions, openBucket, type Stored, TIMEOUT_MS } from './bucket.ts'

const THREAD = new URL('./thread.ts', import.meta.url).href

/**
 * Files in a bucket of an S3-compatible store, sealed as on disk. An object is there whole or not at all, and its name is
 * its content: so it has its name at once, and one that no row comes to name is swept after an hour.
 */
export function filesInBucket(options: BucketOptions, vault: Vault): Files {
  const bucket = openBucket(options)
  const { timeoutMs = TIMEOUT_MS } = options
  const stage: Files['stage'] = async (owner, { sha256, bytes }) => {
    const parts = await sealFile(bytes, sha256, newSeal(owner, vault))
    await bucket.write(nameOf(owner, sha256), Buffer.concat(parts))
    return WRITTEN
  }
  return {
    stage,
    staging({ ownerId, mode }) {
      const owner = { ownerId, mode }
      return {
        sink: { module: THREAD, name: 'writeSealed', args: [newSeal(owner, vault)] },
        async named(sha256) {
          const address = await bucket.addressToWrite(nameOf(owner, sha256))
          return { finish: [address, timeoutMs], file: WRITTEN }
        },
      }
    },
    async put(owner, bytes) {
      const sha256 = hash('sha256', bytes, 'hex')
      await stage(owner, { sha256, bytes })
      return { sha256, bytes: bytes.length }
    },
    async open(owner, sha256) {
      const sealed = await bucket.read(nameOf(owner, sha256))
      return sealed && opened(Buffer.from(sealed), contentOf(owner, sha256), vault)
    },
    erase: (owner, sha256) => bucket.erase(nameOf(owner, sha256)),
    async keptAt(owner, sha256) {
      for await (const [found] of bucket.list(nameOf(owner, sha256))) return found?.keptAt
      return undefined
    },
    keptBefore: end => aged(bucket, end),
    dropLeftovers: async () => undefined,
  }
}

/** Other records may use the same content: what was written and is not kept is left to the sweep. */
const WRITTEN: StagedFile = { keep: async () => undefined, drop: async () => undefined }

async function opened(sealed: Buffer, context: Required<FileContext>, vault: Vault): Promise<OpenedFile> {
  const start = sealed.subarray(0, HEAD_ROOM)
  const head = await openHead(start, context, vault).catch(() => undefined)
  if (!head || sealed.length !== head.begin + head.size + piecesOf(head.size) * TAG)
    throw damaged(contextOf(context))
  async function* content() {
    for (let index = 0; index < piecesOf(head?.size ?? 0); index++) {
      const begin = (head?.begin ?? 0) + index * (PIECE + TAG)
      const piece = sealed.subarray(begin, begin + PIECE + TAG)
      yield await openPiece(head as NonNullable<typeof head>, index, piece).catch(() => {
        throw damaged(contextOf(context))
      })
    }
  }
  return { size: head.size, content: content() }
}

const damaged = (context: string): DamagedFile =>
  new DamagedFile(`The object ${context} is not as it was written. Restore it from a backup of the bucket.`)

async function* aged(bucket: Bucket, end: Date): AsyncGenerator<AgedFiles> {
  for await (const page of bucket.list('')) {
    const ofOwners = Map.groupBy(
      page.filter(({ key, keptAt }) => keptAt < end && /\/[\da-f]{64}$/.test(key)),
      ({ key }) => key.slice(0, key.lastIndexOf('/')),
    )
    for (const [folder, objects] of ofOwners) {
      const owner = ownerOf(folder)
      if (owner) yield { owner, sha256s: objects.map(sha256Of) }
    }
  }
}

/** Nobody else's objects are touched, wherever the bucket has them from. */
function ownerOf(folder: string): FileOwner | undefined {
  const [, ownerId, mode] = /^(\w[\w.:@-]{0,127})\/(test|live)$/.exec(folder) ?? []
  return ownerId && mode ? { ownerId, mode } : undefined
}

const sha256Of = ({ key }: Stored): string => key.slice(key.lastIndexOf('/') + 1)
