import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { areas } from '../../../../src/areas.ts'
import { startTestService } from '../../../support/harness.ts'
import { PAPER_TABLES, papersArea } from '../../../support/uploading-noun.ts'

export const allAreas = { ...areas, papers: papersArea }
export const service = await startTestService({ areas: allAreas, tables: PAPER_TABLES })
export const owner = await service.owner()

const PDF = Buffer.from('%PDF-1.4\n')

/** A PDF of this many bytes: equal numbers give equal files. */
export function aPdf(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size).fill(seed % 256)
  bytes.set(PDF)
  return bytes
}

export interface Sent {
  readonly status: number
  readonly code: string | null
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the body that it received
  readonly body: any
}

export async function send(
  body: RequestInit['body'],
  headers: Record<string, string> = {},
  { key } = owner,
  path = '/papers',
): Promise<Sent> {
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}`, ...headers }, body }
  const response = await fetch(service.url + path, init as RequestInit)
  const answer = await response.json()
  return {
    status: response.status,
    code: response.headers.get('x-error-code'),
    headers: response.headers,
    body: answer,
  }
}

export function form(members: Readonly<Record<string, string | File>>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(members)) data.append(name, value)
  return data
}

export const pdfFile = (size = 2_000, name = 'bill.pdf', seed = 1): File =>
  new File([aPdf(size, seed)], name, { type: 'application/pdf' })

/** All files of the service on disk, including temporary ones. */
export const lyingFiles = (): string[] =>
  readdirSync(service.filesDir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

/** Everything that an upload can leave: rows, and files with and without a name. */
export async function traces(): Promise<{ rows: number; files: number }> {
  const [counted] = await service.sql<{ rows: number }>(
    'select ((select count(*) from papers) + (select count(*) from stored_files))::int as rows',
  )
  return { rows: counted?.rows ?? -1, files: lyingFiles().length }
}
