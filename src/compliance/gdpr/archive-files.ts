import { DamagedFile } from '../../ports/files.ts'
import type { Archiving, Manifest } from './manifest.ts'
import type { ZipEntry } from './zip.ts'

const PAGE_SIZE = 500

const FILES = `
select distinct on (sha256) sha256, type from stored_files
where owner_id = $1 and mode = $2 and sha256 > $3 order by sha256 limit ${PAGE_SIZE}`

const extensions: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'text/plain': 'txt',
}

/** The files of the tenant. One that is away or damaged is named in the manifest, and the archive goes on. */
export async function* storedFiles(context: Archiving, manifest: Manifest): AsyncGenerator<ZipEntry> {
  const { sql, tenant, ports } = context
  let after = ''
  for (;;) {
    const rows = await sql<{ sha256: string; type: string }>(FILES, [tenant.ownerId, tenant.mode, after])
    for (const { sha256, type } of rows) {
      const opened = await ports.files.open(tenant, sha256).catch(() => undefined)
      if (!opened) manifest.missing.push(sha256)
      else {
        const name = `files/${sha256}.${extensions[type] ?? 'bin'}`
        yield { name, content: intact(opened.content, () => manifest.missing.push(sha256)) }
      }
    }
    const last = rows.at(-1)
    if (!last || rows.length < PAGE_SIZE) return
    after = last.sha256
  }
}

/** The pieces up to the first that is not what was kept. */
async function* intact(content: AsyncIterable<Uint8Array>, onDamage: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error
    onDamage()
  }
}
