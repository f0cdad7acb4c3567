import type { Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { type HandlerOf, implement } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { consistencySteps, coverOf, hashesOf, inclusionSteps, leafText } from '../../trail/index.ts'
import { auditApi } from './api.ts'
import { auditPersonal, Checkpoint, newestCheckpoint, shownCheckpoint } from './checkpoint.ts'
import { entryOf, findEntry } from './entries.ts'
import { exportTrail } from './export.ts'
import { purgeTrail } from './purge.ts'
import { detailsOf, search } from './search.ts'
import { readNodes } from './tree-store.ts'
import { verifyTrail } from './verification.ts'

const inBase64 = (hashes: readonly Buffer[]): string[] => hashes.map(hash => hash.toString('base64'))

const prove: HandlerOf<typeof auditApi.proof> = async ({ params }, { sql, tenant, refuse }) => {
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

const proveConsistency: HandlerOf<typeof auditApi.consistency> = async ({ query }, context) => {
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

const audit = implement(auditApi, {
  list: search,

  async get({ params }, { sql, tenant, refuse }) {
    const row = await findEntry(sql, tenant, params.id)
    return row ? detailsOf(row) : refuse('entry_not_found')
  },

  proof: prove,

  checkpoint: async (_, { sql, tenant, refuse }) =>
    (await newestCheckpoint(sql, tenant)) ?? refuse('trail_not_found'),

  async checkpoints(_, { page }) {
    const { data, ...cursor } = await page(Checkpoint, {})
    return { ...cursor, data: data.map(shownCheckpoint) }
  },

  consistency: proveConsistency,
  export: exportTrail,
  purge: purgeTrail,
  verify: verifyTrail,
})

export const auditArea = area(
  'Audit',
  'Who did what, when, and from where, in a trail that proves itself.',
  audit,
  { entities: [Checkpoint], personal: auditPersonal },
)
