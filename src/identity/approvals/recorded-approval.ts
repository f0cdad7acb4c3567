import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { deletionFrom, insertInto, selectColumnList } from '../../kernel/database/bulk-sql.ts'
import { recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import type { Openings, Statement } from '../../statements/index.ts'

/** What the passkey has signed, and all that is needed to verify it. */
export interface SignedApproval {
  readonly statement: Statement
  readonly credentialId: string
  readonly publicKeyJwk: object
  readonly algorithm: string
  readonly assertion: {
    readonly authenticatorData: string
    readonly clientDataJSON: string
    readonly signature: string
  }
}

const schema = defineEntity({
  ...tenantTable('RecordedApproval', 'recorded_approvals'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('recordedapproval'),
    intentId: p.text(),
    personId: p.text(),
    personName: personal(p.text(), 'name', 'payments', 'word'),
    signed: personal(p.json<SignedApproval>(), 'payment', 'payments', 'empty'),
    openings: personal(p.json<Openings>(), 'words', 'payments', 'empty'),
  },
})

/** A person's approval of an intent that waits for more of them. The proof of all of them replaces it. */
export class RecordedApproval extends schema.class {}
schema.setClass(RecordedApproval)

export type RecordedApprovalRow = RowOf<RecordedApproval>

const table = tableOf(RecordedApproval)

export const insertRecordedApprovals = insertInto(table)
export const deleteRecordedApprovals = deletionFrom(table)

const OF_INTENTS = `
select ${selectColumnList(table, 'r')} from recorded_approvals r
where (r.owner_id, r.mode) = ($1, $2) and r.intent_id = any($3::text[]) order by r.id`

/** The caller has locked the intents. */
export const recordedApprovalsOf = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  intentIds: readonly string[],
): Promise<readonly RecordedApprovalRow[]> =>
  sql<RecordedApprovalRow & Row>(OF_INTENTS, [ownerId, mode, intentIds])
