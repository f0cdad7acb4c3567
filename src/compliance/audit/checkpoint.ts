import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { plain } from '../../kernel/database/personal.ts'
import type { PersonalData } from '../../values/personal.ts'

const schema = defineEntity({
  ...tenantTable('Checkpoint', 'audit_checkpoints'),
  readonly: true,
  properties: {
    id: p.text().primary(),
    ownerId: p.text().primary(),
    mode: p.enum(['test', 'live'] as const).primary(),
    createdAt: timestampColumn(),
    size: p.bigint(),
    note: plain(p.text()),
  },
})

export class Checkpoint extends schema.class {}
schema.setClass(Checkpoint)

export interface CheckpointView extends Tenant {
  readonly id: string
  readonly size: number
  readonly root: string
  readonly note: string
  readonly createdAt: Date
}

export function checkpointView({ id, ownerId, mode, size, note, createdAt }: Checkpoint): CheckpointView {
  const [, , root = ''] = note.split('\n')
  return { id, ownerId, mode, size: Number(size), root, note, createdAt }
}

const NEWEST = `
select id, owner_id as "ownerId", mode, created_at as "createdAt", size, note from audit_checkpoints
where owner_id = $1 and mode = $2 order by size desc limit 1`

export async function latestCheckpoint(
  sql: Sql,
  { ownerId, mode }: Tenant,
): Promise<CheckpointView | undefined> {
  const [row] = await sql<Checkpoint & Row>(NEWEST, [ownerId, mode])
  return row && checkpointView(row)
}

/** The tree holds digests. Without its salt, a commitment to a name or an address reveals nothing. */
export const auditPersonalData = {
  audit_trees: { personal: {}, plain: ['peaks'] },
  audit_seals: { personal: {}, plain: ['event_ids', 'leaves', 'commitments'], secret: ['salts'] },
  audit_tiles: { personal: {}, plain: ['hashes', 'root'] },
  audit_purges: { personal: {}, plain: ['edge', 'checkpoint_id'] },
} as const satisfies PersonalData
