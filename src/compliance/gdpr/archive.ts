import type { ByteStream } from '../../kernel/contract/file.ts'
import { legalGrounds, personalKinds } from '../../values/personal.ts'
import { storedFiles } from './archive-files.ts'
import type { Archiving, Manifest } from './manifest.ts'
import { recordPages } from './record-pages.ts'
import { shapeOf, shapesOf } from './row-windows.ts'
import { tableHead } from './table-head.ts'
import { type Subject, type TableOfSubject, tablesOf } from './tables-of-subject.ts'
import { type ZipEntry, zipOf } from './zip.ts'

export interface Made {
  readonly exportId: string
  readonly subject: Subject
  readonly madeAt: Date
}

/** The most records of one file of the archive: far less than the 4 GiB that it may have. */
const MOST_RECORDS = 200_000

/** The archive as it is sent. */
export const archiveOf = (made: Made, context: Archiving): ByteStream =>
  zipOf(entriesOf(made, context), made.madeAt)

async function* entriesOf(made: Made, context: Archiving): AsyncGenerator<ZipEntry> {
  const manifest: Manifest = { files: [], missing: [] }
  const listed = (entry: ZipEntry, records?: () => number): ZipEntry => ({
    ...entry,
    onWritten: file =>
      manifest.files.push({ name: entry.name, ...file, ...(records ? { records: records() } : {}) }),
  })
  const tables = tablesOf(context.ports.personalAreas(), made.subject)
  const shapes = await shapesOf(
    tables.map(({ name }) => name),
    context,
  )
  for (const table of tables) {
    const shape = shapeOf(table, shapes)
    const pages = recordPages(table, shape, made.subject, context)
    for await (const part of partsOf(table, tableHead(table, shape), pages))
      yield listed(part.entry, part.records)
  }
  if (made.subject.type === 'owner')
    for await (const file of storedFiles(context, manifest)) yield listed(file)
  yield { name: 'manifest.json', content: onePiece(manifestText(made, manifest, context)) }
}

interface Part {
  readonly entry: ZipEntry
  readonly records: () => number
}

/** A table without records has no file; a large one has several. */
async function* partsOf(
  { area, name }: TableOfSubject,
  head: string,
  pages: AsyncGenerator<readonly string[]>,
): AsyncGenerator<Part> {
  let next = await pages.next()
  for (let part = 1; !next.done; part++) {
    let records = 0
    const content = async function* () {
      yield Buffer.from(`${head},"records":[`)
      while (!next.done && records < MOST_RECORDS) {
        yield Buffer.from(`${records === 0 ? '\n' : ',\n'}${next.value.join(',\n')}`)
        records += next.value.length
        next = await pages.next()
      }
      yield Buffer.from('\n]}\n')
    }
    const file = `${area.key}/${name}${part === 1 ? '' : `-${part}`}.json`
    yield { entry: { name: file, content: content() }, records: () => records }
  }
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

function manifestText(
  { exportId, subject, madeAt }: Made,
  manifest: Manifest,
  { tenant }: Archiving,
): string {
  const about = 'What is held about the subject of this export, in one mode of the account.'
  const { mode, ownerId } = tenant
  const head = { about, exportId, ownerId, mode, subject, madeAt }
  return `${JSON.stringify({ ...head, ...manifest, kinds: personalKinds, grounds: legalGrounds }, null, 2)}\n`
}
