import { AwsClient } from 'aws4fetch'
import type { Outbound, OutboundRequest } from '../../ports/outbound.ts'

export interface BucketOptions {
  /** The address of the store, without a path. */
  readonly url: string
  readonly bucket: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  /** The way out: it leads to this store alone. */
  readonly outbound: Outbound
  readonly timeoutMs?: number
}

/** A file of 10 MiB on a slow line; whoever waits longer is told that the store does not answer. */
export const TIMEOUT_MS = 10_000
/** Longer than an upload waits until its thread writes it. */
const ADDRESS_LASTS_S = 300
/** The largest file that is kept, sealed. */
const MOST_BYTES = 16_777_216

export interface Stored {
  readonly key: string
  readonly keptAt: Date
}

/** A bucket of an S3-compatible store, addressed by path. Each request is signed; no redirect is followed. */
export function openBucket({
  url,
  bucket,
  region,
  outbound,
  timeoutMs = TIMEOUT_MS,
  ...keys
}: BucketOptions) {
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
    /** An address to which whoever has it may write this one object, for a while. */
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
    /** All objects whose keys begin so, in pages of at most a thousand. */
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

export type Bucket = ReturnType<typeof openBucket>

/** The keys are ours: no sign in them is written otherwise in XML. */
const storedIn = (page: string): Stored[] =>
  [...page.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry = '']) => ({
    key: textOf(entry, 'Key') ?? '',
    keptAt: new Date(textOf(entry, 'LastModified') ?? 0),
  }))

const textOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.replaceAll('&amp;', '&')
