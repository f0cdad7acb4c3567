import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { SigningPublicKey } from '../../ports/signer.ts'
import { coverOf, originOf } from '../../trail/index.ts'
import type { auditApi } from './api.ts'
import { latestCheckpoint } from './checkpoint.ts'
import { pageStarts, readAhead } from './entries.ts'
import { type AuditExport, auditCsvLines, entryPositionsOfPeriod, readAuditLines } from './export-rows.ts'
import { purgedTreeSize } from './purge.ts'
import { readTreeNodes } from './tree-store.ts'

/** Entries per read, which bounds the memory for a trail of any size. */
const PAGE = 1_000

/** The export is recorded in the trail before its first byte is sent. */
export const exportTrail: HandlerOf<typeof auditApi.export> = async ({ query }, context) => {
  const { sql, sqlAfterCommit, tenant, systems, emit, refuse } = context
  const { format, from, to } = query
  const checkpoint = await latestCheckpoint(sql, tenant)
  if (!checkpoint) return refuse('trail_not_found')
  const { id: checkpointId, size } = checkpoint
  emit('audit.exported', { checkpointId, size, format, from: from ?? null, to: to ?? null })
  const exported = { sql: sqlAfterCommit, tenant, checkpoint, period: { from, to } }
  const name = `audit-${tenant.ownerId}-${tenant.mode}-${size}.${format}`
  return format === 'csv'
    ? { type: 'text/csv', name, content: auditCsvLines(exported) }
    : { type: 'application/x-ndjson', name, content: jsonLines(exported, systems.signer.publicKeys()) }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

async function* jsonLines(exported: AuditExport, keys: readonly SigningPublicKey[]): AsyncGenerator<string> {
  const { sql, tenant, checkpoint, period } = exported
  const { from = null, to = null } = period
  const origin = originOf(tenant.ownerId, tenant.mode)
  yield line({
    type: 'trail',
    version: 1,
    origin,
    ...tenant,
    from,
    to,
    checkpoint: checkpoint.note,
    keys: { keys },
  })
  const [first, end] = await entryPositionsOfPeriod(sql, tenant, period, checkpoint.size)
  const gap = new Gap(exported)
  gap.hide(first)
  const read = (begin: number) => readPage(exported, begin, Math.min(begin + PAGE, end))
  for await (const { rows, notes, upTo, purged } of readAhead(pageStarts(first, end, PAGE), read)) {
    gap.hide(Math.min(purged, rows[0]?.position ?? upTo))
    let text = ''
    for (const { position, isWanted, line } of rows) {
      if (!isWanted) {
        gap.hide(position + 1)
        continue
      }
      const note = notes.get(position + 1)
      text += await gap.close(position + 1)
      text += `${line}\n${note === undefined ? '' : checkpointLine(note)}`
    }
    if (text !== '') yield text
  }
  gap.hide(checkpoint.size)
  yield gap.close(checkpoint.size)
}

async function readPage({ sql, tenant, period }: AuditExport, begin: number, upTo: number) {
  const [rows, notes] = await Promise.all([
    readAuditLines(sql, tenant, [begin, upTo], period),
    readNotes(sql, tenant, begin, upTo),
  ])
  // Read after the entries, so it includes every purge that could have removed one of them.
  return { rows, notes, upTo, purged: await purgedTreeSize(sql, tenant) }
}

/**
 * Replaces purged and filtered entries by hashes. Other missing entries get no replacement, so that verifying
 * the export detects them.
 */
class Gap {
  readonly #exported: AuditExport
  #from = 0
  #to = 0

  constructor(exported: AuditExport) {
    this.#exported = exported
  }

  hide(upTo: number): void {
    this.#to = Math.max(this.#to, upTo)
  }

  async close(upTo: number): Promise<string> {
    const [from, to] = [this.#from, this.#to]
    this.#from = upTo
    this.#to = upTo
    return to > from ? hashesLine(this.#exported, from, to) : ''
  }
}

const checkpointLine = (checkpoint: string): string => line({ type: 'checkpoint', checkpoint })

async function hashesLine(
  { sql, tenant, checkpoint }: AuditExport,
  from: number,
  to: number,
): Promise<string> {
  const nodes = coverOf(from, to)
  const hashOf = await readTreeNodes(sql, tenant, checkpoint.size, nodes)
  return line({ type: 'hashes', from, to, hashes: nodes.map(node => hashOf(node).toString('base64')) })
}

interface NoteRow extends Record<string, unknown> {
  readonly size: bigint
  readonly note: string
}

const NOTES = `
select size, note from audit_checkpoints where owner_id = $1 and mode = $2 and size > $3 and size <= $4`

async function readNotes(
  sql: Sql,
  { ownerId, mode }: Tenant,
  after: number,
  upTo: number,
): Promise<Map<number, string>> {
  const rows = await sql<NoteRow>(NOTES, [ownerId, mode, after, upTo])
  return new Map(rows.map(({ size, note }) => [Number(size), note]))
}
