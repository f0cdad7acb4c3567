import { defineEntity, p } from '@mikro-orm/core'
import { insertIntoBoth } from '../../../kernel/database/bulk-sql.ts'
import { recordColumns, tenantTable } from '../../../kernel/database/entity.ts'
import { type RowOf, tableOf } from '../../../kernel/database/table.ts'
import type { Openings } from '../../../statements/index.ts'

const proofSchema = defineEntity({
  ...tenantTable('Approval', 'approvals'),
  properties: {
    ...recordColumns('approval'),
    intentId: p.text(),
    /** The JWS proof contains names only as salted commitments. */
    jws: p.text(),
    keptUntil: p.date().$type<string>(),
  },
})

export class Approval extends proofSchema.class {}
proofSchema.setClass(Approval)

const openingsSchema = defineEntity({
  ...tenantTable('ApprovalCommitmentOpenings', 'approval_openings'),
  properties: {
    ...recordColumns('approval'),
    openings: p.json<Openings>(),
  },
})

/** The names behind the commitments of a proof. Erasing them does not invalidate the proof. */
export class ApprovalCommitmentOpenings extends openingsSchema.class {}
openingsSchema.setClass(ApprovalCommitmentOpenings)

export type ApprovalRow = RowOf<Approval>
export type CommitmentOpeningsRow = RowOf<ApprovalCommitmentOpenings>

export const insertApprovals = insertIntoBoth(tableOf(Approval), tableOf(ApprovalCommitmentOpenings))

/** German commercial and tax law requires books and vouchers for this long after the end of the year. */
const YEARS_KEPT = 10

export const approvalRetainedUntil = (approvedAt: Date): string =>
  `${approvedAt.getUTCFullYear() + YEARS_KEPT}-12-31`
