import { hash } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import {
  DamagedFileError,
  type FileOwner,
  type FileStore,
  type OpenedStoredFile,
  type StagedFile,
  type UnreferencedFileBatch,
} from '../../ports/files.ts'
import type { OutboundHttp, OutboundRequest } from '../../ports/outbound.ts'
import type { Vault } from '../../ports/vault.ts'
import {
  AUTH_TAG_BYTES,
  CHUNK_BYTES,
  chunkCount,
  decryptChunk,
  encryptFile,
  encryptionContext,
  type FileIdentity,
  fileIdentity,
  MAX_HEADER_BYTES,
  newFileDataKey,
  objectKey,
  readFileHeader,
} from '../files-on-disk/seal.ts'

const THREAD = new URL('./thread.ts', import.meta.url).href

/**
 * Files in a bucket of an S3-compatible store, sealed as on disk. An object is complete or absent, and is
 * named by its content, so it has its name at once. The sweep removes one that no row names within an hour.
 */
export function filesInBucket(options: BucketOptions, vault: Vault): FileStore {
  const bucket = openBucket(options)
  const { timeoutMs = TIMEOUT_MS } = options
  const stage: FileStore['stage'] = async (owner, { sha256, bytes }) => {
    const parts = await encryptFile(bytes, sha256, newFileDataKey(owner, vault))
    await bucket.write(objectKey(owner, sha256), Buffer.concat(parts))
    return WRITTEN
  }
  return {
    stage,
    staging({ ownerId, mode }) {
      const owner = { ownerId, mode }
      return {
        sink: { module: THREAD, name: 'writeSealed', args: [newFileDataKey(owner, vault)] },
        async named(sha256) {
          const address = await bucket.addressToWrite(objectKey(owner, sha256))
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
      const sealed = await bucket.read(objectKey(owner, sha256))
      return sealed && opened(Buffer.from(sealed), fileIdentity(owner, sha256), vault)
    },
    erase: (owner, sha256) => bucket.erase(objectKey(owner, sha256)),
    async keptAt(owner, sha256) {
      for await (const [found] of bucket.list(objectKey(owner, sha256))) return found?.keptAt
      return undefined
    },
    keptBefore: end => aged(bucket, end),
    dropLeftovers: async () => undefined,
  }
}

/** Other records may use the same content, so unkept objects are left to the sweep. */
const WRITTEN: StagedFile = { keep: async () => undefined, drop: async () => undefined }

async function opened(
  sealed: Buffer,
  context: Required<FileIdentity>,
  vault: Vault,
): Promise<OpenedStoredFile> {
  const start = sealed.subarray(0, MAX_HEADER_BYTES)
  const head = await readFileHeader(start, context, vault).catch(() => undefined)
  if (!head || sealed.length !== head.begin + head.size + chunkCount(head.size) * AUTH_TAG_BYTES)
    throw damaged(encryptionContext(context))
  async function* content() {
    for (let index = 0; index < chunkCount(head?.size ?? 0); index++) {
      const begin = (head?.begin ?? 0) + index * (CHUNK_BYTES + AUTH_TAG_BYTES)
      const piece = sealed.subarray(begin, begin + CHUNK_BYTES + AUTH_TAG_BYTES)
      yield await decryptChunk(head as NonNullable<typeof head>, index, piece).catch(() => {
        throw damaged(encryptionContext(context))
      })
    }
  }
  return { size: head.size, content: content() }
}

const damaged = (context: string): DamagedFileError =>
  new DamagedFileError(
    `The object ${context} fails its integrity check. Restore it from a backup of the bucket.`,
  )

async function* aged(bucket: Bucket, end: Date): AsyncGenerator<UnreferencedFileBatch> {
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

function ownerOf(folder: string): FileOwner | undefined {
  const [, ownerId, mode] = /^(\w[\w.:@-]{0,127})\/(test|live)$/.exec(folder) ?? []
  return ownerId && mode ? { ownerId, mode } : undefined
}

const sha256Of = ({ key }: Stored): string => key.slice(key.lastIndexOf('/') + 1)

interface BucketOptions {
  readonly url: string
  readonly bucket: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly outbound: OutboundHttp
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 10_000
/** Longer than an upload waits until its thread writes it. */
const ADDRESS_LASTS_S = 300
const MOST_BYTES = 16_777_216

interface Stored {
  readonly key: string
  readonly keptAt: Date
}

/** Path-style addresses. Each request is signed; no redirect is followed. */
function openBucket({ url, bucket, region, outbound, timeoutMs = TIMEOUT_MS, ...keys }: BucketOptions) {
  const signer = new AwsClient({
    accessKeyId: keys.accessKey,
    secretAccessKey: keys.secretKey,
    service: 's3',
    region,
    retries: 0,
  })
  const addressOf = (key: string): string => `${new URL(url).origin}/${bucket}/${key}`

  async function send(method: OutboundRequest['method'], address: string, body?: Uint8Array) {
    const { headers } = await signer.sign(address, { method })
    const signed = Object.fromEntries(headers)
    const answer = await outbound.send({
      url: address,
      method,
      headers: signed,
      ...(body ? { body } : {}),
      timeoutMs,
      maxBytes: MOST_BYTES,
    })
    if (answer.kind !== 'answered') throw new Error(`The store of files cannot be reached: ${answer.message}`)
    const { status } = answer
    if (status >= 300 && status !== 404)
      throw new Error(`The store of files has answered ${status} to ${method}.`)
    return { isThere: status !== 404, body: answer.body }
  }

  return {
    async addressToWrite(key: string): Promise<string> {
      const address = `${addressOf(key)}?X-Amz-Expires=${ADDRESS_LASTS_S}`
      return (await signer.sign(address, { method: 'PUT', aws: { signQuery: true } })).url
    },
    async write(key: string, content: Uint8Array): Promise<void> {
      const { isThere } = await send('PUT', addressOf(key), content)
      if (!isThere) throw new Error('The store of files has no such bucket.')
    },
    async read(key: string): Promise<Uint8Array | undefined> {
      const { isThere, body } = await send('GET', addressOf(key))
      return isThere ? body : undefined
    },
    async erase(key: string): Promise<void> {
      await send('DELETE', addressOf(key))
    },
    async *list(prefix: string): AsyncGenerator<Stored[]> {
      for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
        const query = new URLSearchParams({ 'list-type': '2', prefix })
        if (token !== undefined) query.set('continuation-token', token)
        const { isThere, body } = await send('GET', `${new URL(url).origin}/${bucket}?${query}`)
        if (!isThere) throw new Error('The store of files has no such bucket.')
        const page = Buffer.from(body).toString()
        yield storedIn(page)
        token = textOf(page, 'NextContinuationToken')
      }
    },
  }
}

type Bucket = ReturnType<typeof openBucket>

/** The keys are this service's own and contain no characters that XML escapes. */
const storedIn = (page: string): Stored[] =>
  [...page.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry = '']) => ({
    key: textOf(entry, 'Key') ?? '',
    keptAt: new Date(textOf(entry, 'LastModified') ?? 0),
  }))

const textOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.replaceAll('&amp;', '&')
