import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { consistencySteps, coverOf, hashesOf, inclusionSteps, leafText } from '../../trail/index.ts'
import type { auditApi } from './api.ts'
import { newestCheckpoint } from './checkpoint.ts'
import { findEntry } from './entries.ts'
import { entryOf } from './trail-rows.ts'
import { readNodes } from './tree-store.ts'

const inBase64 = (hashes: readonly Buffer[]): string[] => hashes.map(hash => hash.toString('base64'))

export const prove: HandlerOf<typeof auditApi.proof> = async ({ params }, { sql, tenant, refuse }) => {
  const [row, checkpoint] = await Promise.all([
    findEntry(sql, tenant, params.id),
    newestCheckpoint(sql, tenant),
  ])
  if (!row) return refuse('entry_not_found')
  // The entry may have been sealed after the checkpoint was read.
  if (row.position === null || !checkpoint || Number(row.position) >= checkpoint.size)
    return refuse('not_sealed')
  const position = Number(row.position)
  const { size, note } = checkpoint
  const entry = entryOf(row)
  const { commitments, salts } = row
  return {
    entryId: entry.id,
    position,
    leaf: leafText(entry, { commitments }),
    leafHash: row.leaf.toString('base64'),
    commitments,
    salts,
    size,
    proof: await proofHashes(sql, tenant, size, inclusionSteps(position, size)),
    checkpoint: note,
  }
}

async function proofHashes(
  sql: Sql,
  tenant: Tenant,
  size: number,
  steps: ReturnType<typeof inclusionSteps>,
): Promise<string[]> {
  return inBase64(hashesOf(steps, await readNodes(sql, tenant, size, steps.flat())))
}

const NOTE_OF_SIZE = `select note from audit_checkpoints where owner_id = $1 and mode = $2 and size = $3`

export const proveConsistency: HandlerOf<typeof auditApi.consistency> = async ({ query }, context) => {
  const { sql, tenant, refuse } = context
  const newest = await newestCheckpoint(sql, tenant)
  const { from, to = newest?.size ?? 0 } = query
  if (!newest || from > to || to > newest.size) return refuse('beyond_trail')
  const steps = consistencySteps(from, to)
  const [older, newer] = [coverOf(0, from), coverOf(0, to)]
  const [hashOf, [noted]] = await Promise.all([
    readNodes(sql, tenant, newest.size, [...steps.flat(), ...older, ...newer]),
    sql<{ note: string }>(NOTE_OF_SIZE, [tenant.ownerId, tenant.mode, to]),
  ])
  const [fromRoot = '', toRoot = '', ...proof] = inBase64(hashesOf([older, newer, ...steps], hashOf))
  return { from, to, fromRoot, toRoot, proof, checkpoint: noted?.note ?? null }
}
