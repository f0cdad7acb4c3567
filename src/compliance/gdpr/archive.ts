import type { SqlContext } from '../../kernel/contract/context.ts'
import type { ByteStream } from '../../kernel/contract/file.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { DamagedFileError } from '../../ports/files.ts'
import { legalGrounds, personalKinds } from '../../values/personal.ts'
import { type ZipEntry, zipStream } from '../../values/zip.ts'
import {
  columnToMember,
  exportedColumns,
  readTableShapes,
  subjectRecordPages,
  type TableShape,
  tableShapeOf,
} from './record-pages.ts'
import { type DataSubject, type SubjectTable, subjectTables } from './tables-of-subject.ts'

type ArchiveContext = SqlContext & { readonly ports: Ports }

interface Made {
  readonly exportId: string
  readonly subject: DataSubject
  readonly madeAt: Date
}

/** The most records of one file in the archive: far below the 4 GiB limit of a file. */
const MOST_RECORDS = 200_000

export const dataExportArchive = (made: Made, context: ArchiveContext): ByteStream =>
  zipStream(entriesOf(made, context), made.madeAt)

async function* entriesOf(made: Made, context: ArchiveContext): AsyncGenerator<ZipEntry> {
  const manifest: Manifest = { files: [], missing: [] }
  const listed = (entry: ZipEntry, records?: () => number): ZipEntry => ({
    ...entry,
    onWritten: file =>
      manifest.files.push({ name: entry.name, ...file, ...(records ? { records: records() } : {}) }),
  })
  const tables = subjectTables(context.ports.personalAreas(), made.subject)
  const shapes = await readTableShapes(
    tables.map(({ name }) => name),
    context,
  )
  for (const table of tables) {
    const shape = tableShapeOf(table, shapes)
    const pages = subjectRecordPages(table, shape, made.subject, context)
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

async function* partsOf(
  { area, name }: SubjectTable,
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
  { tenant }: SqlContext,
): string {
  const about = 'Data about the subject of this export, in one mode of the account.'
  const { mode, ownerId } = tenant
  const head = { about, exportId, ownerId, mode, subject, madeAt }
  return `${JSON.stringify({ ...head, ...manifest, kinds: personalKinds, grounds: legalGrounds }, null, 2)}\n`
}

interface Manifest {
  readonly files: { name: string; bytes: number; sha256: string; records?: number }[]
  readonly missing: string[]
}

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

/** The files of the tenant. A missing or damaged one is listed in the manifest, and the archive continues. */
async function* storedFiles(context: ArchiveContext, manifest: Manifest): AsyncGenerator<ZipEntry> {
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

async function* intact(content: AsyncIterable<Uint8Array>, onDamage: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error
    onDamage()
  }
}

const common: Readonly<Record<string, string>> = {
  id: 'The ID of the record.',
  ownerId: 'The account that the record belongs to.',
  mode: '`live` for real money, `test` for test money.',
  status: 'State of the record.',
  createdAt: 'Time of creation.',
  updatedAt: 'Time of the last change.',
  workflowId: 'The process of the record.',
}

const inWords = (member: string): string => member.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

function sentenceOf({ area, table }: SubjectTable, column: string): string {
  const member = columnToMember(column)
  const [, amount] = /^(.+)Cents$/.exec(member) ?? []
  const told = area.sentences.get(member) ?? common[member]
  if (amount) return `${told ?? `An amount: ${inWords(amount)}.`} In cents.`
  if (told) return told
  const personal = table.personal[column]
  if (personal) return personalKinds[personal.kind]
  if (member.endsWith('At')) return `A time: when it was, or is, “${inWords(member.slice(0, -2))}”.`
  return member.endsWith('Id')
    ? `The ID of the ${inWords(member.slice(0, -2))}.`
    : `The record’s ${inWords(member)}.`
}

function describe(table: SubjectTable, column: string) {
  const personal = table.table.personal[column]
  const sentence = sentenceOf(table, column)
  if (!personal) return { sentence }
  const { law, years } = legalGrounds[personal.ground]
  return { sentence, kind: personal.kind, ground: law, keptYears: years }
}

/** The beginning of a file of records: a JSON object, still open, that explains the members. */
function tableHead(table: SubjectTable, shape: TableShape): string {
  const columns = exportedColumns(table, shape)
  const members = Object.fromEntries(columns.map(column => [columnToMember(column), describe(table, column)]))
  const { area, name } = table
  const keptWhile = table.table.keptWhile?.words
  return JSON.stringify(
    { area: area.name, about: area.about, table: name, keptWhile, members },
    null,
    1,
  ).slice(0, -2)
}
