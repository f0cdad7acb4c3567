import { defineEntity, p } from '@mikro-orm/core'
import { insertIntoBoth } from '../../../kernel/database/bulk-sql.ts'
import { recordColumns, tenantTable } from '../../../kernel/database/entity.ts'
import { personal, personalTable } from '../../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../../kernel/database/table.ts'
import type { Openings } from '../../../statements/index.ts'
import { INTENT_OF_OPENINGS, keptWithIntent } from '../retention.ts'

const proofSchema = defineEntity({
  ...tenantTable('Approval', 'approvals'),
  ...personalTable({
    about: {
      beneficiary: [
        '(select i.beneficiary_id from intents i where (i.owner_id, i.mode, i.id) = (t.owner_id, t.mode, t.intent_id))',
      ],
    },
    keptWhile: keptWithIntent('t.intent_id'),
  }),
  properties: {
    ...recordColumns('approval'),
    intentId: p.text(),
    /** The JWS proof contains names only as salted commitments. */
    jws: personal(p.text(), 'payment', 'payments', 'word'),
    keptUntil: p.date().$type<string>(),
  },
})

export class Approval extends proofSchema.class {}
proofSchema.setClass(Approval)

const openingsSchema = defineEntity({
  ...tenantTable('ApprovalCommitmentOpenings', 'approval_openings'),
  ...personalTable({ keptWhile: keptWithIntent(INTENT_OF_OPENINGS) }),
  properties: {
    ...recordColumns('approval'),
    /** The names that were signed, and the purpose in the words of the agent. */
    openings: personal(p.json<Openings>(), 'words', 'payments', 'empty'),
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
