import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { areas } from '../../../../src/areas.ts'
import { renderDocs } from '../../../../src/derive/docs/docs.ts'
import { openapiDocument } from '../../../../src/derive/openapi/document.ts'
import { service } from '../docs-service.ts'

export const { files, search } = renderDocs(openapiDocument(areas))

export const pages = [...files].flatMap(([address, { type, content }]) =>
  type.startsWith('text/html') ? [[address, { content: String(content) }] as const] : [],
)

export const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found ?? '')

interface Raw {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: Buffer
}

/** Sends a request without decompressing the answer. */
export const raw = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> =>
  new Promise((resolve, reject) => {
    request(service.url + path, { method, headers })
      .on('response', response => {
        const { statusCode: status = 0, headers: received } = response
        buffer(response).then(
          bytes => resolve({ status, headers: received as Raw['headers'], bytes }),
          reject,
        )
      })
      .on('error', reject)
      .end()
  })
